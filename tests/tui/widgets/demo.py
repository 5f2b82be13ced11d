"""A runnable stand-in for the app: one grid, a made-up ledger, a line editor in a cell, ten panes.

    python demo.py [NAME] [--ascii] [--deaf] [--journal FILE] [--state FOLDER]

It shows how the pieces fit, and the tests run it on a real pty. Its figures mean nothing.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from trainplan_tui.keys import Keymap, key_name
from trainplan_tui.text.colours import prepare_environment
from trainplan_tui.text.glyphs import Glyphs, glyphs_for
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry, PaneName, footer, layout, panes_row, rule, scrolled, small_window
from trainplan_tui.widgets.frame import too_small as is_too_small
from trainplan_tui.widgets.line import LineEdit
from trainplan_tui.widgets.strip import StripParts, Told, strip

PALETTE = prepare_environment(os.environ, "dark")

if True:  # textual reads the environment when it is imported, so it is prepared first
    from textual.geometry import Size

    from trainplan_tui.widgets.crash import sentence, written
    from trainplan_tui.widgets.dispatch import STATUS, KeyedApp

PANES = ("Overview", "Tokens", "Compute", "Memory", "Mesh", "Storage", "Faults", "Eval", "Pilot", "Ready")
NAMES = [PaneName("1234567890"[place], name, name) for place, name in enumerate(PANES)]
LABELS = ("train tokens", "nodes", "utilization", "wall time", "optimizer states", "goodput", "storage, peak")
UNITS = ("tokens", "x 8 H100", "of peak", "GiB", "s")
RESTS = ("file", "published", "formula ~8 %", "default ?", "assumed")
ROWS = 20
NAVIGATE = [Entry("enter", "edit"), Entry("j k", "row"), Entry("1-0", "pane"), Entry("q", "quit"), Entry("?", "help")]
EDITING = [Entry("enter", "take it"), Entry("esc", "leave it"), Entry("ctrl+u", "clear")]


class Demo(KeyedApp):
    """Row 1 of every pane is a field; its length moves the figures of every fourth row."""

    def __init__(self, name: str, glyphs: Glyphs, journal: int) -> None:
        super().__init__(PALETTE)
        self.name_shown, self.glyphs, self.journal = name, glyphs, journal
        self.table = Keymap()
        self.pane = self.row = self.first = self.pressed = 0
        self.value = "15.6T"
        self.edit: LineEdit | None = None
        self.window = Size(80, 24)
        self.deaf = False

    def on_mount(self) -> None:
        if self.deaf:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def take(self, key: str, character: str | None) -> None:
        name = key_name(key, character)
        self.pressed += 1
        if self.edit is not None:
            self.take_edit(name, character)
        else:
            self.act(self.table.action(name, ["navigate", "rows"]))
        self.draw()

    def take_edit(self, name: str, character: str | None) -> None:
        edit = self.edit or LineEdit()
        if name == "enter":
            self.value, self.edit = edit.text, None
        elif name == "esc":
            self.edit = None
        else:
            self.edit = edit.take(name, character) or edit

    def act(self, action: str | None) -> None:
        if action == "quit":
            self.exit(0)
        elif action == "suspend":
            self.action_suspend_process()
        elif action == "redraw":
            self.redraw()
        elif action == "file.editor":
            with self.suspend():
                subprocess.run([sys.executable, "-c", "print('an editor'); input()"], check=False)
        elif action == "row.explain":
            raise ValueError(f"no story for {self.name_shown}")
        elif action == "row.enter":
            self.row, self.edit = 0, LineEdit.opened(self.value)
        elif action in ("row.next", "row.previous"):
            self.row = min(max(self.row + (1 if action == "row.next" else -1), 0), ROWS - 1)
        elif action and action.startswith("pane."):
            self.pane = "1234567890".find(action[-1])

    def paste(self, text: str) -> None:
        if self.edit is not None:
            self.edit = self.edit.paste(text)
        self.draw()

    def resized(self, size: Size) -> None:
        self.window = size
        self.draw()

    def interrupted(self, number: int) -> None:
        os.write(self.journal, f"ended by signal {number}\n".encode())

    def draw(self) -> None:
        width, height = self.window
        top = strip(self.parts(), width, self.glyphs)
        if is_too_small(width, height):
            self.grid.show(small_window(width, height, top, NAVIGATE, self.glyphs), width=width)
            return
        rows = layout(height)
        self.first = scrolled(self.first, len(rows.body), self.row, ROWS)
        lines = [top, panes_row(NAMES, self.pane, [], width, self.glyphs), self.heading(width)]
        lines += [self.ledger(self.first + place, width) for place in range(len(rows.body))]
        lines.append(rule(f"row.{self.row}", width, f"row {self.row + 1} of {ROWS}", self.glyphs))
        lines += [self.inspector(place, width) for place in range(len(rows.inspector))]
        lines.append(self.keys(width))
        self.grid.show(lines, self.cursor(rows.body.start), width)

    def cursor(self, top: int) -> tuple[int, int]:
        column = 28 + self.edit.view(13).column if self.edit else 2
        return top + self.row - self.first, column

    def parts(self) -> StripParts:
        return StripParts(
            self.name_shown,
            unsaved=self.pressed > 0,
            room=Told("16.6GiB", "16.6 GiB"),
            date=Told("31 Dec"),
            date_moved=Told(f"+{self.moved()}d"),
            cost=Told("$1.48M"),
            warnings=5,
            signed="5/10",
        )

    def moved(self) -> int:
        text = self.edit.text if self.edit else self.value
        return sum(map(ord, text)) % 89 + 1

    def heading(self, width: int) -> Line:
        canvas = Canvas(width, self.glyphs)
        canvas.put(2, PANES[self.pane], bold=True)
        canvas.right(41, "value", "dim")
        canvas.put(44, "unit", "dim")
        canvas.right(64, "moved", "dim")
        canvas.put(66, "rests on", "dim")
        return canvas.line()

    def ledger(self, row: int, width: int) -> Line:
        canvas = Canvas(width, self.glyphs)
        seed, live = row * 5 + self.pane * 3, row % 4 == 0
        figure = seed * 1234 + (self.moved() if live else 0)
        canvas.put(1, ">" if row == self.row else " ")
        canvas.put(4, LABELS[seed % len(LABELS)], end=26)
        canvas.put(44, UNITS[seed % len(UNITS)], "dim", end=53)
        canvas.put(66, RESTS[seed % len(RESTS)], "dim")
        if row:
            canvas.right(41, f"{figure:,}", bold=True, start=29)
            canvas.right(64, f"+{self.moved()}" if live else "", "moved", start=55)
        else:
            self.field(canvas)
        if row == self.row and self.edit is None:
            canvas.cursor(3)
        return canvas.line()

    def field(self, canvas: Canvas) -> None:
        canvas.put(28, "[")
        canvas.put(42, "]")
        if self.edit is None:
            canvas.right(41, self.value, "edit", start=29)
            return
        shown = self.edit.view(13)
        canvas.put(29, shown.text, "edit")
        reach = len(self.edit.text) if self.edit.all_selected else shown.column + 1
        canvas.cursor(29 if self.edit.all_selected else 29 + shown.column, 28 + reach)

    def inspector(self, place: int, width: int) -> Line:
        canvas = Canvas(width, self.glyphs)
        text = f"row {self.row} rests on {RESTS[self.row % len(RESTS)]}" if place == 0 else f"saved {self.value}"
        canvas.put(2, text, "dim")
        return canvas.line()

    def keys(self, width: int) -> Line:
        if self.edit is not None:
            return footer(EDITING, width, mode="editing", glyphs=self.glyphs)
        return footer(NAVIGATE, width, glyphs=self.glyphs)


def options(arguments: list[str]) -> Namespace:
    """The command line."""
    parser = ArgumentParser(prog="demo")
    parser.add_argument("name", nargs="?", default="llama31-8b")
    parser.add_argument("--ascii", action="store_true")
    parser.add_argument("--deaf", action="store_true", help="a closed line sends no signal")
    parser.add_argument("--journal", type=Path, default=Path(os.devnull))
    parser.add_argument("--state", type=Path, default=Path(os.devnull))
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Run the demo; its exit status."""
    chosen = options(arguments)
    journal = os.open(chosen.journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    app = Demo(chosen.name, glyphs_for(os.environ, ascii_only=chosen.ascii), journal)
    app.deaf = chosen.deaf
    status = app.run(mouse=False) or 0
    if app.fault is None:
        return status
    sys.stderr.write(sentence(app.fault, written(app.fault, chosen.state)) + "\n")
    return STATUS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
