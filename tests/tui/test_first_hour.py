"""What somebody meets in the first hour: the nearest match, whole sentences, a fix under the cursor, no key that does nothing."""

from __future__ import annotations

from tests.tui.conftest import lines_of

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
