"""What a person answered for in the walk and did not sign yet survives the end of the session."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from trainplan.plan.read import open_plan
from trainplan_tui.state.session import Session

DAY = dt.date(2026, 11, 29)


@pytest.fixture
def plan(tmp_path: Path, example: str) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(example, encoding="utf-8")
    return path


def opened(path: Path) -> Session:
    session = Session(open_plan(path), DAY)
    session.keep()
    return session


def test_ticks_are_there_again_in_the_next_session(plan: Path) -> None:
    first = opened(plan)
    first.tick("cost", "the approver knows P90")
    first.tick("cost", "pilots are in the amount")
    first.tick("cost", "pilots are in the amount")
    first.ended()
    assert opened(plan).ticks == {"cost": {"the approver knows P90"}}


def test_ticks_go_on_over_a_save_and_another_name(plan: Path, tmp_path: Path) -> None:
    first = opened(plan)
    first.tick("cost", "the approver knows P90")
    first.commit(first.attempt("data.train_tokens", "14T"), "data.train_tokens")
    first.save()
    assert opened(plan).ticks == first.ticks
    first.save(tmp_path / "other.toml")
    assert first.ticks == {"cost": {"the approver knows P90"}}
    assert opened(tmp_path / "other.toml").ticks == first.ticks


def test_a_file_that_changed_since_is_asked_about_anew(plan: Path) -> None:
    opened(plan).tick("cost", "the approver knows P90")
    plan.write_text(plan.read_text(encoding="utf-8") + "# other\n", encoding="utf-8")
    assert opened(plan).ticks == {}


def test_what_was_signed_is_kept_no_longer(plan: Path, tmp_path: Path) -> None:
    first = opened(plan)
    first.tick("cost", "the approver knows P90")
    (kept,) = (tmp_path / "state").rglob("ticks/*.json")
    assert kept.stat().st_mode & 0o777 == 0o600
    first.forget_ticks("cost")
    assert not kept.exists()


@pytest.mark.parametrize("text", ["", "[]", '{"text": 3}', '{"text": "HASH", "ticks": 3}', "\x00"])
def test_a_harmed_file_of_ticks_is_none(plan: Path, tmp_path: Path, text: str) -> None:
    first = opened(plan)
    first.tick("cost", "the approver knows P90")
    (kept,) = (tmp_path / "state").rglob("ticks/*.json")
    kept.write_text(text.replace("HASH", first.sha256 or ""), encoding="utf-8")
    assert opened(plan).ticks == {}
