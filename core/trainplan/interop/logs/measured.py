"""Many steps as a few numbers, in bounded memory: tokens a second of one device, its spread, memory, stalls, and what was dropped.

Warm-up, steps after a checkpoint or an evaluation, skipped steps and what was printed already are left out. A line that is the
mean of ten steps counts as ten. The middle is a median over steps: one slow step does not move it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from trainplan.interop.logs.events import (
    Begin,
    Event,
    Foreign,
    Framework,
    Interruption,
    Peak,
    Retries,
    Setting,
    Stall,
    Step,
    Unread,
)
from trainplan.interop.logs.series import Part, Series
from trainplan.interop.logs.spans import Spans, span_of_first

WARM_STEPS, WARM_SHARE = 20, 0.10
ENOUGH, STEADY = 20, 0.05
"""Steps below which, and variation above which, a measurement is doubted: C7."""

MODEL: Final = ("layers", "hidden", "parameters")
"""Settings of the model that ran."""
AGAIN: Final = "lines that repeat a step, as of another rank or of a bar"
OTHER: Final = "of a run on another number of devices, at another length or of another model"
FOREIGN: Final = 64
"""Reasons that are kept apart."""
_AFTER: Final = {"checkpoint": "after a checkpoint", "evaluation": "after an evaluation"}


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What logs measured. Rates are tokens a second of one device; `peak` bytes; `stall` s; None where no line said it.

    `variation` is that of lines, None of one line; a line is mostly the mean of `steps_a_line` steps, of 1 where it is a step.
    `assumed` are the settings that were lent to work out a rate, `disturbed` is set where every line follows a checkpoint or an
    evaluation. `retries` of the allocator, 0 where no line said so. `model` has what the log prints of layers, hidden and
    parameters, and `token_flops` are its own FLOP/s over its tokens a second: what a token costs by whatever convention it prints.
    """

    framework: str
    rate: float
    rate_low: float
    rate_high: float
    variation: float | None
    steps_used: int
    steps_seen: int
    dropped: dict[str, int]
    world: float | None
    sequence: float | None
    batch: float | None
    peak: float | None
    peak_reserved: bool
    stall: float | None
    saves: int
    date: str | None
    retries: int = 0
    steps_a_line: float = 1.0
    assumed: tuple[str, ...] = ()
    disturbed: bool = False
    model: Mapping[str, float] = field(default_factory=dict[str, float])
    token_flops: float | None = None

    @property
    def of_means(self) -> bool:
        """Whether lines are means of several steps: their variation is not that of steps."""
        return self.steps_a_line > 1.0

    def counted(self) -> str:
        """The steps that were used, in words."""
        return f"{self.steps_used} step{'' if self.steps_used == 1 else 's'}"

    def spread(self) -> str:
        """The variation in words, and of what it is."""
        if self.variation is None:
            return "variation unknown of one line"
        told = f"variation {100 * self.variation:.1f} %"
        return f"{told} of means of {self.steps_a_line:.3g} steps" if self.of_means else told


class Measurement:
    """Takes events one by one. Batch, length and world are the plan's unless the log prints its own."""

    def __init__(self, batch: float | None, sequence: float | None, world: float | None) -> None:
        self.settings = {"batch": batch, "sequence": sequence, "world": world}
        self.printed: dict[str, float] = {}
        self.series, self.early, self.disturbed = Series(), Series(), Series()
        self.dropped, self.frameworks, self.foreign = Counter[str](), Counter[str](), Counter[str]()
        self.assumed: set[str] = set()
        self.peaks: dict[bool, float] = {}
        self.retries = self.unread = self.first_unread = self.lines = self.seen = 0
        self.stalls = array("d")
        self.time = ""
        self.date: str | None = None
        self.token_flops: float | None = None
        self._spans, self._start, self._after = Spans(), 0, ""
        self._first: tuple[int, float | None] | None = None
        self._saved_at = -1

    def at(self, time: str) -> None:
        """The time of day of what comes next; its day is that of the measurement."""
        self.time, self.date = time, time[:10]

    def begin(self) -> None:
        """Another log starts: its first steps warm up."""
        self._spans.open()
        self.time = ""

    def take(self, event: Event) -> None:
        """One event."""
        if isinstance(event, Step):
            self._step(event)
        elif isinstance(event, Framework):
            self.frameworks[event.name] += 1
        elif isinstance(event, Peak):
            self.peaks[event.reserved] = max(event.bytes, self.peaks.get(event.reserved, 0.0))
        elif isinstance(event, Retries):
            self.retries = max(event.count, self.retries)
        elif isinstance(event, Setting):
            self._setting(event)
        elif isinstance(event, Stall):
            self._stall(event.seconds)
        elif isinstance(event, Unread):
            self.unread += 1
        else:
            self._marked(event)

    def _marked(self, event: Begin | Foreign | Interruption) -> None:
        if isinstance(event, Begin):
            self._spans.begin()
        elif isinstance(event, Foreign):
            self.foreign[event.why if len(self.foreign) < FOREIGN else ""] += 1
        else:
            self._after = _AFTER[event.kind]

    def _stall(self, seconds: float) -> None:
        """A save; where no step came since the last one, another rank tells of the same, and the slowest is waited for."""
        if self._saved_at == self.seen and self.stalls:
            self.stalls[-1] = max(self.stalls[-1], seconds)
            return
        self.stalls.append(seconds)
        self._saved_at = self.seen

    def _setting(self, event: Setting) -> None:
        """A run on another number of devices, at another length or of another model is another run: the later one is measured."""
        if event.name != "batch" and self.printed.get(event.name, event.value) != event.value and self.lines:
            self._first_counted(1)
            self.dropped[OTHER] += self.series.seen + self.disturbed.seen
            self.series, self.early, self.disturbed = Series(), Series(), Series()
            self._spans.begin()
        self.settings[event.name] = self.printed[event.name] = event.value

    def _step(self, step: Step) -> None:
        self.lines += 1
        span = self._spans.take(step.number, mean=step.mean, time=self.time)
        if not span:
            self.dropped[AGAIN] += 1
            return
        rate = step.rate if step.rate is not None else self._rate(step)
        if step.sequences:
            self.printed["batch"] = step.sequences
        if step.length:
            self.printed["sequence"] = step.length
        if step.flops and rate:
            self.token_flops = step.flops / rate
        if self._spans.first:
            self._first_counted(1)
            self._first, self._after = (step.number, rate), ""
            return
        if self._first is not None:
            number = self._first[0]
            before = span_of_first(number, span) if step.mean else 1
            self._start = number - before + 1
            self._first_counted(before)
        self._counted(step, rate, span)

    def _first_counted(self, span: int) -> None:
        """The first line of a run, whose steps are known once the next one is there: it is warm-up."""
        if self._first is None:
            return
        (_, rate), self._first = self._first, None
        self._warmed(rate, span)

    def _warmed(self, rate: float | None, span: int) -> None:
        self.seen += span
        self.dropped["warm-up" if rate else "without batch, length or world"] += span
        if rate:
            self.early.add(rate, span)

    def _counted(self, step: Step, rate: float | None, span: int) -> None:
        reason, self._after = self._after, ""
        if not rate or step.number - span + 1 < self._start + WARM_STEPS:
            self._warmed(rate, span)
            return
        self.seen += span
        if step.skipped:
            self.dropped["skipped"] += span
        else:
            (self.disturbed if reason else self.series).add(rate, span)
            if reason:
                self.dropped[reason] += span

    def _rate(self, step: Step) -> float | None:
        batch, sequence = step.sequences or self.settings["batch"], step.length or self.settings["sequence"]
        world = self.settings["world"]
        if step.seconds is None or not batch or not sequence or not world:
            return None
        if not step.sequences and "batch" not in self.printed:
            self.assumed.add("batch")
        if not step.length and "sequence" not in self.printed:
            self.assumed.add("sequence")
        if "world" not in self.printed:
            self.assumed.add("world")
        return batch * sequence / (step.seconds * world)

    def result(self) -> Measured | None:
        """What was measured; None where no step told a rate."""
        self._first_counted(1)
        disturbed = not self.series.lines and self.disturbed.lines > 0
        part, dropped = self._steady(disturbed)
        if part is None:
            return None
        reserved = True in self.peaks
        return Measured(
            framework=", ".join(name for name, _ in self.frameworks.most_common()),
            rate=part.middle(),
            rate_low=part.quantile(0.1),
            rate_high=part.quantile(0.9),
            variation=part.variation(),
            steps_used=part.steps,
            steps_seen=self.seen,
            dropped=self._told(dropped),
            world=self.printed.get("world"),
            sequence=self.printed.get("sequence"),
            batch=self.printed.get("batch"),
            peak=self.peaks.get(reserved) or None,
            peak_reserved=reserved,
            stall=median(self.stalls) if self.stalls else None,
            saves=len(self.stalls),
            date=self.date,
            retries=self.retries,
            steps_a_line=part.span(),
            assumed=tuple(sorted(self.assumed)),
            disturbed=disturbed,
            model={name: self.printed[name] for name in MODEL if name in self.printed},
            token_flops=self.token_flops,
        )

    def nothing(self) -> str:
        """Why nothing was measured."""
        lacking = self.dropped["without batch, length or world"]
        if lacking:
            return f"{lacking} steps without batch, length or world"
        if self.unread:
            return f"no line of a step could be read, the first is line {self.first_unread}"
        for why, count in self.foreign.most_common(1):
            return f"{count} {'line' if count == 1 else 'lines'} of steps without what measures: {why}"
        return "no line of a step was found"

    def _told(self, dropped: Counter[str]) -> dict[str, int]:
        """What was dropped, by reason."""
        found = {reason: count for reason, count in dropped.items() if count}
        if not self.unread:
            return found
        where = "line" if self.unread == 1 else "the first is line"
        return {**found, f"not readable, {where} {self.first_unread}": self.unread}

    def _steady(self, disturbed: bool) -> tuple[Part | None, Counter[str]]:
        """Lines after the warm-up, and what was dropped then; of a short log, the later half of what there is."""
        dropped, early = Counter(self.dropped), self.early
        if disturbed:
            for reason in _AFTER.values():
                del dropped[reason]
            return self.disturbed.after(0), dropped
        if self.series.lines:
            part = self.series.after(max(0, WARM_SHARE * (self.series.seen + early.seen) - early.seen))
            dropped["warm-up"] += self.series.seen - part.steps
            return part, dropped
        if not early.lines:
            return None, dropped
        part = early.after(early.seen / 2)
        dropped["warm-up"] -= part.steps
        return part, dropped
