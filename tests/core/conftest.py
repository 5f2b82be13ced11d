"""The one loader of golden values: `@pytest.mark.golden("params")` runs a test for each row of golden/params.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "golden(name): run once for each `row` of golden/name.toml")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker("golden")
    if marker is None:
        return
    found = rows(str(marker.args[0]))
    metafunc.parametrize("row", found, ids=[_label(row) for row in found])


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of one file; `null_keys` are put back into `config` as None, which TOML cannot say."""
    found = tomllib.loads((GOLDEN / f"{name}.toml").read_text(encoding="utf-8"))["row"]
    for row in found:
        row.get("config", {}).update(dict.fromkeys(row.pop("null_keys", [])))
    return found


def _label(row: dict[str, Any]) -> str:
    return str(row.get("model") or row.get("id") or row["config"]["model_type"])
