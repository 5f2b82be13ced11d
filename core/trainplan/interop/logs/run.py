"""One run's lines: its rates in order, its memory and its saves, and what they come to.

The first steps of a run warm up. Steps after a checkpoint or an evaluation, skipped steps and what was printed already are left
out. A line that is the mean of ten steps counts as ten. The middle is a median over steps: one slow step does not move it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from statistics import median
from typing import Final

from trainplan.interop.logs.events import Peak, Step
from trainplan.interop.logs.outcome import Measured
from trainplan.interop.logs.series import Part, Series
from trainplan.interop.logs.spans import Spans, span_of_first

WARM_STEPS, WARM_SHARE = 20, 0.10
MODEL: Final = ("layers", "hidden", "parameters")
"""Settings of the model that ran."""
AGAIN: Final = "lines that repeat a step, as of another rank or of a bar"
LACKING: Final = "without batch, length or world"
AFTER: Final = {"checkpoint": "after a checkpoint", "evaluation": "after an evaluation"}


class Run:
    """Takes the lines of one run. `printed` is what its lines say of batch, length, world and model."""

    def __init__(self) -> None:
        self.printed: dict[str, float] = {}
        self.series, self.early, self.disturbed = Series(), Series(), Series()
        self.dropped = Counter[str]()
        self.assumed: set[str] = set()
        self.peaks: dict[bool, float] = {}
        self.retries = self.seen = self.lines = 0
        self.stalls = array("d")
        self.token_flops: float | None = None
        self.spans, self._start, self.after = Spans(), 0, ""
        self._first: tuple[int, float | None] | None = None
        self._saved_at = -1

    def alike(self, printed: dict[str, float]) -> bool:
        """Whether what is printed elsewhere can be of this run: as many devices, the same length and model."""
        return all(
            self.printed.get(name, value) == value
            for name in ("world", "sequence", *MODEL)
            if (value := printed.get(name)) is not None
        )

    def peak(self, event: Peak) -> None:
        """The most memory so far."""
        self.peaks[event.reserved] = max(event.bytes, self.peaks.get(event.reserved, 0.0))

    def stall(self, seconds: float) -> None:
        """A save; where no step came since the last one, another rank tells of the same, and the slowest is waited for."""
        if self._saved_at == self.seen and self.stalls:
            self.stalls[-1] = max(self.stalls[-1], seconds)
            return
        self.stalls.append(seconds)
        self._saved_at = self.seen

    def step(self, step: Step, settings: dict[str, float | None], time: str) -> None:
        """One printed step; `settings` are what its rate is worked out by where it prints none."""
        self.lines += 1
        span = self.spans.take(step.number, mean=step.mean, time=time)
        if not span:
            self.dropped[AGAIN] += 1
            return
        rate = step.rate if step.rate is not None else self._rate(step, settings)
        if step.sequences:
            self.printed["batch"] = step.sequences
        if step.length:
            self.printed["sequence"] = step.length
        if step.flops and rate:
            self.token_flops = step.flops / rate
        if self.spans.first:
            self._first_counted(1)
            self._first, self.after = (step.number, rate), ""
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
        self.dropped["warm-up" if rate else LACKING] += span
        if rate:
            self.early.add(rate, span)

    def _counted(self, step: Step, rate: float | None, span: int) -> None:
        reason, self.after = self.after, ""
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

    def _rate(self, step: Step, settings: dict[str, float | None]) -> float | None:
        batch, sequence = step.sequences or settings["batch"], step.length or settings["sequence"]
        world = settings["world"]
        if step.seconds is None or not batch or not sequence or not world:
            return None
        if not step.sequences and "batch" not in self.printed:
            self.assumed.add("batch")
        if not step.length and "sequence" not in self.printed:
            self.assumed.add("sequence")
        if "world" not in self.printed:
            self.assumed.add("world")
        return batch * sequence / (step.seconds * world)

    def result(self, framework: str, date: str | None) -> Measured | None:
        """What the run measured; None where no step told a rate."""
        self._first_counted(1)
        disturbed = not self.series.lines and self.disturbed.lines > 0
        part, dropped = self._steady(disturbed)
        if part is None:
            return None
        reserved = True in self.peaks
        return Measured(
            framework=framework,
            rate=part.middle(),
            rate_low=part.quantile(0.1),
            rate_high=part.quantile(0.9),
            variation=part.variation(),
            steps_used=part.steps,
            steps_seen=self.seen,
            dropped={reason: count for reason, count in dropped.items() if count},
            world=self.printed.get("world"),
            sequence=self.printed.get("sequence"),
            batch=self.printed.get("batch"),
            peak=self.peaks.get(reserved) or None,
            peak_reserved=reserved,
            stall=median(self.stalls) if self.stalls else None,
            saves=len(self.stalls),
            date=date,
            retries=self.retries,
            steps_a_line=part.span(),
            assumed=tuple(sorted(self.assumed)),
            disturbed=disturbed,
            model={name: self.printed[name] for name in MODEL if name in self.printed},
            token_flops=self.token_flops,
        )

    def _steady(self, disturbed: bool) -> tuple[Part | None, Counter[str]]:
        """Lines after the warm-up, and what was dropped then; of a short log, the later half of what there is."""
        dropped, early = Counter(self.dropped), self.early
        if disturbed:
            for reason in AFTER.values():
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
