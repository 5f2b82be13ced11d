"""The contamination report: it parses, names its method, and its tasks and harness are those of the plan.

A JSON or TOML table among the evidence of item contamination: `method`, `n`, `date`, `harness_revision`, and `tasks` with
`contaminated` items and a `version` for each. Whether the method was right is for people.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import tomllib
from typing import Any, Final, cast

from trainplan.files.bounded import Unread, content
from trainplan.files.looks import Asked, Found, Look

FILE_LIMIT: Final = 16_000_000  # bytes
NEEDED: Final = ("method", "n", "date", "tasks")
_COMMIT: Final = re.compile(r"[0-9a-f]{7,40}")


def contamination_looks(asked: Asked) -> list[Look]:
    """Each report of the evidence."""
    return [
        Look("contamination", f"report {path}", path, lambda path=path: _report(asked, path))
        for path in asked.files("contamination", ".json", ".toml")
    ]


def _report(asked: Asked, path: str) -> Found:
    report = _table(content(asked.path(path), FILE_LIMIT), path)
    lacking = [name for name in NEEDED if not report.get(name)]
    if lacking:
        return "failed", f"{path} does not say {', '.join(lacking)}"
    tasks: Any = report["tasks"]
    if not isinstance(tasks, dict):
        return "failed", f"{path}: tasks is no table by task"
    wrong = _tasks(asked, cast("dict[str, Any]", tasks)) or _pinned(asked, report) or _older(asked, report)
    return (
        ("failed", wrong)
        if wrong
        else ("passed", f"{report['method']}, n = {report['n']}, {len(tasks)} tasks, {report['date']}")
    )


def _table(data: bytes, path: str) -> dict[str, Any]:
    try:
        text = data.decode("utf-8")
        found: Any = tomllib.loads(text) if path.endswith(".toml") else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unread("failed", f"{path} cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise Unread("failed", f"{path} is no table")
    return cast("dict[str, Any]", found)


def _tasks(asked: Asked, tasks: dict[str, Any]) -> str:
    planned = {task.task for task in asked.plan.evaluation.tasks if task.task}
    missing, other = sorted(planned - set(tasks)), sorted(set(tasks) - planned)
    if missing:
        return f"not in the report: {', '.join(missing)}"
    if other:
        return f"not in the plan: {', '.join(other)}"
    bare = [
        name
        for name, entry in tasks.items()
        if not isinstance(entry, dict) or not isinstance(entry.get("contaminated"), int)
    ]
    return f"{bare[0]} has no count of contaminated items" if bare else ""


def _pinned(asked: Asked, report: dict[str, Any]) -> str:
    planned, told = asked.plan.evaluation.harness_revision, report.get("harness_revision")
    return f"harness {told} in the report, {planned} in the plan" if planned and told != planned else ""


def _older(asked: Asked, report: dict[str, Any]) -> str:
    """A report older than the newest source, or of a day to come."""
    told: Any = report["date"]
    try:
        day = dt.date.fromisoformat(str(told)[:10])
    except ValueError:
        return f"the report's date is {told}"
    if asked.now is not None and day > asked.now.date():
        return f"the report is dated {day}, which is in the future"
    newer = [source for source in asked.plan.data.sources if source.built and source.built > day]
    return f"the report is of {day}, {newer[0].name} was built on {newer[0].built}" if newer else ""
