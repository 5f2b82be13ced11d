"""Events of one log, or several, into runs and what each measured: tokens a second of one device, peak memory, stall of a save.

A run on another number of devices, at another length or of another model is another run, in whatever order their lines come, and
each has its own memory and saves.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
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
from trainplan.interop.logs.outcome import ENOUGH, STEADY, Measured
from trainplan.interop.logs.run import AFTER, AGAIN, LACKING, Run
from trainplan.interop.logs.series import Series

__all__ = ["AGAIN", "ENOUGH", "OTHER", "STEADY", "Measured", "Measurement"]

OTHER: Final = "of a run on another number of devices, at another length or of another model"
FOREIGN: Final = 64
"""Reasons that are kept apart."""


class Measurement:
    """Takes events one by one. Batch, length and world are the plan's unless the log prints its own."""

    def __init__(self, batch: float | None, sequence: float | None, world: float | None) -> None:
        self.settings = {"batch": batch, "sequence": sequence, "world": world}
        self.frameworks, self.foreign = Counter[str](), Counter[str]()
        self.unread = self.first_unread = self.lines = 0
        self.time = ""
        self.date: str | None = None
        self.runs: list[Run] = []
        self._run = Run()
        self._batch: float | None = None

    @property
    def series(self) -> Series:
        """Rates of the run whose lines came last."""
        return self._run.series

    def at(self, time: str) -> None:
        """The time of day of what comes next; its day is that of the measurement."""
        self.time, self.date = time, time[:10]

    def begin(self) -> None:
        """Another log starts: its first steps warm up."""
        self._run.spans.open()
        self.time = ""

    def take(self, event: Event) -> None:
        """One event."""
        if isinstance(event, Step):
            self._step(event)
        elif isinstance(event, Framework):
            self.frameworks[event.name] += 1
        elif isinstance(event, Peak):
            self._run.peak(event)
        elif isinstance(event, Retries):
            self._run.retries = max(event.count, self._run.retries)
        elif isinstance(event, Setting):
            self._setting(event)
        elif isinstance(event, Stall):
            self._run.stall(event.seconds)
        elif isinstance(event, Unread):
            self.unread += 1
        else:
            self._marked(event)

    def _marked(self, event: Begin | Foreign | Interruption) -> None:
        if isinstance(event, Begin):
            self._run.spans.begin()
        elif isinstance(event, Foreign):
            self.foreign[event.why if len(self.foreign) < FOREIGN else ""] += 1
        else:
            self._run.after = AFTER[event.kind]

    def _setting(self, event: Setting) -> None:
        """What a log prints of its run; what cannot be of the present one begins another."""
        run = self._run
        if event.name != "batch" and run.lines and run.printed.get(event.name, event.value) != event.value:
            self._run = Run()
            self._run.printed = dict(run.printed)
        self.settings[event.name] = event.value
        if event.name == "batch":
            self._batch = event.value  # a length that is printed after it may tell of another run
        else:
            self._run.printed[event.name] = event.value

    def _step(self, step: Step) -> None:
        self.lines += 1
        if not self._run.lines:
            self._known()
        if self._batch is not None:
            self._run.printed["batch"], self._batch = self._batch, None
        self._run.step(step, self.settings, self.time)

    def _known(self) -> None:
        """The first line of what may be another run: where its settings are those of one that was there before, it is that one."""
        fresh = self._run
        found = next((run for run in self.runs if run.alike(fresh.printed)), None)
        if found is None:
            self.runs.append(fresh)
            return
        found.spans.open()
        found.printed |= fresh.printed
        self._run = found

    def results(self) -> tuple[Measured, ...]:
        """What each run measured, in the order in which they began; nothing of those where no step told a rate."""
        framework = ", ".join(name for name, _ in self.frameworks.most_common())
        found = (run.result(framework, self.date) for run in self.runs)
        return tuple(self._told(one) for one in found if one is not None)

    def result(self) -> Measured | None:
        """What the run whose lines came last measured, beside how many steps were of another; None where no step told a rate."""
        others = sum(run.seen for run in self.runs if run is not self._run)
        framework = ", ".join(name for name, _ in self.frameworks.most_common())
        found = self._run.result(framework, self.date)
        if found is None:
            return None
        dropped = {**found.dropped, OTHER: others} if others else found.dropped
        return self._told(replace(found, dropped=dropped, steps_seen=found.steps_seen + others))

    def nothing(self) -> str:
        """Why nothing was measured."""
        lacking = sum(run.dropped[LACKING] for run in self.runs)
        if lacking:
            return f"{lacking} steps {LACKING}"
        if self.unread:
            return f"no line of a step could be read, the first is line {self.first_unread}"
        for why, count in self.foreign.most_common(1):
            return f"{count} {'line' if count == 1 else 'lines'} of steps without what measures: {why}"
        return "no line of a step was found"

    def _told(self, found: Measured) -> Measured:
        """With the lines that could not be read."""
        if not self.unread:
            return found
        where = "line" if self.unread == 1 else "the first is line"
        return replace(found, dropped={**found.dropped, f"not readable, {where} {self.first_unread}": self.unread})
