"""Two texts of one plan on one page: for each field which side is kept, and what the result is worth before it is taken.

It writes nothing: what `enter` does with the result is its subclass's to say.
"""

from __future__ import annotations

from collections.abc import Sequence

from trainplan.estimation import Estimate
from trainplan.plan.literals import path_text
from trainplan.plan.merge import SIDES, Contested, Side, merged
from trainplan.plan.read import Unusable, plan_of_text
from trainplan.plan.tree import SpliceError
from trainplan_tui.sheets.listing import Listing, text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.sheets.verdict import lines_changed, sentences, signed
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry, rule

WORDS: dict[Side, str] = {"disk": "disk", "yours": "yours", "read": "as read"}
TOLD = {
    (True, True): "edited on both sides; yours is preset",
    (True, False): "only the file on disk changed it; disk is preset",
    (False, True): "only you edited it; yours is preset",
}


class MergeSheet(Listing):
    """The fields in which two texts differ, each with the side that is kept."""

    word = "merge"
    page = True
    lets_go = False
    heading = "changed on disk"

    def __init__(self, host: Host, disk_text: str, rows: Sequence[Contested]) -> None:
        super().__init__(host.glyphs)
        self.host, self.disk_text, self.rows = host, disk_text, tuple(rows)
        self.keep: list[Side] = [row.preset for row in rows]
        self.at = next((i for i, row in enumerate(rows) if row.both), 0)
        self.detail: tuple[str, ...] = ()
        self._told: dict[tuple[Side, ...], tuple[str, ...]] = {}

    def wanted(self, width: int) -> int:
        """The whole body."""
        return 1000

    def title(self) -> str:
        """What this is, and how much there is to decide."""
        both = sum(row.both for row in self.rows)
        return f"{self.heading}: {both} conflict{'' if both == 1 else 's'}" if both else self.heading

    def about(self) -> tuple[str, ...]:
        """Sentences above the table."""
        return ()

    def result(self) -> tuple[str, ...]:
        """The text with the sides as they are kept, and lines that say what it is worth; the text is empty where it cannot be."""
        kept = tuple(self.keep)
        if kept not in self._told:
            self._told[kept] = self._result()
        return self._told[kept]

    def _result(self) -> tuple[str, ...]:
        try:
            text = merged(self.disk_text, zip(self.rows, self.keep, strict=True))
            plan = plan_of_text(text, self.host.session.path.name)
        except SpliceError as error:
            return "", "no result with these choices", str(error)
        except Unusable as error:
            return "", "no plan with these choices", str(error.errors[0])
        figures = self.host.session.estimated(plan)
        more = (signed(self.host.session, figures), lines_changed(self.disk_text, text))
        return text, *sentences(figures, self.compared()), *filter(None, more)

    def compared(self) -> Estimate:
        """What findings are said to come and go against."""
        return self.host.session.saved

    # what is drawn

    def head(self, width: int) -> Sequence[Line]:
        """The sentences, then the heads of the columns."""
        about = [text_line(sentence, width, self.glyphs) for sentence in self.about()]
        heads = self._row("field", ("as read", "on disk", "yours"), "keep", width) if self.rows else ()
        return [*about, (), heads]

    def items(self, width: int) -> Sequence[Line]:
        """One line a field."""
        return [self._item(row, side, width) for row, side in zip(self.rows, self.keep, strict=True)]

    def _item(self, row: Contested, side: Side, width: int) -> Line:
        values = tuple(value if value is not None else "-" for value in (row.read, row.disk, row.yours))
        return self._row(path_text(row.path), values, f"[{WORDS[side]:<7}]", width, row.both)

    def _row(self, field: str, values: tuple[str, ...], keep: str, width: int, both: bool = False) -> Line:
        canvas = Canvas(width, self.glyphs)
        each = 11 + max(0, width - 80) // 5
        end = width - 10 - 3 * each - 1
        canvas.put(2, "!" if both else " ", "warn")
        canvas.put(4, field, end=end)
        for number, value in enumerate(values):
            right = end + (number + 1) * each
            canvas.right(right, value, start=right - each + 2)
        canvas.put(width - 9, keep, "edit" if keep.startswith("[") else "text")
        return canvas.line()

    def tail(self, width: int) -> Sequence[Line]:
        """What the result is worth, and what the row under the cursor says in full."""
        _, *told_of = self.result()
        lines: list[Line] = [rule("the result, with these choices", width, "", self.glyphs)]
        lines += [text_line(sentence, width, self.glyphs) for sentence in told_of]
        if self.rows:
            row = self.rows[min(self.at, len(self.rows) - 1)]
            lines.append(rule(path_text(row.path), width, "", self.glyphs))
            told = self._told_row(row) if not self.detail else self.detail
            lines += [text_line(sentence, width, self.glyphs, 2) for sentence in told]
        return lines

    def _told_row(self, row: Contested) -> tuple[str, str]:
        values = ", ".join(
            f"{word} {value if value is not None else 'absent'}"
            for word, value in (("as read", row.read), ("on disk", row.disk), ("yours", row.yours))
        )
        why = "the list on disk has another entry in this place; disk is preset" if row.moved else ""
        return f"{why or TOLD[row.by_disk, row.by_you]}. space goes to the next side", values

    # what keys do

    def take(self, key: str, character: str | None) -> None:
        """Move, choose a side, take the result or leave."""
        self.detail = ()
        if key == "esc":
            self.cancel()
        elif key == "enter":
            self._enter()
        elif key == "space" and self.rows:
            self.keep[self.at] = SIDES[(SIDES.index(self.keep[self.at]) + 1) % len(SIDES)]
        elif key == "a":
            self.host.close_sheet()
            self.host.do("file.save_as")
        elif key == "o":
            self.detail = self.both_files()
        else:
            self.move(key, len(self.rows))

    def _enter(self) -> None:
        text, *told = self.result()
        if text:
            self.finish(text)
        else:
            self.host.message = f"not taken: {': '.join(told)}"

    def finish(self, text: str) -> None:
        """Take the result."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Leave both as they are."""
        self.host.close_sheet()
        self.host.message = "nothing was written; unsaved edits are as before"

    def both_files(self) -> tuple[str, ...]:
        """Where both texts can be read."""
        return ()

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        choose = [Entry("space", "choose")] if self.rows else []
        files = [Entry("a", "save as"), Entry("o", "both files"), Entry("esc", "cancel")]
        return [Entry("enter", "write the result"), *choose, *files]
