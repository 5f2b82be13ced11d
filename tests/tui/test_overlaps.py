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
    """What was written over letters or digits."""
    found: list[tuple[str, str]] = []
    write = spans._Cells.write

    def watched(self, start: int, text: str, look: object) -> int:
        old = "".join(self.characters[start : start + cells(text)])
        if text.strip() and any(a.isalnum() and a != b for a, b in zip(old, text.ljust(len(old)), strict=False)):
            found.append((old, text))
        return write(self, start, text, look)

    monkeypatch.setattr(spans._Cells, "write", watched)
    return found


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("plan", ["llama-3.1-8b", "deepseek-v3"])
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
