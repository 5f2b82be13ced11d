"""Layouts that a search found, best first: what each is, what it would do, and why others were rejected."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from trainplan.alternatives.reverse import changed
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import numbered
from trainplan.search.listing import GIB, Listed, aligned, in_stages, in_words, listed, none_fit, table, whole_text
from trainplan.search.ranking import ORDERS
from trainplan.search.searching import Found, Search, searching
from trainplan.search.space import changes, own_fields
from trainplan_tui.background import Background
from trainplan_tui.sheets.listing import Listing, text_line, under_cursor
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.folding import folded
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry, rule, scrolled

PAUSE = 0.25
"""Seconds between two counts in the heading, at least."""

SHOWN = 1000
"""Layouts in the list."""

REASONS = 4
"""Reasons of rejection under the list of a low window; a high one has more."""

BY = {
    "time": "predicted step, within target first",
    "memory": "memory",
    "cost": "cost as predicted, within target first",
}


class LayoutsSheet(Listing):
    """The layouts of the plan's cluster. The search runs beside it; `esc` stops it, then leaves."""

    word = "search"
    page = True

    def __init__(self, host: Host, use: Callable[[Mapping[str, object]], None]) -> None:
        super().__init__(host.glyphs)
        self.host, self.use, self.plan = host, use, host.session.shown.plan
        self.own, self.order = own_fields(self.plan), "time"
        self.state: Search | None = None
        self._found: tuple[Found, ...] = ()
        self._told: dict[int, Listed] = {}
        self.ended = self.stopping = self.forks = False
        self.background: Background[Search | None] = Background(self._end)
        self.background.attach()
        self._begin()

    def _begin(self) -> None:
        self.lets_go = False  # what runs is stopped, not left behind
        question = object()
        self.background.ask(question, partial(self._search, question, forks=self.forks))

    def _search(self, question: object, *, forks: bool) -> Search | None:
        """On the thread: everything that was found until the end, or until somebody stopped it."""
        told, last = 0.0, None
        for state in searching(self.plan, forks=forks):
            last = state
            if self.stopping or not self.background.asks(question):
                break
            if time.monotonic() - told > PAUSE:
                told = time.monotonic()
                self.background.tell(question, partial(self._count, state))
        return last

    def _count(self, state: Search) -> None:
        """How far it is; the list itself waits for the end."""
        self.state = state
        self.host.paint()

    def _end(self, state: Search | None) -> None:
        self.ended = self.lets_go = True
        if state is not None:
            self._rank(state)
            self._count(state)

    def _rank(self, state: Search) -> None:
        self._found, self._told, self.at = state.best(self.order, SHOWN), {}, 0

    def wanted(self, width: int) -> int:
        """The whole body."""
        return 1000

    def title(self) -> str:
        """How far the search is, or the order of the list."""
        state = self.state
        if state is None:
            return "search: layouts"
        if not self.ended:
            return f"search: {state.settled:,} of {state.considered:,}   esc stops"
        part = "" if state.settled == state.considered else f", stopped at {state.settled:,}"
        return f"layouts by {BY[self.order]}{', forks too' if self.forks else ''}{part}"

    def lines(self, width: int, height: int) -> Sequence[Line]:
        """The title, the layouts in view, the counts, and the layout under the cursor."""
        tail = self._counts(width, REASONS if height < 30 else 3 * REASONS) + self._detail(width)
        room = max(1, height - 2 - len(tail))
        self.at = min(max(self.at, 0), max(0, len(self._found) - 1))
        self.first = scrolled(self.first, room, self.at, len(self._found))
        count = f"{self.at + 1} of {self.state.fitting:,}" if self.state is not None and self._found else ""
        body = self._body(width, room)
        padding: list[Line] = [()] * (room + 1 - len(body))
        return [rule(self.title(), width, count, self.glyphs), *body, *padding, *tail][:height]

    def _body(self, width: int, room: int) -> list[Line]:
        """The heads and the rows in view."""
        rows = [self._listed(place) for place in range(self.first, min(self.first + room, len(self._found)))]
        if not rows:
            return [text_line(self._nothing(), width, self.glyphs)]
        head, *lines = [_line(text, width) for text in aligned(table(rows, self.order), width - 3)]
        return [head, *(under_cursor(one, width) if self.first + i == self.at else one for i, one in enumerate(lines))]

    def _listed(self, place: int) -> Listed:
        if place not in self._told:
            self._told[place] = listed(self.plan, [self._found[place]], self.own, place + 1)[0]
        return self._told[place]

    def _nothing(self) -> str:
        """What stands where no layout does."""
        return none_fit(self.state) if self.state is not None and self.ended else ""

    def _counts(self, width: int, most: int) -> list[Line]:
        """How many, and why others were rejected."""
        state = self.state
        if state is None:
            return []
        told = f"{state.considered:,} considered, {state.legal:,} legal, {state.fitting:,} fit"
        reasons = sorted(state.rejected.items(), key=lambda one: -one[1])
        most += len(reasons) == most + 1  # the last one takes the row that would say that there is one more
        lines = [
            text_line(f"rejected {count:>14,}  {reason}", width, self.glyphs, 2) for reason, count in reasons[:most]
        ]
        rest = sum(count for _, count in reasons[most:])
        more = [
            text_line(
                f"rejected {rest:>14,}  for {numbered(len(reasons) - most, 'more reason')}", width, self.glyphs, 2
            )
        ]
        return [rule(told, width, "=plan !above target", self.glyphs), *lines, *(more if rest else [])]

    def _detail(self, width: int) -> list[Line]:
        """The layout under the cursor, against the plan."""
        if not self._found:
            return []
        row, now = self._listed(self.at), self.host.session.shown.estimate
        words = f"{in_words(row.found.fields)}; D {whole_text(row.estimate.mesh.data)}"
        words += f", m {whole_text(row.estimate.tokens.microbatches)}{': the plan' if row.is_plan else ''}"
        held = _against(now.memory.total, row.found.memory, GIB)
        longer = _against(now.step.predicted_mean_step_time, row.found.step, 1.0)
        than = " than the plan" if held or longer else ""
        told = [f"{row.found.memory / GIB:.1f} GiB{held}{than if held else ''}"]
        step = "mean step of the run" if in_stages(row) else "step"
        told.append(f"{step} {row.found.step:,.3f} s{longer}{'' if held else than}")
        told.append("above the memory target" if row.found.above_target else f"{row.found.sent / 1e9:,.1f} GB sent")
        title = rule(f"layout {self.at + 1}", width, "", self.glyphs)
        pieces = (piece for text in (words, "; ".join(told)) for piece in folded(text, width - 2))
        return [title, *(text_line(piece, width, self.glyphs, 2) for piece in pieces)]

    def take(self, key: str, character: str | None) -> None:
        """Move, order, use, compare, copy; search what forks have too; stop, then leave."""
        if key in ("esc", "q"):
            self._leave()
        elif key == "F" and self.ended:
            self._again()
        elif self.move(key, len(self._found)) or not self._found:
            return
        elif key == "O" and self.state is not None:
            self.order = ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)]
            self._rank(self.state)
        elif key == "enter":
            self._use()
        elif key == "d":
            self._compare()
        elif key == "y":
            rows = [self._listed(place) for place in range(min(len(self._found), 50))]
            self.host.copy("\n".join(aligned(table(rows, self.order))) + "\n", "layouts")

    def _again(self) -> None:
        """Search once more, with or without what only forks of the framework have."""
        self.forks, self.ended, self.stopping, self.state = not self.forks, False, False, None
        self._found, self._told = (), {}
        self._begin()

    def _leave(self) -> None:
        """Stop the search, or leave where it has ended or was told to stop already."""
        if self.ended or self.stopping:
            self.background.forget()
            self.host.close_sheet()
        self.stopping = True

    def _use(self) -> None:
        """The layout as one edit of the plan."""
        row = self._listed(self.at)
        self.host.close_sheet()
        self.use({} if row.is_plan else changes(self.plan, row.found.fields))

    def _compare(self) -> None:
        from trainplan_tui.sheets.difference import DifferenceSheet

        if self._listed(self.at).is_plan:
            self.host.message = f"layout {self.at + 1} is the plan's own"
            return
        other = self.host.session.estimated(changed(self.plan, dict(self._found[self.at].fields)))
        self.host.open_sheet(DifferenceSheet(self.host, other, ("plan", f"layout {self.at + 1}"), ahead=True))

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        if not self.ended:
            return [Entry("esc", "stop")]
        keys = [Entry("enter", "use it"), Entry("d", "compare with plan"), Entry("O", "order")]
        forks = Entry("F", "without forks" if self.forks else "forks too")
        copy = [Entry("y", "copy")] if self._found else []
        return [*(keys if self._found else []), forks, *copy, Entry("esc", "back")]


def _line(text: str, width: int) -> Line:
    canvas = Canvas(width)
    canvas.put(2, text)
    return canvas.line()


def _against(now: object, there: float, factor: float) -> str:
    """How much more or less than the plan; nothing where they are the same or the plan has none."""
    if not isinstance(now, Figure) or float(now) == there:
        return ""
    moved = (there - float(now)) / factor
    return f", {abs(moved):,.3g} {'more' if moved > 0 else 'less'}"
