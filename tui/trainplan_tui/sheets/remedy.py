"""One finding in full: what is so, what would be right, and the fields that decide it. A pane has one line for it."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan.finding import Finding
from trainplan_tui.panes.inspector import spoken
from trainplan_tui.panes.rows import BodyRow
from trainplan_tui.sheets.listing import Listing, text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.folding import folded
from trainplan_tui.text.spans import Line
from trainplan_tui.widgets.frame import Entry


class FindingSheet(Listing):
    """The sentences of a finding, whole at any width."""

    word = "explain"

    def __init__(self, host: Host, finding: Finding) -> None:
        super().__init__(host.glyphs)
        self.host, self.finding = host, finding

    def title(self) -> str:
        """The finding's code and how much it weighs."""
        return f"{self.finding.code}, {self.finding.severity}"

    def items(self, width: int) -> Sequence[Line]:
        """What is so, what would be right, what decides it."""
        one = self.finding
        told = [
            f"{one.message}.",
            f"what would be right: {one.fix}" if one.fix else "",
            f"decided by: {', '.join(one.paths)}" if one.paths else "",
        ]
        return [text_line(piece, width, self.glyphs) for text in told if text for piece in folded(text, width - 6)]

    def take(self, key: str, character: str | None) -> None:
        """Go to the field that decides, move, copy, leave."""
        if key in ("esc", "x", "q", "backspace"):
            self.host.close_sheet()
        elif key == "enter" and self.finding.paths:
            self.host.start_edit(self.finding.paths[0], self.finding.budget)
        elif key == "y":
            self.host.copy(f"{spoken(self.finding)}\n", self.finding.code)
        else:
            self.move(key, self.drawn)

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        enter = [Entry("enter", "go to field")] if self.finding.paths else []
        return [*enter, Entry("up down", "move"), Entry("y", "copy"), Entry("esc", "back")]


def explain_finding(host: Host, row: BodyRow) -> None:
    """Show the finding of a row; its fix is tried now where no thread has come to it yet."""
    host.session.try_fixes()
    finding = host.session.shown.finding_at(row.id)
    if finding is not None:
        host.open_sheet(FindingSheet(host, finding))


def edit_what_decides(host: Host, row: BodyRow) -> None:
    """Edit the field that decides the finding of a row; the fix is tried first, because its field may be that one."""
    host.session.try_fixes()
    finding = host.session.shown.finding_at(row.id)
    if finding is not None and finding.paths:
        host.start_edit(finding.paths[0], finding.budget)


def go_to_finding(host: Host, position: int) -> None:
    """Put the cursor on the field that decides a finding, and say what is so and what would be right."""
    host.session.try_fixes()
    finding = host.session.shown.counted[position]
    landed = bool(finding.paths) and host.jump(finding.paths[0], finding.budget)
    if not landed and finding.budget == "readiness":
        host.close_sheets()
        host.do("pane.0")  # the record as a whole has no row
        landed = True
    where = "" if landed else " (its field is in no pane yet: `:` sets it by path)"
    host.message = f"{spoken(finding)}{where}"
