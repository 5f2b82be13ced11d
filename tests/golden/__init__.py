"""Published and measured values as data, and the one loader of them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of `name`.toml; `null_keys` are put back as None into `config`, which TOML cannot say."""
    found = tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))["row"]
    for row in found:
        row.get("config", {}).update(dict.fromkeys(row.pop("null_keys", [])))
    return found
