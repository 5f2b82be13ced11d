"""House rules that a linter does not know. Each message says what to write instead."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*(ROOT / "core").rglob("*.py"), *(ROOT / "tui").rglob("*.py")])
VAGUE = re.compile(r"(Manager|Helper|Utils?|Engine|Service|Base|Info)$")
TOO_LONG = 300


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_why_it_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)) or not text.strip(), (
        f"{path.name}: begin with a docstring that says why the module exists and what it refuses to do"
    )


def test_files_are_short() -> None:
    allowed = {"core/trainplan/plan/tables.py"}  # the plan format, one table after the other
    long = {
        str(path.relative_to(ROOT)): lines
        for path in SOURCES
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > TOO_LONG
    }
    assert set(long) <= allowed, f"split by noun: {long}"


def test_names_say_what_things_are() -> None:
    vague = [
        f"{path.name}: {node.name}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and VAGUE.search(node.name)
    ]
    assert not vague, f"name the thing, not its role in the program: {vague}"


def test_the_core_reads_no_clock_and_prints_nothing() -> None:
    banned = re.compile(r"\b(print\(|logging\.|datetime\.now|date\.today|time\.time\(|time\.sleep)")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in SOURCES
        if "core" in path.relative_to(ROOT).parts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if banned.search(line)
    ]
    assert not found, f"hand the clock or the reporter in: {found}"


def test_a_question_about_a_path_has_an_answer() -> None:
    """pathlib raises where a name is too long, a link a loop, a folder closed or a home unknown; os.path answers no."""
    raising = re.compile(r"\.(exists|is_file|is_dir|is_symlink|expanduser|resolve)\(\)")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if raising.search(line) and "entry." not in line
    ]
    assert not found, f"ask os.path: {found}"


def test_every_catalogue_value_has_source_and_date() -> None:
    from trainplan.catalogue import KINDS, entry, names

    missing = [
        f"{kind}/{name}: {key}"
        for kind in KINDS
        for name in names(kind)
        for key, fact in entry(kind, name).facts.items()  # type: ignore[union-attr]
        if not fact.source or not fact.date
    ]
    assert not missing, f"give each value, or the head of its file, a source and a date: {missing[:10]}"


def test_every_default_has_a_source() -> None:
    from trainplan.budgets.defaults import DEFAULTS

    assert all(default.source for default in DEFAULTS.values())


def test_every_field_of_the_plan_has_a_sentence() -> None:
    from trainplan.plan.describe import schema

    described = schema()
    tables = {"plan": described, **described["$defs"]}
    mute = [
        f"{name}.{field}"
        for name, table in tables.items()
        for field, about in table.get("properties", {}).items()
        if not about.get("description")
    ]
    assert not mute, f"give each field one sentence in its Field(description=...): {mute}"


def test_the_plan_format_of_the_defaults_table_agrees_with_the_tables() -> None:
    """A default stands in the tables, where the plan needs it, and in `defaults`, with its source; both say the same."""
    from trainplan.budgets.defaults import DEFAULTS
    from trainplan.plan.plan import Plan

    plan = Plan.model_validate({"format": 1})
    for path, default in DEFAULTS.items():
        value: object = plan
        for part in path.split("."):
            value = getattr(value, part, None)
        assert value is None or value == default.value, f"{path}: {value} in the tables, {default.value} in defaults"


def test_contracts_name_every_module() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    for package, source in (("trainplan", "core"), ("trainplan_tui", "tui")):
        named = {
            part.split(".")[1]
            for contract in contracts
            for layer in contract.get("layers", [])
            for part in re.findall(rf"{package}\.[\w.]+", layer)
        }
        found = {path.stem for path in (ROOT / source / package).iterdir() if not path.name.startswith("_")}
        assert found - named - {"pictures"} == set(), f"put {found - named} on a floor in pyproject.toml"
