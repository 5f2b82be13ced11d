"""The palette: fields, numbers and commands in one list; a path with `=` sets a field at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trainplan_tui.sheets.index import Item, items, matching
from trainplan_tui.sheets.listing import Listing, text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry
from trainplan_tui.widgets.line import SHELL, LineEdit


class PaletteSheet(Listing):
    """One line to type in, and what it matches with the values that stand in the plan."""

    word = "palette"
    typing = True
    what = "commands and fields"
    with_commands = True
    prompt = ":"

    def __init__(self, host: Host, explain: Callable[[str], None], begin: str = "") -> None:
        """`explain` opens the tree of a figure whose row the plan does not have now."""
        super().__init__(host.glyphs)
        self.host, self.explain = host, explain
        self.line = LineEdit(begin, len(begin))
        self.all = [item for item in items(host) if self.with_commands or not item.command]
        self.here = frozenset(id_ for row in host.rows() for id_ in (row.id, *(box.path for box in row.boxes)))

    def title(self) -> str:
        """How many match."""
        return f"{self.what}: {len(self.found())} of {len(self.all)}" + (
            f' match "{self.line.text}"' if self.line.text else ""
        )

    def found(self) -> list[Item]:
        """What matches; while a value is typed, the field that it is for."""
        path, equals, _ = self.line.text.partition("=")
        if equals:
            return [item for item in self.all if item.id == path.strip()]
        return matching(self.all, self.line.text, self.here)

    def wanted(self, width: int) -> int:
        """Nine rows at 80x24, however many match: the body above stays still."""
        return 9

    def head(self, width: int) -> Sequence[Line]:
        """The line being typed."""
        canvas = Canvas(width, self.glyphs)
        seen = self.line.view(width - 6)
        canvas.put(2, self.prompt)
        canvas.put(4, seen.text, "edit")
        canvas.cursor(4 + seen.column, 4 + seen.column)
        return [canvas.line()]

    def items(self, width: int) -> Sequence[Line]:
        """One line a match."""
        found = self.found()
        return (
            [self._item(item, width) for item in found] if found else [text_line(self._nothing(), width, self.glyphs)]
        )

    def _nothing(self) -> str:
        from trainplan.plan.faults import nearest_name

        if "=" in self.line.text:
            return "enter sets the field; what is typed after = is its value"
        nearest = nearest_name(self.line.text, [item.label for item in self.all])
        return f'no row or field has "{self.line.text}"' + (f". Nearest: {nearest}" if nearest else "")

    def _item(self, item: Item, width: int) -> Line:
        """The name, where it is, its path and what it stands at; the sentence of a command has all the room but its keys'."""
        canvas, end = Canvas(width, self.glyphs), width - 2 - min(len(item.value), 16)
        if item.command:
            canvas.put(4, item.label, end=end - 1)
        else:
            canvas.put(4, item.label, end=max(27, width // 3))
            canvas.put(max(29, width // 3 + 2), item.home, "dim", end=max(39, width // 3 + 12))
            canvas.put(max(41, width // 3 + 14), item.id, "dim", end=end - 1)
        canvas.right(width - 1, item.value, start=end)
        return canvas.line()

    def tail(self, width: int) -> Sequence[Line]:
        """What a name with `=` does."""
        return (
            [text_line('a path with "=" sets a field at once: data.train_tokens=15T', width, self.glyphs)]
            if self.with_commands
            else []
        )

    def cursor(self) -> tuple[int, int]:
        """The cell of the line editor."""
        return 1, 3 + self.line.view(200).column

    def take(self, key: str, character: str | None) -> None:
        """Type, move, go or run, leave."""
        if key == "esc":
            self.host.close_sheet()
        elif key == "enter":
            self._enter()
        elif key == "tab":
            self._complete()
        elif key in SHELL or not self.move(key, len(self.found())):
            self.line = self.line.take(key, character) or self.line
            self.at = 0

    def _enter(self) -> None:
        path, equals, value = self.line.text.partition("=")
        if equals:
            if self.host.apply(path.strip(), value.strip()):
                self.host.close_sheet()
            return
        found = self.found()
        if not found:
            self.host.message = self._nothing()
            return
        self.pick(found[self.at])

    def pick(self, item: Item) -> None:
        """Go to a row, run a command, explain a figure that no pane shows now, or ask for the value of such a field."""
        if item.command:
            self.host.close_sheet()
            self.host.do(item.id)
        elif self.host.jump(item.id):
            return
        elif item.id in self.host.session.shown.estimate.quantities:
            self.host.close_sheet()
            self.explain(item.id)
        else:
            self.line = LineEdit(f"{item.id}=", len(item.id) + 1)

    def _complete(self) -> None:
        found = self.found()
        if found and not found[self.at].command:
            self.line = LineEdit(f"{found[self.at].id}=", len(found[self.at].id) + 1)

    def paste(self, text: str) -> None:
        """Pasted text goes into the line."""
        self.line = self.line.paste(text)

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        found, close = self.found(), Entry("esc", "close")
        if "=" in self.line.text:
            return [Entry("enter", "set"), close]
        if not found:
            return [close]
        complete = [] if found[min(self.at, len(found) - 1)].command else [Entry("tab", "complete")]
        return [Entry("enter", "go or run"), *complete, Entry("up down", "move"), close]
