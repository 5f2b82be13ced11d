"""A list of the words that a field may be, each with what it would do. Letters narrow, `enter` takes."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan.catalogue import entry
from trainplan.estimation import Estimate
from trainplan.plan.read import UnknownPath, Unusable
from trainplan.quantity.figure import Blocked, Figure
from trainplan.quantity.numbers import disk_bytes
from trainplan_tui.panes.rows import Box
from trainplan_tui.screens.words import finish
from trainplan_tui.sheets.listing import Listing, text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.dates import money
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry
from trainplan_tui.widgets.line import SHELL, LineEdit

MOST_TRIED = 16
"""Lists up to this length say what each choice would do; longer ones say what each is."""


COLUMNS = ((33, "memory"), (46, "room"), (57, "wall time"), (67, "cost"), (79, "ends"))
LAYOUT_COLUMNS = ((33, "memory"), (46, "room"), (62, "predicted step"), (73, "sent"))
SHARDING = "parallelism.sharding"
SHARDING_COLUMNS = ((22, "memory"), (34, "room"), (45, "step"), (55, "sent"))
SHARDS, SHARDS_END = 58, 80
"""Cells where the list of shardings says what each shards; left out where the window has no room for the longest."""
LAYOUT = ("parallelism.", "training.", "batch.")
"""Fields of a layout move memory and the predicted step, never the planned time, which rests on utilization."""


class ChoiceSheet(Listing):
    """The choices of one field."""

    word = "choosing"
    typing = True

    def __init__(self, host: Host, box: Box) -> None:
        super().__init__(host.glyphs)
        self.host, self.box = host, box
        self.line = LineEdit()
        self.at = box.choices.index(box.text) if box.text in box.choices else 0
        self._told: dict[str, tuple[str, ...]] = {}

    def title(self) -> str:
        """The field, and what the figures are."""
        return f"{self.box.path}: choose; figures show what each would do"

    def shown(self) -> list[str]:
        """The choices that match the letters."""
        letters = self.line.text.lower()
        return [word for word in self.box.choices if letters in word.lower()]

    def head(self, width: int) -> Sequence[Line]:
        """The heads of the columns."""
        canvas = Canvas(width, self.glyphs)
        canvas.put(6, "choice", "dim")
        if len(self.box.choices) <= MOST_TRIED:
            for end, word in self._columns():
                if end <= width:
                    canvas.right(end, word, "dim")
            if self._tells_shards(width):
                canvas.put(SHARDS, "what it shards", "dim")
        return [canvas.line()]

    def _columns(self) -> tuple[tuple[int, str], ...]:
        if self.box.path == SHARDING:
            return SHARDING_COLUMNS
        return LAYOUT_COLUMNS if self.box.path.startswith(LAYOUT) else COLUMNS

    def _tells_shards(self, width: int) -> bool:
        return self.box.path == SHARDING and width >= SHARDS_END

    def items(self, width: int) -> Sequence[Line]:
        """One line a choice."""
        return [self._item(word, width) for word in self.shown()]

    def _item(self, word: str, width: int) -> Line:
        canvas = Canvas(width, self.glyphs)
        canvas.put(3, "=" if word == self.box.text else " ")
        canvas.put(6, word, end=22)
        if len(self.box.choices) > MOST_TRIED:
            canvas.put(34, self._title(word), "dim")
            return canvas.line()
        before = 11 if self.box.path == SHARDING else 22
        for (end, _), text in zip(self._columns(), self._effect(word), strict=False):
            if end > width:
                break  # a column without room is left out whole
            canvas.right(end, text, "error" if text.startswith("OVER") else "text", start=before + 2)
            before = end
        if self._tells_shards(width):
            canvas.put(SHARDS, _shards(word), "dim", end=width)
        return canvas.line()

    def _title(self, word: str) -> str:
        kind = "models" if self.box.path == "model.preset" else "accelerators"
        found = entry(kind, word)
        return found.title if found is not None else ""

    def _effect(self, word: str) -> tuple[str, ...]:
        """What follows with this choice, from an estimate of its own."""
        if word not in self._told:
            self._told[word] = self._tried(word)
        return self._told[word]

    def _tried(self, word: str) -> tuple[str, ...]:
        try:
            attempt = self.host.session.attempt(self.box.path, word)
        except (Unusable, UnknownPath):
            return ("refused",)
        figures = self.host.session.estimated(attempt.plan)
        return (*_memory(figures), *(_step(figures) if self.box.path.startswith(LAYOUT) else _time(figures)))

    def tail(self, width: int) -> Sequence[Line]:
        """The letters that narrow the list."""
        count = f"   {len(self.shown())} of {len(self.box.choices)}" if self.line.text else ""
        return [text_line(f"= in the plan   type letters to narrow: {self.line.text}{count}", width, self.glyphs, 4)]

    def take(self, key: str, character: str | None) -> None:
        """Move, narrow, take or leave."""
        shown = self.shown()
        if key == "esc":
            self.host.close_sheet()
        elif key == "enter":
            self._choose(shown)
        elif key in SHELL or not self.move(key, len(shown)):
            self.line = self.line.take(key, character) or self.line
            self.at = min(self.at, max(0, len(self.shown()) - 1))

    def _choose(self, shown: list[str]) -> None:
        if not shown:
            self.host.message = f"no choice has {self.line.text}"
            return
        self.host.close_sheet()
        if shown[self.at] != self.box.text:
            self.host.apply(self.box.path, shown[self.at])

    def paste(self, text: str) -> None:
        """Pasted letters narrow."""
        self.line = self.line.paste(text)

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        keep = f"keep {self.box.text}" if self.box.text else "leave empty"
        if not self.shown():
            return [Entry("backspace", "more choices"), Entry("esc", keep)]
        return [Entry("enter", "take it"), Entry("esc", keep), Entry("up down", "move")]


def _shards(kind: str) -> str:
    """What a sharding divides over the data-parallel ranks: the first kind of state alone, each further one as `+`."""
    from trainplan.budgets.memory.recipe import SHARDED

    states = SHARDED[kind]
    if not states:
        return "nothing"
    last = "optimizer states" if states[-1] == "optimizer" else states[-1]
    return f"{'+ ' if len(states) > 1 else ''}{last}{', in groups' if kind == 'hsdp' else ''}"


def _memory(figures: Estimate) -> tuple[str, str]:
    """What the worst rank holds, and what is free there; what is missing where that cannot be told."""
    total, room = figures.memory.total, figures.memory.headroom
    if not isinstance(total, Figure) or not isinstance(room, Figure):
        code = total.code if isinstance(total, Blocked) else ""
        return "?", f"needs {code.rsplit('.', 1)[-1].replace('_', ' ')}" if code.startswith("missing:") else code
    return f"{float(total) / 2**30:.1f} GiB", f"{'OVER' if room < 0 else 'fits'} {abs(float(room)) / 2**30:.1f}"


def _step(figures: Estimate) -> tuple[str, str]:
    """The predicted step and what it sends."""
    step = figures.step.predicted_step_time
    if not isinstance(step, Figure):
        return "?", "?"
    sent = sum(float(one.bytes) for one in figures.communication.table if isinstance(one.bytes, Figure))
    scale = disk_bytes(sent)
    return f"{float(step):.3f} s", f"{scale.text(sent)} {scale.unit}"


def _time(figures: Estimate) -> tuple[str, str, str]:
    """Wall time, cost and end at the planned rate."""
    from trainplan.views.explain import readable

    wall, cost = figures.money.wall_time, figures.money.cost
    return (
        readable(wall, figures) if isinstance(wall, Figure) else "?",
        money(float(cost), figures.plan.cluster.currency, 4) if isinstance(cost, Figure) else "?",
        finish(figures).short,
    )
