"""Sheets on the screen: the top one over the page below it or over the pane, or alone where no plan is open.

A module of its own, because no sheet is open when a plan's first picture is drawn. It refuses to say what a sheet shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trainplan_tui.panes.rows import BodyRow
from trainplan_tui.screens.drawing import Picture, View, draw_with_sheet, ledger_width, sheet_rows
from trainplan_tui.screens.messages import end_of, is_cut, spread
from trainplan_tui.sheets.sheet import Sheet
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Line
from trainplan_tui.widgets.frame import footer


def alone(sheet: Sheet, width: int, height: int, message: str, glyphs: Glyphs) -> Picture:
    """A sheet with no plan behind it: the start screen."""
    lines: list[Line] = list(sheet.lines(width, height - 1))[: height - 1]
    lines += [()] * (height - 1 - len(lines))
    row, column = sheet.cursor()
    left = (
        spread(lines, message, width, end_of(range(height - 1), message, width), glyphs)
        if is_cut(message, width)
        else message
    )
    mode = "" if left else sheet.word
    last = footer(sheet.footer(), width, mode=mode, message=left, glyphs=glyphs)
    return Picture([*lines, last], (min(row, height - 1), column), 0)


def stacked(sheets: Sequence[Sheet], shown: Shown, view: View, rows: Sequence[BodyRow]) -> Picture:
    """The top sheet over the page below it, if there is one, else over the pane, left of its wall."""
    height, sheet = view.height, sheets[-1]
    page = next((one for one in reversed(sheets[:-1]) if one.page), None)
    width = view.width if sheet.page or page is not None else ledger_width(view.width)
    lines = list(sheet.lines(width, sheet_rows(height, sheet.wanted(width), sheet.page)))
    top = 2 if sheet.page else height - 1 - len(lines)
    if page is not None and not sheet.page:
        under = list(page.lines(width, sheet_rows(height, 0, True)))
        lines = [*under[: top - 2], *lines]
    picture = draw_with_sheet(shown, view, rows, lines, sheet.page or page is not None)
    row, column = sheet.cursor()
    return replace(picture, cursor=(top + row, column))
