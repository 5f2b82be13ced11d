"""A new plan by seven questions. Each may be left with its suggestion; figures fill in as soon as they can.

Nothing is written before the last answer and a path; `esc` leaves without a trace.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from trainplan.catalogue import names
from trainplan.newplan import new_plan_text
from trainplan.plan.describe import sentence_of
from trainplan_tui.sheets.asking import shared_start
from trainplan_tui.sheets.beginning import ask_where
from trainplan_tui.sheets.listing import text_line
from trainplan_tui.sheets.questions import (
    QUESTIONS,
    SPELLINGS,
    Question,
    answers_of,
    figures,
    refusal,
    said,
    suggestion,
)
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.folding import folded
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry, rule
from trainplan_tui.widgets.line import LineEdit

FIRST, MATCHES = 2, 4
"""The row of the first question, and lines of names that match what is typed."""


class NewPlanSheet:
    """The questions under each other, one of them being answered."""

    word = "new plan"
    page = True
    typing = True
    asks = lets_go = False

    def __init__(self, host: Host, today: dt.date) -> None:
        self.host, self.today = host, today
        self.typed = [""] * len(QUESTIONS)
        self.at = 0
        self.line = LineEdit()
        self.error = ""

    @property
    def question(self) -> Question:
        """The one that is being answered."""
        return QUESTIONS[self.at]

    def wanted(self, width: int) -> int:
        """The whole window."""
        return 1000

    def lines(self, width: int, height: int) -> Sequence[Line]:
        """The questions, the figures so far, and what the question asks."""
        glyphs = self.host.glyphs
        head = [rule(f"new plan, question {self.at + 1} of {len(QUESTIONS)}", width, "", glyphs), ()]
        body = [*head, *(self._row(i, width) for i in range(len(QUESTIONS))), (), *self._figures(width)]
        under = self._under(width)
        room = max(0, height - len(under))
        return [*body[:room], *([()] * (room - len(body))), *under][:height]

    def _row(self, number: int, width: int) -> Line:
        canvas, question = Canvas(width, self.host.glyphs), QUESTIONS[number]
        here = number == self.at
        canvas.put(1, ">" if here else " ")
        canvas.put(2, "E" if here and self.error else " ", "error")
        canvas.put(4, f"{number + 1} {question.label}", bold=here)
        if here:
            seen = self.line.view(20)
            canvas.put(23, "[")
            canvas.put(24, seen.text, "error" if self.error else "edit", end=43)
            canvas.put(44, "]")
            if self.line.all_selected:
                canvas.cursor(24, min(43, 23 + len(self.line.text)))
            else:
                canvas.cursor(24 + seen.column, 24 + seen.column)
        else:
            canvas.put(24, self.typed[number] or ".", end=43)
        canvas.put(46, self._note(number), "dim", end=width - 1)
        return canvas.line()

    def _note(self, number: int) -> str:
        question, answers = QUESTIONS[number], answers_of(self.typed)
        if number < self.at:
            return said(question, answers)
        value = suggestion(question, answers)[0]
        return f"suggested {value}" if value else "may stay empty" if question.field == "price" else ""

    def _figures(self, width: int) -> list[Line]:
        glyphs = self.host.glyphs
        lines = [rule("so far, with utilization 0.40 assumed", width, "", glyphs)]
        for label, value, note in figures(answers_of(self.typed)):
            canvas = Canvas(width, glyphs)
            canvas.put(4, label, end=27)
            canvas.right(48, value, start=28)
            canvas.put(51, note, "dim", end=width - 1)
            lines.append(canvas.line())
        return lines if len(lines) > 1 else [*lines, text_line("nothing yet: a model comes first", width, glyphs)]

    def _under(self, width: int) -> list[Line]:
        glyphs, question = self.host.glyphs, self.question
        told = f"E {self.error}" if self.error else sentence_of(question.path)
        second = self._matches(width) if question.catalogue else [self._hint()]
        last = "the file is written at the end, with a comment on every default used"
        texts = (text_line(text, width, glyphs, 2) for text in (told, *second, last))
        return [rule(question.path, width, "", glyphs), *texts]

    def _hint(self) -> str:
        value, why = suggestion(self.question, answers_of(self.typed))
        spelling = SPELLINGS.get(self.question.field, "")
        return f"suggested {value}: {why}" if value and not self.line.text else spelling

    def _matches(self, width: int) -> list[str]:
        found = self._matching()
        text = (
            f"{len(found)} in the catalogue: {'  '.join(found)}" if found else "none in the catalogue has these letters"
        )
        lines = folded(text, width - 6)
        return lines if len(lines) <= MATCHES else [*lines[: MATCHES - 1], f"{lines[MATCHES - 1]} ..."]

    def _matching(self) -> list[str]:
        text = self.line.text.strip().lower()
        found = [name for name in names(self.question.catalogue) if text in name]
        return sorted(found, key=lambda name: not name.startswith(text))

    def cursor(self) -> tuple[int, int]:
        """The cell of the line editor."""
        return FIRST + self.at, 23 + self.line.view(20).column

    def take(self, key: str, character: str | None) -> None:
        """Type, take a suggestion, go on or back, or leave with nothing written."""
        if key == "esc":
            self.host.close_sheet()
            self.host.message = "nothing was written"
        elif key in ("enter", "down"):
            self._next()
        elif key in ("shift+tab", "up"):
            self._go(self.at - 1)
        elif key == "tab":
            self._complete()
        else:
            self._typed(self.line.take(key, character) or self.line)

    def _typed(self, line: LineEdit) -> None:
        self.line, self.error = line, ""
        self.typed[self.at] = line.text

    def _complete(self) -> None:
        """The suggestion into an empty line; a name of the catalogue as far as its letters are certain."""
        text = self.line.text.strip()
        if not text:
            value = suggestion(self.question, answers_of(self.typed))[0]
            self._typed(LineEdit(value, len(value)))
        elif self.question.catalogue:
            common = self._common(text)
            self._typed(LineEdit(common, len(common)))

    def _completes(self) -> bool:
        """Whether `tab` has letters to add or to put right."""
        text = self.line.text.strip()
        return bool(text and self.question.catalogue) and self._common(text) != text

    def _common(self, text: str) -> str:
        """A name of the catalogue as far as its letters are certain."""
        found = self._matching()
        starting = [name for name in found if name.startswith(text)] or (found if len(found) == 1 else [])
        return shared_start(starting) or text

    def _next(self) -> None:
        if not self.line.text.strip():
            self.typed[self.at] = suggestion(self.question, answers_of(self.typed))[0]
        self.error = refusal(self.question, self.typed)
        if self.error:
            return
        if self.at + 1 < len(QUESTIONS):
            self._go(self.at + 1)
        else:
            self._ask_where()

    def _go(self, number: int) -> None:
        self.at = min(max(number, 0), len(QUESTIONS) - 1)
        self.line, self.error = LineEdit.opened(self.typed[self.at]), ""

    def _ask_where(self) -> None:
        stem = self.typed[0] or "plan"
        typed = tuple(self.typed)
        ask_where(self.host, "the new plan", stem, lambda name: new_plan_text(answers_of(typed, name)), self.today)

    def paste(self, text: str) -> None:
        """Pasted text goes into the line."""
        self._typed(self.line.paste(text))

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        back = [Entry("shift+tab", "back")] if self.at else []
        offered = not self.line.text and suggestion(self.question, answers_of(self.typed))[0]
        word = "complete" if self._completes() else "suggestion" if offered else ""
        tab = [Entry("tab", word)] if word else []
        return [Entry("enter", "next"), *tab, *back, Entry("esc", "leave, nothing written")]
