"""A team's story in a real terminal: pilot measured, utilization from a log, ten items signed, one edit, stale items, export.

Everything goes through keys and the command line; the files beside the plan are read only to judge.
"""

from __future__ import annotations

import datetime as dt
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from trainplan.plan.read import open_plan
from trainplan.review.items import ITEMS
from trainplan.review.ladder import ladder

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "import sys; from trainplan_tui.cli import main; sys.exit(main())"


@pytest.fixture(scope="module")
def pty() -> ModuleType:
    """The pseudo-terminal of the widgets' tests."""
    spec = importlib.util.spec_from_file_location(
        "trainplan_story_pty", ROOT / "tests" / "tui" / "widgets" / "conftest.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Team:
    """The app on a terminal, and the commands beside it."""

    def __init__(self, pty: ModuleType, plan: Path) -> None:
        self.plan = plan
        self.environment = {
            **pty.BLANK_ENVIRONMENT,
            "HOME": str(plan.parent),
            "XDG_STATE_HOME": str(plan.parent / "state"),
        }
        command = [sys.executable, "-c", PROGRAM, str(plan)]
        self.terminal = pty.Terminal(command, self.environment, (80, 24))
        assert self.terminal.shows("? help")

    def keys(self, *words: str) -> None:
        """Type words one after the other, each in a packet; the screen settles after each."""
        for word in words:
            self.terminal.send(word)
            self.terminal.quiet(0.05)

    def shows(self, text: str) -> None:
        """The screen comes to show a text."""
        assert self.terminal.shows(text, 20.0), self.terminal.screen.text

    def set(self, path: str, value: str) -> None:
        """A field through the palette, as typed by its path."""
        self.keys(":", f"{path}={value}", "\r")
        for _ in range(100):
            if self.terminal.screen.lines()[0].startswith("*"):
                return
            self.terminal.quiet(0.2, 0.2)
        pytest.fail(f"{path} was not set in 20 seconds")

    def command(self, *words: str) -> tuple[int, str]:
        """A command line: exit status and what it printed."""
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *words], env=self.environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def review(self) -> dict[str, Any]:
        """What `review --json` says."""
        return json.loads(self.command("review", str(self.plan), "--json")[1])

    def states(self) -> dict[str, str]:
        """State by item."""
        return {one["item"]: one["state"] for one in self.review()["items"]}

    def save(self) -> None:
        """Save, and wait until the mark of unsaved edits is gone."""
        self.keys("w")
        for _ in range(100):
            if not self.terminal.screen.lines()[0].startswith("*"):
                return
            self.terminal.quiet(0.2, 0.2)
        pytest.fail("the plan was not saved in 20 seconds")


@pytest.fixture
def team(pty: ModuleType, tmp_path: Path) -> Iterator[Team]:
    """A plan with room in its budget, a log of a run at its scale, and evidence."""
    plan = tmp_path / "run.toml"
    text = (ROOT / "plans" / "llama-3.1-8b.toml").read_text(encoding="utf-8")
    plan.write_text(text.replace('budget = "1.8M"', 'budget = "2.2M"'), encoding="utf-8")
    assert "2.2M" in plan.read_text(encoding="utf-8")
    (tmp_path / "evidence.md").write_text("drills, rota, approval, notes\n", encoding="utf-8")
    lines = (
        f" iteration {i:8d}/ 100000 | consumed samples: {i * 1024:12d} | elapsed time per iteration (ms): 1060.0 | "
        "global batch size: 1024 | lm loss: 3.2E+00 |"
        for i in range(1, 121)
    )
    (tmp_path / "scaled.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = Team(pty, plan)
    yield found
    found.terminal.finish()


def test_from_a_plan_to_a_launch_script(team: Team) -> None:
    _measure_the_ladder(team)
    _sign_everything(team)
    _one_edit_breaks_exactly_what_it_touches(team)
    _waive_and_sign_again(team)
    status, script = team.command("export", str(team.plan), "--to", "slurm")
    assert status == 0
    assert "#SBATCH" in script
    team.keys("q")
    assert team.terminal.ended() == 0


def _measure_the_ladder(team: Team) -> None:
    """Every check typed at its own threshold; then the log of rung short-scaled replaces the utilization."""
    team.keys("9")
    team.shows("tokenizer round trip")
    for rung in ladder(open_plan(team.plan).plan):
        for check in rung.checks:
            team.keys(f"\r{check.pass_if.lstrip('<>= ')}\rj")
    team.shows("passed 7 of 7")
    team.keys("/", "scaled: tokens", "\r", "L", "scaled", "\t", "\r")
    team.shows("enter writes")
    team.keys("\r")
    team.set("storage.last_restore_drill", str(dt.date.today()))
    team.set("evaluation.harness_revision", "0123abc")
    team.save()
    team.shows("record: unit, one-batch, one-device")
    plan = open_plan(team.plan).plan
    assert plan.utilization.evidence == "measured-scaled"
    assert plan.storage.last_restore_drill == dt.date.today()


def _sign_everything(team: Team) -> None:
    """Kim makes the evidence and Lee signs, item by item, in one walk."""
    team.keys("0")
    team.shows("open 10: not ready")
    team.keys("g", "\r")
    for number, item in enumerate(ITEMS, 1):
        team.shows(f"item {number} of 10")
        _sign(team, item.name)
        team.keys("n")
    team.keys("\x1b")
    team.shows("signed 10: ready")
    assert set(team.states().values()) == {"signed"}
    assert team.review()["ready"] is True
    assert team.command("review", str(team.plan))[0] == 0


def _sign(team: Team, name: str) -> None:
    """Answer every point of the item that shows, and sign it as Lee over Kim's evidence."""
    item = next(item for item in ITEMS if item.name == name)
    team.keys("a", "evidence", "\t", "\r")
    team.shows("as evidence of")
    team.keys("\x15", "Kim", "\r", "\r", "\r", "\r")
    team.shows(f"attached to {name}")
    team.keys(" j" * len(item.attested))
    team.keys("S")
    team.shows(f"sign {name}")
    team.keys("\x15", "Lee", "\r", "\r", "\r", "seen", "\r")
    team.shows(f"{name}: Lee signed over plan")


def _one_edit_breaks_exactly_what_it_touches(team: Team) -> None:
    """More accelerators: what covers the nodes is stale, first conditionally, then in the record, with both values."""
    team.set("cluster.nodes", "64")
    team.keys("0")
    team.shows("*STALE")
    assert set(team.states().values()) == {"signed"}, "an unsaved edit harms nothing"
    team.save()
    found = team.review()
    stale = {one["item"]: one["stale"] for one in found["items"] if one["state"] == "stale"}
    assert set(stale) == {"configs", "measured", "resume", "cost"}
    for changes in stale.values():
        assert {"path": "cluster.nodes", "old": "128", "new": "64"} in changes
    assert team.command("review", str(team.plan))[0] == 1


def _waive_and_sign_again(team: Team) -> None:
    """Measured rungs stay, since their fields stood; the stale items are signed again, contamination is waived."""
    team.set("cluster.nodes", "128")
    team.save()
    assert set(team.states().values()) == {"signed"}, "the values that were signed are back"
    team.set("evaluation.harness_revision", "4567def")
    team.save()
    assert {name for name, state in team.states().items() if state == "stale"} == {"configs", "contamination"}
    team.keys("0", "/", "contam", "\r", "W")
    team.shows("waive contamination")
    team.keys("\x15", "Kim", "\r", "gsm8k late", "\r", "Park", "\r", "\r")
    team.shows("contamination: Kim waived")
    team.keys("/", "configs", "\r", "\r")
    team.shows("item 1 of 10")
    _sign(team, "configs")
    team.keys("\x1b")
    states = team.states()
    assert states.pop("contamination") == "waived"
    assert set(states.values()) == {"signed"}
    assert team.command("review", str(team.plan))[0] == 0


async def test_a_long_source_stands_whole_under_the_tree(play, example) -> None:
    """The catalogue's sources are longer than two lines of 80 columns, and were cut."""
    app = await play(example, "4 / usable enter x")
    source = app.session.shown.estimate.quantities["memory.usable"].origin.source
    seen = " ".join(line.strip() for line in app.seen)
    assert source in seen
    assert len(source) > 160


async def test_a_field_of_the_catalogue_says_where_it_was_read(play, example) -> None:
    app = await play(example, "3 / cluster.peak_flops enter x")
    source = app.session.shown.estimate.situation["cluster.peak_flops"].origin.source
    assert source in " ".join(line.strip() for line in app.seen)
