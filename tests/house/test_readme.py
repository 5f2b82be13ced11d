"""The README says what is true: its commands exist, its pictures exist, its files exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from trainplan.interop.logs.reading import READ
from trainplan_tui.cli.arguments import COMMANDS, parser

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_pictures_and_files_exist() -> None:
    for name in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / name).exists(), f"README.md names {name}, which does not exist"


def test_the_run_command_opens_a_plan_that_exists() -> None:
    block = README.split("<!-- run command -->")[1].split("<!-- end -->")[0]
    plan = next(word for word in block.split() if word.startswith("plans/"))
    assert (ROOT / plan).exists()


def test_every_command_is_in_the_readme_or_the_help() -> None:
    shown = set(re.findall(r"^trainplan-tui (\w+)", README, re.M))
    assert shown <= set(COMMANDS), f"README.md shows commands that do not exist: {shown - set(COMMANDS)}"


@pytest.mark.parametrize("line", re.findall(r"^(trainplan-tui \w+ .*?)(?:\s+#.*)?$", README, re.M))
def test_command_lines_parse(line: str) -> None:
    words = shlex.split(line)[1:]
    assert parser().parse_args(words).command == words[0]


def test_the_gate_runs_the_readmes_test_command() -> None:
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "test command" in gate
    assert "pytest" in README.split("<!-- test command -->")[1].split("<!-- end -->")[0]


def test_the_tree_of_architecture_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for name in re.findall(r"`(plan/\w+|budgets/[\w/]+\w)`", text):
        assert (ROOT / "core" / "trainplan" / f"{name}.py").exists(), f"ARCHITECTURE.md names {name}"


HOUSE = (
    (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("## The house")[1].split("## The way of a number")[0]
)
SOURCES = [path for root in ("core/trainplan", "tui/trainplan_tui") for path in (ROOT / root).rglob("*.py")]


def test_every_module_that_the_tree_names_exists() -> None:
    stems = {path.stem for path in SOURCES}
    named = set(re.findall(r"`([a-z_]+)`", HOUSE)) - {"core", "tui"}
    assert named <= stems, f"ARCHITECTURE.md names {named - stems}"


def test_every_room_stands_in_the_tree() -> None:
    rooms = {path.parent.name for path in SOURCES if path.name == "__init__.py"} - {"trainplan", "trainplan_tui"}
    missing = {room for room in rooms if f"{room}/" not in HOUSE}
    assert not missing, f"ARCHITECTURE.md does not name {missing}"


def test_parameter_counts_are_as_many_as_is_said() -> None:
    """That they are exact is tested where they are counted."""

    def rows(name: str) -> int:
        return (ROOT / "tests" / "golden" / f"{name}.toml").read_text(encoding="utf-8").count("[[row]]")

    assert (
        f"{rows('params') + rows('published_params')} published counts, {rows('architectures')} architectures" in README
    )


def test_the_logs_that_are_read_are_those_that_are_said() -> None:
    *most, last = READ
    assert f"`calibrate` reads what {', '.join(most)} and\n{last} print" in README
