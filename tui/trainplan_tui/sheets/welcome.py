"""How the start screen is drawn: recent plans, examples, the ways to begin, and what is under the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trainplan.files.recovery import Lost
from trainplan_tui.panes.specs import PANES
from trainplan_tui.sheets.listing import text_line, under_cursor
from trainplan_tui.sheets.offers import Offer
from trainplan_tui.text.folding import folded
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import panes_row, rule, scrolled

STARTS = (
    ("n", "new plan by 7 questions"),
    ("i", "import config.json, Megatron arguments, torchtitan, DeepSpeed"),
    ("o", "open a file"),
)
HELP = (
    "A plan is one TOML file; every pane shows a budget that follows from it.",
    "",
    "1-9        open that plan; an example is copied first, and the copy is opened",
    "up down    move; enter opens the plan under the cursor",
    "n          seven questions, each with a suggestion; the file is written at the end",
    "i          a plan of a config.json, Megatron, DeepSpeed or torchtitan files, one or several",
    "o          a path, completed by tab",
    "r          edits that an earlier session lost, where there are any",
    "q          quit",
)
SIGNED = 80
"""Columns from which a recent plan says how many items are signed."""
HANG = 11
"""Blanks before the second row of a help line."""


class StartPage:
    """The lines of the start screen; its subclass says what keys do."""

    def __init__(
        self, glyphs: Glyphs, recent: Sequence[Offer], examples: Sequence[Offer], lost: Sequence[Lost]
    ) -> None:
        self.glyphs, self.recent, self.examples, self.lost = glyphs, recent, examples, lost
        self.at = self.first = self.read = 0
        self.place = 3
        self.errors: tuple[str, ...] = ()
        self.helping = False

    @property
    def offers(self) -> list[Offer]:
        """Everything that can be opened by a digit or the cursor."""
        return [*self.recent, *self.examples]

    def wanted(self, width: int) -> int:
        """The whole window."""
        return 1000

    def lines(self, width: int, height: int) -> Sequence[Line]:
        """The top, the list as far as it fits, the ways to begin, and what is under the cursor."""
        top, under = self._top(width), self._under(width)
        body = self._help(width) if self.helping else self._errors(width) if self.errors else self._body(width)
        room = max(1, height - len(top) - len(under))
        reading = self.helping or bool(self.errors)
        at = self.read if reading else next((i for i, (_, number) in enumerate(body) if number == self.at), 0)
        self.read = min(max(self.read, 0), max(0, len(body) - room)) if reading else 0
        self.first = self.read if reading else scrolled(self.first, room, at, len(body)) if len(body) > room else 0
        shown = body[self.first : self.first + room]
        self.place = len(top) + at - self.first
        padding: list[Line] = [()] * (room - len(shown))
        marked = [under_cursor(line, width) if number == self.at else line for line, number in shown]
        return [*top, *marked, *padding, *under][:height]

    def _top(self, width: int) -> list[Line]:
        from trainplan import __version__

        canvas = Canvas(width, self.glyphs)
        canvas.put(2, f"trainplan-tui {__version__}", bold=True)
        canvas.right(width - 1, "no plan open", "dim", start=30)
        about = text_line("plans a training run before anyone submits it", width, self.glyphs, 2)
        panes = panes_row([pane.name for pane in PANES], -1, (), width, self.glyphs)
        return [canvas.line(), panes, about]

    def _body(self, width: int) -> list[tuple[Line, int]]:
        """Lines with the number of the offer on each, -1 for none."""
        glyphs = self.glyphs
        lines: list[tuple[Line, int]] = [(text_line(text, width, glyphs, 2), -1) for text in self._lost()]
        lines.append((text_line("recent", width, glyphs, 2), -1))
        if not self.recent:
            lines.append((text_line("no plan has been opened here yet; they will stand here", width, glyphs), -1))
        lines += [(self._recent(number, offer, width), number) for number, offer in enumerate(self.recent)]
        if self.examples:
            lines.append((text_line("examples, opened as a copy", width, glyphs, 2), -1))
        begin_at = len(self.recent)
        lines += [(self._example(begin_at + i, offer, width), begin_at + i) for i, offer in enumerate(self.examples)]
        lines += [((), -1)]
        lines += [(text_line(f"{key} {sentence}", width, glyphs, 2), -1) for key, sentence in STARTS]
        return lines

    def _lost(self) -> list[str]:
        if not self.lost:
            return []
        newest, plans = self.lost[0], {lost.path for lost in self.lost}
        count = len(newest.edits)
        what = f"{newest.path.name}, {count} edit{'' if count == 1 else 's'}"
        many = "one plan has" if len(plans) == 1 else f"{len(plans)} plans have"
        return [f"r recover: {many} edits of a lost session: {what}", ""]

    def _recent(self, number: int, offer: Offer, width: int) -> Line:
        canvas = Canvas(width, self.glyphs)
        fit, day, cost, signed, opened = offer.words
        room = width >= SIGNED
        end, dated, paid = (width - 52, 17, 26) if room else (width - 47, 20, 30)
        canvas.put(2, str(number + 1))
        canvas.put(4, tail_of(_home(offer.path), end - 4), end=end)
        canvas.put(end + 2, fit, "error" if fit.startswith("OVER") else "text", end=end + 11)
        canvas.right(end + dated, day, start=end + dated - 10)
        canvas.right(end + paid, cost, start=end + dated + 1)
        if room:
            canvas.right(end + 39, signed, start=end + paid + 2)
        canvas.right(width - 1, opened, "dim", start=width - 11)
        return canvas.line()

    def _example(self, number: int, offer: Offer, width: int) -> Line:
        canvas = Canvas(width, self.glyphs)
        canvas.put(2, str(number + 1) if number < 9 else " ")
        canvas.put(4, offer.path.stem, end=32)
        canvas.put(34, offer.words[0], "dim", end=width - 1)
        return canvas.line()

    def _errors(self, width: int) -> list[tuple[Line, int]]:
        """Every error in full: a longer one goes on in the next row, and keys that move scroll what has no room."""
        texts = ["not opened:", *(piece for error in self.errors for piece in folded(error, width - 3))]
        return [(text_line(text, width, self.glyphs, 2), -1) for text in texts]

    def _help(self, width: int) -> list[tuple[Line, int]]:
        lines = (piece for text in HELP for piece in folded(text, width - 3, HANG))
        return [(text_line(text, width, self.glyphs, 2), -1) for text in lines]

    def _under(self, width: int) -> list[Line]:
        """What is under the cursor, in full."""
        glyphs = self.glyphs
        if not self.offers or self.helping or self.errors:
            return [rule("", width, "", glyphs), text_line("nothing is sent anywhere", width, glyphs, 2)]
        offer = self.offers[self.at]
        about = "the file is not there any more" if offer.gone else offer.name
        position = f"{self.at + 1} of {len(self.offers)}"
        empty = "panes are empty until a plan is open"
        told = (text_line(text, width, glyphs, 2) for text in (about, empty))
        return [rule(_home(offer.path), width, position, glyphs), *told]

    def cursor(self) -> tuple[int, int]:
        """The plan under the cursor."""
        return self.place, 1


def _home(path: Path) -> str:
    """A path with `~` for the home folder."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def tail_of(text: str, width: int) -> str:
    """The end of a path that is too long: its name says more than its beginning."""
    return text if len(text) <= width else f"...{text[-(width - 3) :]}"
