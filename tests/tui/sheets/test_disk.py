"""The file changed under an edit: nothing is written before enter, and no text is ever lost."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

from trainplan.files.signoffs import appended
from trainplan.review.record import Act

if TYPE_CHECKING:
    from tests.tui.sheets.conftest import Drive

EDIT = ("enter", "15.6T", "enter")


def changed(plan: Path, *pairs: tuple[str, str]) -> str:
    """Write the file as a colleague would; its text."""
    text = plan.read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    plan.write_text(text, encoding="utf-8")
    return text


async def test_fields_of_both_sides_are_merged_and_the_disks_comments_stay(plan: Path, drive: Drive) -> None:
    async with drive(plan) as app:
        await app.press(*EDIT)
        theirs = changed(plan, ("spare_nodes = 4   # asked for", "spare_nodes = 7   # kim"))
        await app.press("w")
        assert plan.read_text(encoding="utf-8") == theirs, "nothing is written before enter"
        assert "data.train_tokens" in app.screen
        assert "[yours  ]" in app.screen
        assert "[disk   ]" in app.screen
        assert "1 conflict" not in app.screen
        line = 1 + theirs.splitlines().index(next(one for one in theirs.splitlines() if "14.8T" in one))
        assert f"lines changed in the file: 1 (line {line}); comments and layout stay" in app.screen
        await app.press("enter")
        assert plan.read_text(encoding="utf-8") == theirs.replace("14.8T", "15.6T")
        assert app.session.saved_text == app.session.history.now.text
        assert not app.session.shown.unsaved
        await app.press("u")
        assert app.session.history.now.plan.reliability.spare_nodes == 4, "undo reaches the own text"


async def test_a_conflict_is_asked_and_space_goes_through_the_sides(plan: Path, drive: Drive) -> None:
    for presses, kept in ((0, "15.6T"), (1, "14.8T"), (2, "14.9T")):
        changed(plan, ('"' + plan.read_text(encoding="utf-8").split('train_tokens = "')[1].split('"')[0], '"14.8T'))
        async with drive(plan) as app:
            await app.press(*EDIT)
            theirs = changed(plan, ("14.8T", "14.9T"))
            await app.press("w")
            assert "1 conflict" in app.screen
            assert ">! data.train_tokens" in app.screen
            await app.press(*["space"] * presses, "enter")
            assert plan.read_text(encoding="utf-8") == theirs.replace("14.9T", kept)


async def test_esc_leaves_both(plan: Path, drive: Drive) -> None:
    async with drive(plan) as app:
        await app.press(*EDIT)
        theirs = changed(plan, ("nodes = 128", "nodes = 64"))
        await app.press("w", "esc")
        assert plan.read_text(encoding="utf-8") == theirs
        assert app.session.shown.unsaved
        await app.press("w")
        assert "changed on disk" in app.screen, "saving again compares again"


async def test_a_second_change_is_seen_before_the_write(plan: Path, drive: Drive) -> None:
    async with drive(plan) as app:
        await app.press(*EDIT)
        changed(plan, ("nodes = 128", "nodes = 64"))
        await app.press("w")
        theirs = changed(plan, ("nodes = 64", "nodes = 96"))
        await app.press("enter")
        assert plan.read_text(encoding="utf-8") == theirs
        assert "changed once more" in app.screen
        await app.press("enter")
        assert plan.read_text(encoding="utf-8") == theirs.replace("14.8T", "15.6T")


async def test_a_list_whose_entries_moved_is_kept_whole(plan: Path, drive: Drive) -> None:
    async with drive(plan) as app:
        app.app.apply("data.sources.code.weight", "0.3")
        theirs = changed(
            plan,
            ('[[data.sources]]\nname = "web"', '[[data.sources]]\nname = "math"\n\n[[data.sources]]\nname = "web"'),
        )
        await app.press("w")
        assert "data.sources " in app.screen
        assert "1 conflict" in app.screen
        await app.press("space", "space", "enter")
        assert plan.read_text(encoding="utf-8") == theirs, "no weight lands on another source"


async def test_a_file_that_is_no_plan_is_kept_before_it_is_replaced(plan: Path, drive: Drive, state: Path) -> None:
    async with drive(plan) as app:
        await app.press(*EDIT)
        plan.write_text("x = [", encoding="utf-8")
        await app.press("w", "enter")
        assert plan.read_text(encoding="utf-8") == "x = ["
        assert "base.toml:1:" in app.screen
        await app.press("s")
        assert "15.6T" in plan.read_text(encoding="utf-8")
        assert [file.read_text(encoding="utf-8") for file in (state / "replaced").iterdir()] == ["x = ["]


async def test_a_file_that_is_gone_can_be_written_again(plan: Path, drive: Drive) -> None:
    async with drive(plan) as app:
        await app.press(*EDIT)
        plan.unlink()
        await app.press("w")
        assert "was removed or renamed" in app.screen
        await app.press("esc")
        assert not plan.exists()
        await app.press("w", "s")
        assert "15.6T" in plan.read_text(encoding="utf-8")
        assert not app.session.shown.unsaved


async def test_what_becomes_of_signatures_is_said_before_anything_is_written(plan: Path, drive: Drive) -> None:
    """A signature over the tokenizer, which both sides leave alone, and one over configs, which covers the whole plan."""
    for item in ("tokenizer", "configs"):
        appended(plan, Act("sign", item, "osei", dt.datetime.now(dt.UTC), author="kim", verdict="pass"))
    async with drive(plan) as app:
        await app.press(*EDIT)
        changed(plan, ("nodes = 128", "nodes = 64"))
        await app.press("w")
        assert "signed " in app.screen.split("the result, with these choices")[1]
