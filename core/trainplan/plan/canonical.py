"""The plan as canonical data, and its hash: what two people compare when they ask whether they mean the same plan."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from typing import Any, Final, cast

from trainplan.plan.plan import Plan
from trainplan.plan.tables import Table

_LEFT_OUT: Final = ("name", "description", "pilot", "readiness")


def canonical(value: Any) -> Any:
    """Parsed base-unit numbers, whole ones as integers, dates as text, only the fields that the file has."""
    if isinstance(value, Table):
        return {name: canonical(getattr(value, name)) for name in sorted(value.model_fields_set)}
    if isinstance(value, dict):
        return {key: canonical(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, tuple | list):
        return [canonical(item) for item in cast("tuple[Any, ...]", value)]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, float):
        return float(value)
    return value.isoformat() if isinstance(value, dt.date) else value


def plan_hash(plan: Plan) -> str:
    """sha256 of canonical JSON without name, description, pilot and readiness, as hexadecimal text."""
    data = {key: item for key, item in canonical(plan).items() if key not in _LEFT_OUT}
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
