"""Nothing is written over a number or a word in windows of any width: half of two numbers is a third one."""

from __future__ import annotations

import pytest
from tests.tui.conftest import ROOT, lines_of

from trainplan_tui.text import spans
from trainplan_tui.text.printable import cells

SIZES = ((60, 18), (64, 20), (79, 24), (80, 24), (119, 30), (120, 40), (127, 40), (128, 40), (130, 40), (160, 45))
SHEETS = ("x", "enter 16T enter d", "4 enter", "8 j j j j x", ": s p", "0 enter", "9 W", "7 z", "?")


@pytest.fixture
def overwritten(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What was written over letters or digits, or with no blank between them and it: two columns that read as one number.

    A line that is laid into another one as it is (`Canvas.spans`) was seen when it was made.
    """
    found: list[tuple[str, str]] = []
    write, laid = spans._Cells.write, spans.Canvas.spans
    inside: list[None] = []

    def watched(self, start: int, text: str, look: object) -> int:
        stop = start + cells(text)
        old = "".join(self.characters[start:stop])
        if text.strip() and any(a.isalnum() and a != b for a, b in zip(old, text.ljust(len(old)), strict=False)):
            found.append((old, text))
        before, behind = "".join(self.characters[:start]), "".join(self.characters[stop:])
        if not inside and text and (_joined(before, text) or _joined(text, behind)):
            found.append((before[-20:], text + behind[:20]))
        return write(self, start, text, look)

    def lay(self, *args: object, **options: object) -> int:
        inside.append(None)
        try:
            return laid(self, *args, **options)
        finally:
            inside.pop()

    monkeypatch.setattr(spans._Cells, "write", watched)
    monkeypatch.setattr(spans.Canvas, "spans", lay)
    return found


def _joined(left: str, right: str) -> bool:
    return left[-1:].isalnum() and right[:1].isalnum()


PLANS = [path.stem for path in sorted((ROOT / "plans").glob("*.toml"))]


@pytest.mark.parametrize(
    ("plan", "size"),
    [
        *((plan, size) for plan in ("llama-3.1-8b", "deepseek-v3") for size in SIZES),
        *((plan, size) for plan in PLANS for size in ((60, 18), (80, 24), (160, 45))),
    ],
)
async def test_panes_write_over_nothing(play, overwritten, plan: str, size: tuple[int, int]) -> None:
    async def look(app, pilot) -> None:
        for _ in range(200):
            if app.session.shown.runs and app.session.shown.forecast is not None:
                break
            await pilot.pause(0.05)
        overwritten.clear()
        for pane in "1234567890":
            app.do(f"pane.{pane}")
            for view in range(app.cursor.shown_pane.views(app.session.shown)):
                app.paint()
                assert not overwritten, (pane, view, overwritten[:3])
                assert not [line for line in lines_of(app) if cells(line) > size[0]], (pane, view)
                if view or app.cursor.shown_pane.more_views:
                    app.do("pane.view")

    await play((ROOT / "plans" / f"{plan}.toml").read_text(encoding="utf-8"), "", size, then=look)


@pytest.mark.parametrize("plan", PLANS)
async def test_choices_of_a_layout_write_over_nothing(play, overwritten, plan: str) -> None:
    """Models of any size: 1,452.1 GiB stands beside OVER 1313.1."""

    async def look(app, pilot) -> None:
        overwritten.clear()
        for path in ("parallelism.sharding", "parallelism.schedule", "training.optimizer", "utilization.evidence"):
            app.start_edit(path)
            app.paint()
            app.close_sheets()
        assert not overwritten, overwritten[:3]

    await play((ROOT / "plans" / f"{plan}.toml").read_text(encoding="utf-8"), "", then=look)


async def test_a_long_task_stands_apart_from_its_tokens(play, overwritten) -> None:
    """mmlu of a model of this size takes minutes and seconds: nine cells."""
    text = (ROOT / "plans" / "llama-3.1-405b.toml").read_text(encoding="utf-8")
    tasks = (
        '[evaluation]\ninterval_tokens = "200B"\naccelerators = 32\n[[evaluation.tasks]]\ntask = "mmlu"\nshots = 5\n'
    )
    app = await play(text.split("[evaluation]")[0] + tasks, "8")
    row = next(line for line in app.seen if line[1:].strip().startswith("mmlu"))
    assert "14min 24s" in row
    assert not overwritten, overwritten[:3]


@pytest.mark.parametrize("size", SIZES[:4])
@pytest.mark.parametrize("keys", SHEETS)
async def test_sheets_write_over_nothing(play, example, overwritten, keys: str, size: tuple[int, int]) -> None:
    async def look(app, pilot) -> None:
        overwritten.clear()
        app.paint()
        assert not overwritten, overwritten[:3]
        assert not [line for line in lines_of(app) if cells(line) > size[0]]

    await play(example, keys, size, then=look)


@pytest.mark.parametrize("size", [(120, 40), (160, 45)])
@pytest.mark.parametrize("keys", ["4 enter", ": s p a", "enter 16T enter q", "9 W", "4 L", "c"])
async def test_a_sheet_stands_left_of_the_wall_as_it_does_alone(
    play, example, keys: str, size: tuple[int, int]
) -> None:
    """It was drawn for the whole window and cut where the wall is: the place in its list, and ends of its rows, were lost."""
    narrow = await play(example, keys)
    wide = await play(example, keys, size)
    title = next(i for i, line in enumerate(reversed(narrow.seen)) if line.startswith("── "))
    assert not [line for line in wide.seen if "…│" in line]
    for alone, walled in zip(narrow.seen[-title - 1 : -1], wide.seen[-title - 1 : -1], strict=True):
        assert walled[: len(alone)] == alone
