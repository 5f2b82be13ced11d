"""What differs from the saved plan, or from another file: fields, numbers that moved, findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trainplan.estimation import Estimate
from trainplan.views.compare import Difference, differences
from trainplan_tui.sheets.listing import Listing, text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.printable import cells
from trainplan_tui.text.spans import Canvas, Line, clipped
from trainplan_tui.widgets.frame import Entry, rule

LABEL, COLUMN = 30, 12
"""Cells up to which a label goes, and those of a column of values; where one is longer both stand left in half the rest."""
WHOLE = 80
"""Columns from which there is room for what a number moved in shares of itself too."""


def label_end(width: int) -> int:
    """The last cell of a label: a narrow window takes from it, never from what moved."""
    return LABEL if width >= WHOLE else min(LABEL, width - 1 - 3 * (COLUMN + 1))


@dataclass(frozen=True, slots=True)
class Entered:
    """One line of the table, and where `enter` goes from it."""

    line: Line
    where: str = ""
    field: bool = False


class DifferenceSheet(Listing):
    """The difference between the saved plan and the one being edited."""

    word = "diff"
    page = True

    def __init__(
        self,
        host: Host,
        other: Estimate | None = None,
        names: tuple[str, str] = ("saved", "now"),
        *,
        ahead: bool = False,
    ) -> None:
        """`other` stands for the saved plan, or, `ahead`, for what the plan could become."""
        super().__init__(host.glyphs)
        self.host, self.other, self.names, self.ahead = host, other, names, ahead

    def difference(self) -> Difference:
        """What differs now."""
        shown = self.host.session.shown
        if self.ahead:
            return differences(shown.estimate, self.other or shown.saved)
        return differences(shown.saved if self.other is None else self.other, shown.estimate)

    def title(self) -> str:
        """The two that are compared."""
        return f"diff: {self.names[0]} against {self.names[1]}"

    def wanted(self, width: int) -> int:
        """The whole body."""
        return 1000

    def entries(self, width: int) -> list[Entered]:
        """Every line."""
        found = self.difference()
        if not found.fields and not found.moves and not found.same:
            return [Entered(text_line(f"nothing differs from the {self.names[0]} plan", width, self.glyphs))]
        lines = [Entered(self._row(path, old, new, "", width), path, True) for path, old, new in found.fields]
        same = () if self.ahead else found.same  # taking a layout writes only what differs
        lines += [Entered(self._same(path, old, new, how, width), path, True) for path, old, new, how in same]
        title = f"numbers that moved: {len(found.moves)} of {found.counted}, most first"
        lines.append(Entered(rule(title, width, "", self.glyphs)))
        lines += [
            Entered(
                self._row(
                    m.label, m.before, m.after, f"{m.moved:>12}" + (f" {m.share:>9}" if width >= WHOLE else ""), width
                ),
                m.key,
            )
            for m in found.moves
        ]
        if found.new_findings or found.gone_findings:
            lines.append(Entered(rule("findings", width, "", self.glyphs)))
        lines += [Entered(text_line(f"new   {text}", width, self.glyphs)) for text in found.new_findings]
        lines += [Entered(text_line(f"gone  {text}", width, self.glyphs)) for text in found.gone_findings]
        return lines

    def _same(self, path: str, before: str, after: str, how: str, width: int) -> Line:
        """A field that means what it meant: one of its two texts stands for both where the other is a default."""
        canvas, end = Canvas(width, self.glyphs), label_end(width)
        canvas.put(4, self._tail(path, end), end=end)
        told = after if before == "-" else before if after == "-" else f"{before}, {after}"
        canvas.put(end + 2, f"{told}: {how}", "dim", end=width - 1)
        return canvas.line()

    def _tail(self, label: str, end: int) -> str:
        """A label that is too long without its beginning: fields of one source differ in their last word."""
        room = end - 3
        return label if cells(label) <= room or "." not in label else f"{self.glyphs.more}{label[1 - room :]}"

    def _row(self, label: str, before: str, after: str, moved: str, width: int) -> Line:
        canvas, end = Canvas(width, self.glyphs), label_end(width)
        canvas.put(4, self._tail(label, end), end=end)
        if not moved and max(cells(before), cells(after)) > COLUMN:
            half = (width - 4 - end) // 2
            canvas.put(end + 2, before, end=end + half)
            canvas.put(end + half + 2, after, end=width - 1)
            return canvas.line()
        first, second = end + COLUMN + 1, end + 2 * (COLUMN + 1)
        canvas.right(first, before, start=end + 1)
        canvas.right(second, after, start=first + 1)
        canvas.put(second + 1, moved, "moved")
        return canvas.line()

    def head(self, width: int) -> Sequence[Line]:
        """The heads of the columns, above their values however long the names are: the title has them whole."""
        first, second = (clipped(name.removesuffix(".toml"), COLUMN, self.glyphs.more) for name in self.names)
        return [self._row("fields", first, second, "", width)]

    def items(self, width: int) -> Sequence[Line]:
        """The lines."""
        return [entry.line for entry in self.entries(width)]

    def take(self, key: str, character: str | None) -> None:
        """Move, go to a row, undo one field, copy, leave."""
        entries = self.entries(80)
        if key in ("esc", "d", "q"):
            self.host.close_sheet()
        elif self.move(key, len(entries)):
            return
        elif key == "enter" and entries[self.at].where:
            if not self.host.jump(entries[self.at].where):
                self.host.message = f"{entries[self.at].where} is in no pane of this version"
        elif key == "u":
            self._undo(entries[self.at])
        elif key == "y":
            self.host.copy(
                "\n".join("".join(span.text for span in entry.line).rstrip() for entry in entries) + "\n", "difference"
            )
        elif key == "c":
            self.host.close_sheet()
            self.host.do("file.compare")

    def _undo(self, entry: Entered) -> None:
        """The saved value back into one field. What another plan has is no edit of this one: nothing to undo."""
        from trainplan.plan.leaves import leaves

        if self.other is not None:
            self.host.message = f"u undoes only against the saved plan; this is {self.names[0]} against {self.names[1]}"
        elif entry.field:
            self.host.apply(entry.where, dict(leaves(self.host.session.saved.plan, "")).get(entry.where, ""))

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        entries = self.entries(80)
        here = entries[min(self.at, len(entries) - 1)]
        enter = [Entry("enter", "go to row")] if here.where else []
        undo = [Entry("u", "undo this field")] if self.other is None and here.field else []
        return [
            *enter,
            *undo,
            Entry("c", "compare with"),
            Entry("y", "copy"),
            Entry("esc", "back"),
        ]
