"""Many steps as a few numbers, in bounded memory: tokens a second of one device, its spread, memory, stalls, and what was dropped.

Warm-up, steps after a checkpoint or an evaluation, and skipped steps are left out. The middle is a median: one slow step does not
move it. Where more steps come than are kept, every second one is let go and only every second one after that is taken.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from statistics import fmean, median, pstdev
from typing import Final

from trainplan.interop.logs.events import Event, Framework, Interruption, Peak, Retries, Setting, Stall, Step, Unread

KEPT: Final = 65_536
WARM_STEPS, WARM_SHARE = 20, 0.10
ENOUGH, STEADY = 20, 0.05
"""Steps below which, and variation above which, a measurement is doubted: C7."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What logs measured. Rates are tokens a second of one device; `peak` bytes; `stall` s; None where no line said it.

    `retries` of the allocator, 0 where no line said so.
    """

    framework: str
    rate: float
    rate_low: float
    rate_high: float
    variation: float
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


class Series:
    """Steps and their rates in order, thinned evenly."""

    def __init__(self) -> None:
        self.numbers, self.rates = array("q"), array("d")
        self._stride, self._seen = 1, 0

    def add(self, number: int, rate: float) -> None:
        """Take a step, or let it go."""
        if self._seen % self._stride == 0:
            self.numbers.append(number)
            self.rates.append(rate)
        self._seen += 1
        if len(self.numbers) >= KEPT:
            self.numbers, self.rates = self.numbers[::2], self.rates[::2]
            self._stride *= 2

    @property
    def seen(self) -> int:
        """Steps that came."""
        return self._seen


class Measurement:
    """Takes events one by one. Batch, length and world are the plan's unless the log prints its own."""

    def __init__(self, batch: float | None, sequence: float | None, world: float | None) -> None:
        self.settings = {"batch": batch, "sequence": sequence, "world": world}
        self.printed: dict[str, float] = {}
        self.series, self.early, self.dropped = Series(), Series(), Counter[str]()
        self.frameworks = Counter[str]()
        self.peaks: dict[bool, float] = {}
        self.retries = self.unread = self.first_unread = 0
        self.stalls = array("d")
        self.date: str | None = None
        self._last, self._start, self._after = -1, 0, ""
        self._seen = 0

    def begin(self) -> None:
        """Another log starts: its first steps warm up again."""
        self._last, self._after = -1, ""

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
            self.settings[event.name] = self.printed[event.name] = event.value
        elif isinstance(event, Stall):
            self.stalls.append(event.seconds)
        elif isinstance(event, Unread):
            self.unread += 1
        else:
            self._interrupted(event)

    def _interrupted(self, event: Interruption) -> None:
        self._after = event.kind

    def _step(self, step: Step) -> None:
        self._seen += 1
        if self._last < 0 or step.number < self._last:
            self._start = step.number
        self._last = step.number
        reason, self._after = self._after, ""
        rate = step.rate if step.rate is not None else self._rate(step)
        if step.sequences:
            self.printed["batch"] = step.sequences
        if rate is None or rate <= 0:
            self.dropped["without batch, length or world"] += 1
        elif step.skipped:
            self.dropped["skipped"] += 1
        elif step.number < self._start + WARM_STEPS:
            self.dropped["warm-up"] += 1
            self.early.add(step.number, rate)
        elif reason:
            self.dropped[f"after {'an evaluation' if reason == 'evaluation' else 'a checkpoint'}"] += 1
        else:
            self.series.add(step.number, rate)

    def _rate(self, step: Step) -> float | None:
        batch = step.sequences or self.settings["batch"]
        sequence, world = self.settings["sequence"], self.settings["world"]
        if step.seconds is None or not batch or not sequence or not world:
            return None
        return batch * sequence / (step.seconds * world)

    def result(self) -> Measured | None:
        """What was measured; None where no step told a rate."""
        rates, used = self._steady()
        if not rates:
            return None
        low, middle, high = _quantiles(rates)
        reserved = True in self.peaks
        return Measured(
            framework=", ".join(name for name, _ in self.frameworks.most_common()),
            rate=middle,
            rate_low=low,
            rate_high=high,
            variation=pstdev(rates) / fmean(rates),
            steps_used=used,
            steps_seen=self._seen,
            dropped={reason: count for reason, count in self._dropped().items() if count},
            world=self.printed.get("world"),
            sequence=self.printed.get("sequence"),
            batch=self.printed.get("batch"),
            peak=self.peaks.get(reserved),
            peak_reserved=reserved,
            stall=median(self.stalls) if self.stalls else None,
            saves=len(self.stalls),
            date=self.date,
            retries=self.retries,
        )

    def _dropped(self) -> dict[str, int]:
        """What was dropped, by reason."""
        if not self.unread:
            return self.dropped
        where = "line" if self.unread == 1 else "the first is line"
        return {**self.dropped, f"not readable, {where} {self.first_unread}": self.unread}

    def _steady(self) -> tuple[list[float], int]:
        """Rates after the warm-up and how many steps they stand for; of a short log, the later half of what there is."""
        rates, early = list(self.series.rates), list(self.early.rates)
        if not rates:
            half = len(early) // 2
            self.dropped["warm-up"] -= len(early) - half
            return early[half:], len(early) - half
        more = max(0, round(WARM_SHARE * (self.series.seen + self.early.seen)) - self.early.seen)
        self.dropped["warm-up"] += more
        return rates[round(more * len(rates) / self.series.seen) :], self.series.seen - more


def _quantiles(rates: list[float]) -> tuple[float, float, float]:
    ordered = sorted(rates)
    places = (round(share * (len(ordered) - 1)) for share in (0.1, 0.9))
    low, high = (ordered[place] for place in places)
    return low, median(ordered), high
