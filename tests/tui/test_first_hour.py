"""What somebody meets in the first hour: the nearest match, whole sentences, a fix under the cursor, no key that does nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tui.conftest import lines_of

from trainplan.files.save import SaveError
from trainplan_tui.state.session import Session

OVER = ('sharding = "zero-2"', 'sharding = "zero-1"')
"""The example with gradients kept whole: it fits no longer, and the cheapest change that fits is the sharding."""


def tail_of(app, rows: int = 3) -> str:
    """The last rows of the screen as one sentence."""
    return " ".join(" ".join(lines_of(app)[-rows:]).split())


async def test_find_takes_rows_of_the_pane_that_shows_first(play, example: str) -> None:
    app = await play(example, "0 / con enter")
    assert (app.cursor.pane, app.row().id) == (9, "readiness.configs")
    app = await play(example, "0 / conta enter")
    assert app.row().id == "readiness.contamination"
    app = await play(example, "/ cost enter")
    assert (app.cursor.pane, app.row().id) == (0, "compute.cost")


async def test_a_refusal_longer_than_the_footer_stands_whole_over_the_palette(play, example: str) -> None:
    app = await play(example, ": data.train_tokens=15.6trillion enter")
    assert "such as 15.6T or 15.6e12; nearest: 15.6T" in tail_of(app)
    assert ": data.train_tokens=15.6trillion" in "\n".join(lines_of(app))
    app = await play(example, ": data.train_tokens=15.6trillion enter 1")
    assert "a path with" in tail_of(app)


async def test_a_finding_is_told_whole_with_what_would_be_right(play, example: str) -> None:
    app = await play(example, "!")
    assert "math is drawn 4.56 times; limit 4: past it repeats teach less; anneal weight <= 0.1875 holds" in tail_of(
        app
    )
    assert "enter edit" in tail_of(app, 1)
    for size in ((100, 30), (130, 40), (60, 20)):
        app = await play(example, "!", size)
        lines = [line.partition("│")[2] for line in lines_of(app)] if size[0] >= 120 else lines_of(app)
        assert "anneal weight <= 0.1875 holds" in " ".join("\n".join(lines).split()), size


async def test_the_finding_of_memory_leads_to_the_field_of_the_change_that_fits(play, example: str) -> None:
    text = example.replace(*OVER)
    app = await play(text, "!")
    assert app.message.startswith("M1: ")
    assert 'fits with sharding = "zero-2"' in app.message
    assert app.box().path == "parallelism.sharding"
    app = await play(text, "4 ! enter zero-2 enter")
    assert app.session.shown.plan.parallelism.sharding == "zero-2"


def without_sources(text: str) -> str:
    """The example with no source and no stage, as a new plan begins."""
    head, _, rest = text.partition("# Sizes of the sources")
    return f"{head}[batch]{rest.partition('[batch]')[2]}"


async def test_a_source_is_added_where_there_is_none_and_the_cursor_is_on_it(play, example: str) -> None:
    app = await play(without_sources(example), "/ sources enter")
    assert app.row().id == "data.sources"
    assert "a name, its unique tokens, its weight" in tail_of(app)
    app = await play(without_sources(example), "/ sources enter enter web space 13T enter")
    assert (app.session.shown.plan.data.sources[0].name, app.row().id) == ("web", "data.sources.web")
    app = await play(example, "2 a books space 250B space 0.05 enter")
    assert app.row().id == "data.sources.books"


async def test_a_figure_that_cannot_be_told_leads_to_the_field_that_it_waits_for(play, example: str) -> None:
    text = example.replace("value = 0.40  ", "#")
    app = await play(text, "/ accelerator-hours enter x")
    told = " ".join(lines_of(app))
    assert "cannot be told: utilization missing" in told
    assert "0 rows" not in told
    assert "missing:" not in told
    assert "enter goes to utilization.value" in told
    assert "enter go to field" in lines_of(app)[-1]
    app = await play(text, "/ accelerator-hours enter x enter")
    assert app.typist.now is not None
    assert app.box().path == "utilization.value"


async def test_a_list_in_which_nothing_matches_offers_nothing_to_take(play, example: str) -> None:
    app = await play(example, "4 enter zz")
    assert "0 of" in "\n".join(lines_of(app))
    assert "take it" not in lines_of(app)[-1]
    app = await play(example, "4 enter zz backspace backspace")
    assert "enter take it" in lines_of(app)[-1]


async def test_a_source_that_is_hardly_read_is_not_read_no_times(play, example: str) -> None:
    few = example.replace('unique_tokens = "180B"', 'unique_tokens = "900T"')
    app = await play(few, "2")
    (line,) = [line for line in lines_of(app) if line[3:].startswith("math")]
    assert "<0.01" in line
    app = await play(few, "/ math")
    assert any("<0.01 passes" in line for line in lines_of(app))


LOG = "".join(
    f" [2026-11-24 10:{step // 60:02d}:{step % 60:02d}] iteration {step:8d}/ 1859666 | consumed samples: {step * 1024:12d} | "
    f"elapsed time per iteration (ms): 1080.0 | global batch size:  1024 | lm loss: 3.1E+00 | "
    "number of skipped iterations:   0 | number of nan iterations:   0 |\n"
    for step in range(10, 400, 10)
)


async def test_a_log_of_a_rung_that_takes_nothing_says_where_it_counts(play, example: str, tmp_path) -> None:
    (tmp_path / "train.log").write_text(LOG, encoding="utf-8")

    async def then(app, pilot) -> None:
        for _ in range(200):
            await pilot.pause(0.02)
            if "tokens/s" in "\n".join(lines_of(app)):
                break

    app = await play(example, "9 L train.log enter", then=then)
    told = "\n".join(lines_of(app))
    assert "ran 1,024 sequences a step where the run of rung unit" in " ".join(told.split())
    assert "rung unit takes nothing from this log; L on a later rung or in 3 Compute" in told
    assert "enter writes" not in told
    assert "take it" not in lines_of(app)[-1]
    assert "\n ! the plan has" not in told
    app = await play(example, "3 L train.log enter", then=then)
    assert "enter writes" in "\n".join(lines_of(app))
    assert "enter take it" in lines_of(app)[-1]


async def test_what_is_seen_of_a_source_stands_whole_under_its_row(play, example: str) -> None:
    app = await play(example, "2 / math enter")
    told = tail_of(app)
    assert "seen 180B, effective 751.4B; 5 epochs built" in told
    assert "…" not in told


async def test_a_save_that_fails_says_why_first_and_whole(play, example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise SaveError(Path("plan.toml"), "the file is read-only. Write permission, or another name")

    monkeypatch.setattr(Session, "save", refuse)
    told = tail_of(await play(example, "enter 15T enter w"))
    assert "plan.toml: not written: the file is read-only. Write permission, or another name. Edits are kept" in told
    assert "save as writes elsewhere" in told


@pytest.mark.parametrize(
    ("old", "new", "figure", "path"),
    [
        ('write_bandwidth = "100GB/s"', 'write_bandwidth = "1B/s"', "wall%time", "storage.write_bandwidth"),
        ("\ntensor = 1", "\ntensor = 7", "microbatches", "parallelism.tensor"),
        ("\ncontext = 1", "\ncontext = 7", "microbatches", "parallelism.context"),
    ],
)
async def test_a_blocked_figure_says_what_blocks_it_and_leads_there(
    play, example: str, old: str, new: str, figure: str, path: str
) -> None:
    """Not only where a field is missing: also where a rule blocks it, or a number that nothing can be made of."""
    assert old in example
    keys = f"/ {figure.replace('%', ' space ')} enter"
    told = " ".join(lines_of(await play(example.replace(old, new), keys)))
    assert "cannot be told: " in told
    assert f"enter there goes to {path}" in told
    app = await play(example.replace(old, new), f"{keys} x enter")
    assert app.box().path == path


async def test_a_save_where_nothing_can_be_made_offers_a_path_elsewhere(
    play, example: str, monkeypatch, tmp_path
) -> None:
    from trainplan.files.save import SaveError
    from trainplan_tui.acts import filing
    from trainplan_tui.state.session import Session

    def refused(session, path=None):
        raise SaveError(session.path, f"the file system of {session.path.parent} is read-only", "Another folder")

    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(Session, "save", refused)
    monkeypatch.setattr(filing, "_takes_files", lambda path: False)
    app = await play(example, "enter 15T enter w")
    told = " ".join(line.strip() for line in lines_of(app))
    assert "home/plan.toml" in told
    assert "is read-only. Another folder. Edits are kept; this writes elsewhere" in told
    assert "Write permission" not in told
