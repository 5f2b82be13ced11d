"""Start-up over SSH is a promise: what is not used is not imported. Each check runs in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLAN = ROOT / "plans" / "llama-3.1-8b.toml"


def imported(code: str) -> set[str]:
    """Top names of the modules that are loaded after running some code."""
    paths = [str(ROOT / "core"), str(ROOT / "tui")]
    told = "sys.stderr.write(' '.join(sorted({m.split('.')[0] for m in sys.modules})))"
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


def test_the_app_draws_its_first_screen_without_numpy_or_difflib() -> None:
    code = f"""
import asyncio, datetime, os
from pathlib import Path
from trainplan_tui.text.colours import prepare_environment
from trainplan_tui.text.glyphs import UNICODE
palette = prepare_environment(os.environ, "dark")
from trainplan.plan.read import open_plan
from trainplan_tui.app import PlanApp
from trainplan_tui.keys import Keymap
from trainplan_tui.session import Session
async def run():
    app = PlanApp(palette, UNICODE, Keymap(), Session(open_plan(Path({str(PLAN)!r})), datetime.date(2026, 11, 29)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert any("wall time" in "".join(span.text for span in line) for line in app.grid.lines)
asyncio.run(run())
"""
    assert not imported(code) & {"numpy", "tomli_w", "tomlkit", "hypothesis"}
