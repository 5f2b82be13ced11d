"""Start-up over SSH is a promise: what is not used is not imported. Each check runs in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLAN = ROOT / "plans" / "llama-3.1-8b.toml"


def imported(code: str, told: str = "sys.modules") -> set[str]:
    """Names of the modules that are loaded after running some code, or that it kept itself, and their top names."""
    paths = [str(ROOT / "core"), str(ROOT / "tui")]
    told = f"sys.stderr.write(' '.join(sorted({{n for m in {told} for n in (m, m.split('.')[0])}})))"
    script = f"import sys; sys.path[:0] = {paths!r}\n{code}\n{told}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_importing_the_core_loads_nothing() -> None:
    assert not imported("import trainplan") & {"pydantic", "numpy", "tomllib", "textual", "rich"}


@pytest.mark.parametrize("command", ["show", "check"])
def test_a_command_loads_no_terminal_and_no_numpy(command: str) -> None:
    code = f"from trainplan_tui.cli import main; main([{command!r}, {str(PLAN)!r}])"
    assert not imported(code) & {"numpy", "textual", "rich", "tomli_w", "tomlkit"}


def test_the_help_loads_no_plan() -> None:
    code = "from trainplan_tui.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    assert not imported(code) & {"pydantic", "numpy", "textual"}


OPENED = f"""
import asyncio, datetime, os
from pathlib import Path
from trainplan_tui.text.colours import prepare_environment
from trainplan_tui.text.glyphs import UNICODE
palette = prepare_environment(os.environ, "dark")
from trainplan.plan.read import open_plan
from trainplan_tui.app import PlanApp
from trainplan_tui.keys import Keymap
from trainplan_tui.state.session import Session
from trainplan_tui.widgets.grid import Grid
first, show = [], Grid.show
def shown(grid, lines, *place):
    if not first:
        assert any("wall time" in "".join(span.text for span in line) for line in lines)
        first.extend(sys.modules)
    show(grid, lines, *place)
Grid.show = shown
async def run():
    session = Session(open_plan(Path({str(PLAN)!r})), datetime.date(2026, 11, 29), pending=True)
    async with PlanApp(palette, UNICODE, Keymap(), session).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
asyncio.run(run())
"""

LATER = {
    "trainplan.checks",
    "trainplan.views.explain",
    "trainplan.plan.edit",
    "trainplan.plan.places",
    "trainplan.plan.syntax",
    "trainplan_tui.panes.inspector",
    "trainplan_tui.sheets.stacked",
}
"""What only the second picture, an edit or a sheet needs."""

MODULES = 136
"""Modules of this project behind the first picture, at most, rooms counted; one costs a fifth of a millisecond."""


def test_the_app_draws_its_first_screen_without_numpy_or_an_editor_of_files() -> None:
    """Asked of the first picture itself: the forecast, which needs numpy, begins as soon as the screen stands."""
    assert not imported(OPENED, "first") & {"numpy", "tomli_w", "tomlkit", "hypothesis"}


def test_the_first_picture_has_only_what_it_shows() -> None:
    own = {name for name in imported(OPENED, "first") if name.startswith("trainplan")}
    assert "trainplan_tui.panes.overview" in own
    assert not own & LATER
    assert len(own) <= MODULES


def test_opening_imports_nothing_before_it_stops_looking_for_garbage() -> None:
    assert not imported("import trainplan_tui.cli.opening") & {"pydantic", "textual", "trainplan.plan.plan"}
