"""The tree of one number down to the fields, each of which can be edited without leaving it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from trainplan.estimation import Estimate, Value
from trainplan.labels.names import field_label, quantity_label
from trainplan.plan.describe import sentence_of, words_of
from trainplan.quantity.figure import Blocked, Card, Figure
from trainplan.quantity.unit import numbered
from trainplan.views.explain import Node, tree, tree_of
from trainplan.views.moves import dependents
from trainplan_tui.panes.inspector import deciding, unmoving, untold, waiting
from trainplan_tui.sheets.listing import Listing, text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.folding import folded
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry, rule

CARD = 6
"""Lines of the card of a row at most; two stand always, so that the tree above seldom moves."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One line of the tree: its stem, its node, where it hangs, and how many lines are folded under it."""

    stem: str
    node: Node
    place: tuple[int, ...]
    hidden: int = 0


class ExplainSheet(Listing):
    """A figure's tree, or what a field is and the figures that rest on it."""

    word = "explain"
    page = True

    def __init__(
        self, host: Host, key: str, opens: Callable[[Host, str], bool], find: Callable[[Estimate], Value] | None = None
    ) -> None:
        """`opens` shows the line of a field, false where it has none; `find` gives a value whose `key` is only its name."""
        super().__init__(host.glyphs)
        self.host, self.key, self.opens, self.find = host, key, opens, find
        self.folded: set[tuple[int, ...]] = set()
        self.is_field = find is None and key not in host.session.shown.estimate.quantities
        self.depth = 99

    @property
    def node(self) -> Node:
        """The tree as the plan stands now."""
        now = self.host.session.shown.estimate
        return tree(now, self.key) if self.find is None else tree_of(now, self.key, self.find(now))

    def branches(self) -> list[Branch]:
        """The lines of the tree that are not folded."""
        return list(self._walk(self.node, "", ()))

    def _walk(self, node: Node, stem: str, place: tuple[int, ...]) -> Iterator[Branch]:
        glyphs = self.glyphs
        for index, child in enumerate(node.children):
            here, last = (*place, index), index == len(node.children) - 1
            branch = f"{stem}{glyphs.corner if last else glyphs.branch} "
            closed = here in self.folded or len(here) >= self.depth
            yield Branch(branch, child, here, len(child.children) if closed else 0)
            if not closed:
                yield from self._walk(child, f"{stem}{' ' if last else glyphs.wall} ", here)

    def dependents(self) -> tuple[str, ...]:
        """Figures that rest on the field."""
        return dependents(self.host.session.shown.estimate, self.key)

    def _moves(self) -> str:
        count, label = len(self.dependents()), field_label(self.key)
        if count:
            return f"{label} moves {numbered(count, 'figure')}:"
        choices = "; enter on its row shows what each choice would do" if words_of(self.key) else ""
        return f"{waiting(self.key, self.host.session.shown) or unmoving(self.key)}{choices}."

    def wanted(self, width: int) -> int:
        """The whole body."""
        return 1000

    def head(self, width: int) -> Sequence[Line]:
        """What it is, its formula, its value."""
        if self.is_field:
            canvas = Canvas(width, self.glyphs)
            canvas.put(2, f"Explain {self.key}", bold=True)
            told = [line for text in (sentence_of(self.key), self._moves()) for line in folded(text, width - 6)]
            return [canvas.line(), *(text_line(line, width, self.glyphs) for line in told)]
        node, canvas = self.node, Canvas(width, self.glyphs)
        behind = canvas.put(2, f"Explain {self.key}", bold=True)
        canvas.right(width - 1, self._summary(), "dim", start=behind + 1)
        found = [canvas.line()]
        if isinstance(node.value, Blocked):
            why = untold(node.value.code, self.host.session.shown)
            return [*found, *(text_line(line, width, self.glyphs) for line in folded(why, width - 6)[:3])]
        if node.formula:
            found += [
                text_line(line, width, self.glyphs) for line in folded(f"{self.key} = {node.formula}", width - 6)[:3]
            ]
            found += [text_line(line, width, self.glyphs) for line in folded(f"= {node.put_in}", width - 6)[:3]]
        found.append(text_line(f"{node.shown}   rests on {node.rests_on}", width, self.glyphs))
        return found

    def _summary(self) -> str:
        if isinstance(self.node.value, Blocked):
            return ""
        nodes = list(_all(self.node))
        fields = {node.key for node in nodes if node.is_field}
        doubts = {node.key or node.source for node in nodes if not node.verified}
        return f"{len(nodes)} rows, {len(fields)} fields, {len(doubts)} doubt{'' if len(doubts) == 1 else 's'}"

    def lines(self, width: int, height: int) -> Sequence[Line]:
        """Head, tree, and the card of what is under the cursor."""
        return list(super().lines(width, height + 1))[1:]

    def items(self, width: int) -> Sequence[Line]:
        """The branches, or the figures that rest on the field."""
        if self.is_field:
            return [self._dependent(key, width) for key in self.dependents()]
        return [self._branch(branch, width) for branch in self.branches()]

    def _dependent(self, key: str, width: int) -> Line:
        from trainplan.rows.table import cells, short_row

        shown = self.host.session.shown
        told = cells(short_row(key, shown.estimate), shown.estimate, shown.saved)
        canvas = Canvas(width, self.glyphs)
        canvas.put(4, quantity_label(key), end=28)
        canvas.right(44, told.value)
        canvas.put(46, told.unit, "dim", end=55)
        canvas.right(68, told.moved, "moved")
        return canvas.line()

    def _branch(self, branch: Branch, width: int) -> Line:
        node, canvas = branch.node, Canvas(width, self.glyphs)
        column = canvas.put(4, branch.stem, "dim")
        name = node.name.replace("_", " ")
        if node.is_field:
            column = canvas.put(column, f"[{name}  {node.shown}]", "edit")
            canvas.put(column + 2, node.rests_on, "dim")
            return canvas.line()
        column = canvas.put(column, f"{name}  ")
        column = canvas.put(column, node.shown, bold=True)
        tail = "see above" if node.seen else f"= {node.formula}" if node.formula else node.source
        folded = f"   + {numbered(branch.hidden, 'row')}" if branch.hidden else ""
        canvas.put(max(column + 2, 40), f"{tail}{folded}", "dim")
        return canvas.line()

    def tail(self, width: int) -> Sequence[Line]:
        """The card of what is under the cursor."""
        here = self._here()
        node = None if self.is_field else self.node if here is None else here.node
        title = self.key if node is None else node.key or node.name
        text = self._origin() if node is None else self._card(node)
        pieces = [piece for sentence in text for piece in folded(sentence, width - 2)][:CARD]
        pieces += [""] * (2 - len(pieces))
        return [
            rule(title, width, self.position(0), self.glyphs),
            *(text_line(piece, width, self.glyphs, 2) for piece in pieces),
        ]

    def _origin(self) -> list[str]:
        """Where the field's number was read; nothing for words and for what is not given."""
        s = self.host.session.shown.estimate.situation
        value = s[self.key] if isinstance(s.value(self.key), int | float) else None
        return [f"source: {value.origin.source}"] if isinstance(value, Figure) else []

    def _card(self, node: Node) -> list[str]:
        if node.is_field:
            return [sentence_of(node.key) or node.source, f"enter edits it here; the tree stays. source: {node.source}"]
        if lacked := self._lacked():
            return [sentence_of(lacked) or lacked, f"enter goes to {lacked}"]
        if isinstance(node.value, Figure) and isinstance(node.value.origin, Card):
            from trainplan.quantity.cardtext import sentence

            mark = "" if node.verified else " (unverified)"
            return [f"= {node.put_in}", f"{sentence(node.value.origin)} source: {node.source}{mark}"]
        return [f"source: {node.source}{'' if node.verified else ' (unverified)'}"]

    def _here(self) -> Branch | None:
        found = [] if self.is_field else self.branches()
        return found[self.at] if 0 <= self.at < len(found) else None

    def take(self, key: str, character: str | None) -> None:
        """Move, fold, edit a field, copy, leave."""
        count = len(self.dependents()) if self.is_field else len(self.branches())
        if key in ("esc", "x", "q", "backspace"):
            self.host.close_sheet()
        elif self.move(key, count):
            return
        elif key == "enter":
            self._enter()
        elif key == "space" and (here := self._here()) is not None:
            self.folded ^= {here.place}
        elif key == "+":
            self.folded, self.depth = set(), 99
        elif key == "-" and not self.is_field:
            self.folded, self.depth = set(), max(1, self._deepest() - 1)
        elif key == "y":
            self.host.copy(self.as_text(), self.key)
        elif key == "o" and not self._opened():
            source = self._source()
            self.host.message = f"source: {source.removeprefix('https://')}" if source else "no source under the cursor"

    def _opened(self) -> bool:
        """Show the line that gives what is under the cursor; false where no line of the plan does."""
        here = self._here()
        path = self.key if self.is_field else here.node.key if here is not None and here.node.is_field else ""
        return bool(path) and self.opens(self.host, path)

    def _source(self) -> str:
        """Where what is under the cursor was read, or its formula."""
        here, s = self._here(), self.host.session.shown.estimate.situation
        if not self.is_field:
            return (self.node if here is None else here.node).source
        value = s.value(self.key)
        own = s[self.key] if isinstance(value, int | float) else None
        return own.origin.source if isinstance(own, Figure) else "" if value is None else s.origin(self.key)[0]

    def _deepest(self) -> int:
        """Levels of the tree that show."""
        return max((len(branch.place) for branch in self.branches()), default=0)

    def _enter(self) -> None:
        if self.is_field:
            keys = self.dependents()
            if keys:
                self.host.open_sheet(ExplainSheet(self.host, keys[self.at], self.opens))
            return
        here = self._here()
        if lacked := self._lacked():
            self.host.start_edit(lacked)
        elif here is not None and here.node.is_field:
            self._edit(here.node)
        elif here is not None and here.node.children:
            self.folded ^= {here.place}

    def _lacked(self) -> str:
        """The field of the plan that the figure waits for; empty where it has its value, or waits for none."""
        value = None if self.is_field else self.node.value
        return "" if not isinstance(value, Blocked) else deciding(value.code, self.host.session.shown)

    def _edit(self, node: Node) -> None:
        """Edit a field here; the tree stays, and moves with it."""
        from trainplan.rows.table import choices_of, raw_text
        from trainplan_tui.panes.rows import Box
        from trainplan_tui.sheets.asking import LineSheet
        from trainplan_tui.sheets.choice import ChoiceSheet

        path, words = node.key, choices_of(node.key)
        value = f"{float(node.value):.15g}" if isinstance(node.value, Figure) else ""
        text = raw_text(path, self.host.session.shown.estimate) or value
        if words:
            self.host.open_sheet(ChoiceSheet(self.host, Box(path, 0, 0, text, words)))
            return
        ask = LineSheet(self.host, "editing", path, sentence_of(path), lambda typed: self._apply(path, typed), text)
        self.host.open_sheet(ask)

    def _apply(self, path: str, typed: str) -> bool:
        return self.host.apply(path, typed)

    def as_text(self) -> str:
        """The tree as text."""
        head = [f"{self.key} = {self.node.shown}"] if not self.is_field else [self.key]
        return "\n".join([*head, *("".join(span.text for span in line).rstrip() for line in self.items(160))]) + "\n"

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        last = [Entry("o", "source"), Entry("y", "copy"), Entry("esc", "back")]
        if self.is_field:
            return [*([Entry("enter", "explain")] if self.dependents() else []), *last]
        here = self._here()
        if self._lacked():
            return [Entry("enter", "go to field"), *last]
        if here is None:
            return last
        own = [Entry("enter", "edit")] if here.node.is_field else []
        folds = [Entry("space", "fold")] if here.node.children else []
        more = [Entry("+", "all")] if any(branch.hidden for branch in self.branches()) else []
        less = [Entry("-", "one level")] if self._deepest() > 1 else []
        return [*own, *folds, *more, *less, *last]


def _all(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        yield from _all(child)
