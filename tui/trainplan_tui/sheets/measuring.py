"""What a log measured beside what the plan assumes; `enter` takes it as one edit, with its evidence.

The log is read on a thread, in bounded memory; the heading counts, and `esc` stops it.
"""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from trainplan.interop.calibration import Calibration, measurement_for
from trainplan.interop.calibration import written as with_measured
from trainplan.interop.logs.reading import LogError, read_log
from trainplan.interop.rungs import as_rung, rung_values
from trainplan.interop.stages import over_stages
from trainplan.plan.edit import Edited
from trainplan.plan.read import UnknownPath, Unusable, plan_of_text
from trainplan.plan.tree import SpliceError
from trainplan.quantity.unit import numbered
from trainplan.review.measuring import Measurement, with_checks
from trainplan_tui.background import Background
from trainplan_tui.sheets.listing import Listing, text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.folding import folded
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry

PAUSE: Final = 0.25
"""Seconds between two counts in the heading, at least."""
GIB: Final = 2.0**30


class Stopped(Exception):
    """The person stopped reading."""


class LogSheet(Listing):
    """One log: reading, then the measurement, then taken or left."""

    word = "log"

    def __init__(self, host: Host, path: Path, rung: str) -> None:
        super().__init__(host.glyphs)
        self.host, self.path, self.rung = host, path, rung
        self.found: Calibration | None = None
        self.values: dict[str, float] = {}
        self.wrong, self.share, self._told = "", 0.0, 0.0
        self.lets_go = False  # a log that is being read is stopped, not left behind
        self.background: Background[Calibration | str] = Background(self._take)
        self.background.attach()
        self.background.ask(self, self._read)

    @property
    def name(self) -> str:
        """The log as evidence names it: its path from the plan's folder."""
        return os.path.relpath(self.path, self.host.session.path.parent)

    def _read(self) -> Calibration | str:
        """On the thread: the whole log, or the sentence that says why not."""
        figures, today = self.host.session.shown.estimate, dt.date.today()
        measurement = measurement_for(figures, self.rung)
        try:
            read_log(self.path, measurement, self._progress)
        except LogError as error:
            return str(error)
        except Stopped:
            return "stopped"
        measured = measurement.results()
        if not measured:
            return f"{self.name}: {measurement.nothing()}"
        return over_stages(figures, measured, self.name, today, self.rung)

    def _progress(self, done: int, size: int) -> None:
        if not self.background.asks(self):
            raise Stopped
        if time.monotonic() - self._told >= PAUSE:
            self._told = time.monotonic()
            share = done / size if size else 1.0
            self.background.tell(self, lambda: self._count(share))

    def _count(self, share: float) -> None:
        self.share = share
        self.host.paint()

    def _take(self, answer: Calibration | str) -> None:
        """On the app's loop: what was measured."""
        self.lets_go = True
        if isinstance(answer, str):
            self.wrong = answer
        else:
            plan = self.host.session.shown.estimate
            self.found = as_rung(plan, answer, self.rung)
            self.values = rung_values(plan, answer, self.rung) if self.rung else {}
        self.host.paint()

    def title(self) -> str:
        """The log, and how far it is read."""
        if self.found is None and not self.wrong:
            return f"{self.name}: {100 * self.share:.0f} % read, esc stops"
        return f"{self.name}{f', rung {self.rung}' if self.rung else ''}"

    def items(self, width: int) -> Sequence[Line]:
        """Measured beside planned, then what would be written."""
        if self.wrong:
            return [text_line(line, width, self.glyphs) for line in _wrapped(self.wrong, width)]
        if self.found is None:
            return [text_line("reading", width, self.glyphs)]
        return [*self._measured(self.found, width), *self._written(self.found, width)]

    def _measured(self, found: Calibration, width: int) -> list[Line]:
        one, planned = found.measured, found.planned
        memory = "memory_reserved" if one.peak_reserved else "memory_allocated"
        rows = (
            ("", "plan", "measured"),
            ("tokens/s/accelerator", *_pair(planned["tokens_per_second_per_accelerator"], one.rate, "{:,.0f}")),
            ("utilization", *_pair(planned["utilization"], found.utilization, "{:.3f}")),
            ("step time, s", *_pair(planned["step_time"], found.step_time, "{:,.4g}")),
            ("peak memory, GiB", *_pair(_gib(planned[memory]), _gib(one.peak), "{:,.2f}")),
            ("checkpoint stall, s", *_pair(planned["checkpoint_stall"], one.stall, "{:,.4g}")),
        )
        lines = [self._row(*row, width) for row in rows if row[2] != "-"]
        told = f"{one.framework}, {one.steps_used} of {one.steps_seen} steps used, {one.spread()}"
        return [*lines, *(text_line(line, width, self.glyphs) for line in _wrapped(told, width))]

    def _row(self, name: str, planned: str, measured: str, width: int) -> Line:
        canvas = Canvas(width, self.glyphs)
        canvas.put(4, name, "dim", end=26)
        canvas.right(41, planned)
        canvas.right(58, measured, bold=True)
        return canvas.line()

    def _written(self, found: Calibration, width: int) -> list[Line]:
        notes = [
            text_line(f"{' ' if index else '!'} {line}", width, self.glyphs, 2)
            for note in found.notes
            for index, line in enumerate(_wrapped(note, width))
        ]
        edits = [text_line(f"{path} = {value}", width, self.glyphs) for path, value in found.edits.items()]
        rung = [
            text_line(f"pilot.{self.rung}: {name} = {value:.6g}", width, self.glyphs)
            for name, value in self.values.items()
        ]
        if not self._writes(found):
            return [*notes, *(text_line(line, width, self.glyphs, 2) for line in _wrapped(self._nothing(), width))]
        return [*notes, text_line("enter writes", width, self.glyphs, 2), *edits, *rung]

    def _writes(self, found: Calibration) -> bool:
        """Whether there is anything to take: fields of the plan, or checks of the rung."""
        return bool(found.edits or self.values)

    def _nothing(self) -> str:
        """Why `enter` would write nothing, and where the log counts."""
        if self.rung:
            return (
                f"rung {self.rung} takes nothing from this log; L on a later rung or in 3 Compute takes it for the plan"
            )
        return "the log measured nothing that a field of the plan takes"

    def take(self, key: str, character: str | None) -> None:
        """Take what was measured, move, or leave."""
        if key == "esc":
            self.background.forget()
            self.host.close_sheet()
        elif key == "enter" and self.found is not None:
            if self._writes(self.found):
                self._taken(self.found)
            else:
                self.host.message = self._nothing()
        else:
            self.move(key, self.drawn)

    def _taken(self, found: Calibration) -> None:
        session = self.host.session
        present = session.history.now
        try:
            text = with_measured(present.text, present.plan, found)
            after = Edited(text, plan_of_text(text, session.path.name))
            if self.values:
                checks = {name: Measurement(value, self.name) for name, value in self.values.items()}
                after = with_checks(after.text, after.plan, self.rung, checks, session.path.name)
        except (Unusable, UnknownPath, SpliceError) as error:
            self.wrong = error.errors[0].message if isinstance(error, Unusable) else str(error)
            self.found = None
            return
        self.host.close_sheet()
        moved = session.commit(after, f"log {self.name}")
        values = numbered(len(found.edits) + len(self.values), "value")
        self.host.message = f"{self.name} taken: {values}, {numbered(moved, 'number')} moved"

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        take = [Entry("enter", "take it")] if self.found is not None and self._writes(self.found) else []
        return [*take, Entry("esc", "back" if self.found is not None or self.wrong else "stop")]


def _wrapped(text: str, width: int) -> list[str]:
    return folded(text, width - 8)


def _pair(planned: float | None, measured: float | None, style: str) -> tuple[str, str]:
    told = ["-" if value is None else style.format(value) for value in (planned, measured)]
    return told[0], told[1]


def _gib(value: float | None) -> float | None:
    return None if value is None else value / GIB
