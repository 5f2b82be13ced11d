"""How many items are signed and how many errors a plan has is one count everywhere: the record beside the plan decides."""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tui.conftest import PALETTE, ROOT, lines_of

from trainplan.plan.read import open_plan
from trainplan.review.record import record_path
from trainplan_tui.cli import main
from trainplan_tui.staging import staged

EXAMPLE = ROOT / "plans" / "llama-3.1-8b.toml"
SIGNED = re.compile(r"signed (\d+)/10")
ERRORS = re.compile(r"(\d+)E ")


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan of which seven items are signed, with its record."""
    return staged(EXAMPLE, tmp_path_factory.mktemp("reviewed"))


def whole(plan: Path, reviewed: Path) -> None:
    """With its record."""
    shutil.copy(reviewed, plan)
    shutil.copy(record_path(reviewed), record_path(plan))


def bare(plan: Path, reviewed: Path) -> None:
    """A copy of the plan alone: it claims what no record has."""
    shutil.copy(reviewed, plan)


def unmirrored(plan: Path, reviewed: Path) -> None:
    """The record beside a plan that mirrors nothing of it."""
    plan.write_text(reviewed.read_text(encoding="utf-8").split("[[readiness]]")[0], encoding="utf-8")
    shutil.copy(record_path(reviewed), record_path(plan))


def harmed(plan: Path, reviewed: Path) -> None:
    """A record of which a line was changed."""
    shutil.copy(reviewed, plan)
    text = record_path(reviewed).read_text(encoding="utf-8")
    record_path(plan).write_text(text.replace("osei", "osey", 1), encoding="utf-8")


async def on_screen(plan: Path, keys: str = "") -> list[str]:
    from textual.events import Key

    from trainplan_tui.app import PlanApp
    from trainplan_tui.keys import Keymap
    from trainplan_tui.state.session import Session
    from trainplan_tui.text.glyphs import UNICODE

    app = PlanApp(PALETTE, UNICODE, Keymap(), Session(open_plan(plan), dt.datetime.now(dt.UTC).date()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        for key in keys.split():
            await app.on_event(Key(key, key))
        await app.workers.wait_for_complete()
        await pilot.pause()
        return lines_of(app)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    main(list(words))
    return capsys.readouterr().out


def one(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    assert found is not None, text[:2000]
    return int(found[1])


@pytest.mark.parametrize(("made", "signed"), [(whole, 7), (bare, 0), (unmirrored, 7), (harmed, None)])
async def test_items_signed_and_errors_are_one_count_everywhere(
    tmp_path: Path,
    reviewed: Path,
    made: Callable[[Path, Path], None],
    signed: int | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan = tmp_path / "plan.toml"
    made(plan, reviewed)
    first, entered = await on_screen(plan), await on_screen(plan, "0")
    shown = json.loads(told(capsys, "show", str(plan), "--json"))
    checked = json.loads(told(capsys, "check", str(plan), "--json"))["findings"]
    report = told(capsys, "report", str(plan))
    review = json.loads(told(capsys, "review", str(plan), "--json"))
    from trainplan_tui.sheets.offers import recent_offers
    from trainplan_tui.state.keeping import remember

    remember(plan)
    recent = recent_offers(dt.datetime.now(dt.UTC).date())[0]
    counts = {
        "header": int(SIGNED.findall(first[0])[0]),
        "header in Readiness": int(SIGNED.findall(entered[0])[0]),
        "show --json": int(shown["quantities"]["readiness.signed"]["value"]),
        "show": one(r"items signed, of 10 +(\d+)", told(capsys, "show", str(plan), "--budget", "readiness")),
        "listing": len(
            re.findall(r"(?m)^  [a-z-]+ +signed ", told(capsys, "show", str(plan), "--budget", "readiness"))
        ),
        "review": sum(item["state"] == "signed" for item in review["items"]),
        "report": one(r"(\d+)/10 items signed", report),
        "report's rows": one(r"items signed, of 10 +\| +(\d+) ", report),
        "recent plans": int(SIGNED.findall(" ".join(recent.words))[0]),
        "explain": one(r"(?m)^  (\d+) ", told(capsys, "explain", str(plan), "readiness.signed")),
    }
    assert len(set(counts.values())) == 1, counts
    assert signed is None or set(counts.values()) == {signed}
    errors = {
        "header": int(ERRORS.findall(first[0])[0]),
        "header in Readiness": int(ERRORS.findall(entered[0])[0]),
        "check --json": sum(item["severity"] == "error" for item in checked),
        "check": one(r"(\d+) errors?", told(capsys, "check", str(plan))),
        "show --json": sum(item["severity"] == "error" for item in shown["findings"]),
        "show": one(r", [0-9a-f]{12}: (\d+) errors?", told(capsys, "show", str(plan))),
        "report": one(r"findings +\| (\d+) error", report),
    }
    assert len(set(errors.values())) == 1, errors
    claims = [item for item in checked if item["code"] in ("V6", "V8")]
    assert bool(claims) == (made in (bare, harmed))


async def test_a_plan_under_another_name_begins_unsigned_and_says_so(
    tmp_path: Path, reviewed: Path, drive_copy
) -> None:
    plan = tmp_path / "plan.toml"
    whole(plan, reviewed)
    app = await drive_copy(plan, ": save space as enter ctrl+u paste:" + str(tmp_path / "other.toml") + " enter")
    seen = " ".join(lines_of(app))
    assert "signed 0/10" in seen
    assert "8 sign-offs stay with plan.toml" in seen
    copy = open_plan(tmp_path / "other.toml").plan
    assert {entry.status for entry in copy.readiness} == {"open"}
    assert not any(entry.signed_by or entry.covers or entry.evidence for entry in copy.readiness)
    assert [entry.item for entry in copy.readiness] == [entry.item for entry in open_plan(plan).plan.readiness]
    assert open_plan(plan).plan == open_plan(reviewed).plan
    assert not app.session.shown.unsaved


async def test_undo_under_another_name_brings_no_sign_off_back(tmp_path: Path, reviewed: Path, drive_copy) -> None:
    plan = tmp_path / "plan.toml"
    whole(plan, reviewed)
    keys = "+ : save space as enter ctrl+u paste:" + str(tmp_path / "other.toml") + " enter u"
    app = await drive_copy(plan, "j " + keys)
    now = app.session.history.now.plan
    assert now.cluster.nodes == open_plan(plan).plan.cluster.nodes
    assert {entry.status for entry in now.readiness} == {"open"}


@pytest.fixture
def drive_copy():
    """The app on a plan of its own file, after keys."""

    async def run(plan: Path, keys: str):
        from textual.events import Key, Paste

        from trainplan_tui.app import PlanApp
        from trainplan_tui.keys import NAMED, Keymap
        from trainplan_tui.state.session import Session
        from trainplan_tui.text.glyphs import UNICODE

        app = PlanApp(PALETTE, UNICODE, Keymap(), Session(open_plan(plan), dt.date(2026, 11, 29)))
        async with app.run_test(size=(120, 30)) as pilot:
            await pilot.pause()
            for word in keys.split():
                if word.startswith("paste:"):
                    await app.on_event(Paste(word[6:]))
                elif word in NAMED or word.startswith("ctrl+") or len(word) == 1:
                    await app.on_event(Key(word, " " if word == "space" else word if len(word) == 1 else None))
                else:
                    for letter in word:
                        await app.on_event(Key(letter, letter))
            await pilot.pause()
        return app

    return run
