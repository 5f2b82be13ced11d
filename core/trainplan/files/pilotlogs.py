"""The logs that rungs name as evidence: there, readable, what they measured beside the plan, and what they ran.

Read to a limit of bytes and time. Another scale than the plan's is told and not judged.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import zlib
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from trainplan.estimation import Estimate, estimate
from trainplan.files.bounded import Unread, opened
from trainplan.files.looks import Asked, Found, Look, Verdict, looked
from trainplan.interop.logs.lines import LogError, text_of
from trainplan.interop.logs.measured import Measured, Measurement
from trainplan.interop.logs.reading import read_log
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import whole_number
from trainplan.review.pilotruns import LIKE_FULL, PilotRun

if TYPE_CHECKING:
    from trainplan.interop.calibration import Calibration

FILE_LIMIT: Final = 2 * 2**30  # bytes
HEAD: Final = 8_000_000  # bytes in which a log says its settings
WORST: Final[tuple[Verdict, ...]] = ("failed", "unknown", "passed")
SLOWEST: Final = 0.95
"""Tokens a second of the plan's that a measured rate keeps: the project's notes on item measured."""

_TOTAL: Final = (
    re.compile(r"\biteration\s+\d+\s*/\s*(\d+)"),
    re.compile(r"\btotal steps (\d+)"),  # torchtitan: "Training starts at step 1 ... total steps 1000"
    re.compile(r"\[step=\d+/(\d+)"),
)
_MOCK: Final = re.compile(r"^\W*(?:\w+:)?\s*mock_data \.{2,} True", re.MULTILINE)
_PATHS: Final = re.compile(r"^\W*(?:\w+:)?\s*data_path \.{2,} \[(.*)\]", re.MULTILINE)
_PREPARED: Final = re.compile(r"Preparing (\S+) dataset from")
_TEST_SETS: Final = ("c4_test", "c4_validation")
"""Data sets that torchtitan ships for tests: hf_datasets/text_datasets.py of 0.3.0."""


def rung_logs(plan: Plan) -> list[tuple[str, str]]:
    """(rung, path) of every evidence file that a rung's checks name, each once."""
    return list(
        dict.fromkeys((rung.rung or "", one.evidence) for rung in plan.pilot for one in rung.checks if one.evidence)
    )


def log_looks(asked: Asked) -> list[Look]:
    """Each evidence file of the rungs; one that serves several is judged for the last of them."""
    named = {path: rung for rung, path in rung_logs(asked.plan)}
    return [
        Look("measured", f"log {path}", path, lambda rung=rung, path=path: _log(asked, rung, path))
        for path, rung in named.items()
    ]


def pilot_runs(folder: Path, plan: Plan, limit: float = 10.0) -> tuple[PilotRun, ...]:
    """What the logs of the rungs say that they ran; a log that cannot be read in time says nothing."""
    found: list[PilotRun] = []

    def look(rung: str, path: str) -> Found | None:
        found.append(settings_of(rung, path, _start(folder / path)))
        return None

    named = [(rung, path) for rung, path in rung_logs(plan) if rung in LIKE_FULL]
    looked(folder, [Look("", "", "", lambda one=one: look(*one)) for one in named], limit)
    return tuple(found)


def _start(path: Path) -> str:
    with opened(path, FILE_LIMIT):
        pass
    with path.open("rb") as file:
        try:
            return text_of(file, path).read(HEAD).decode("utf-8", "replace")
        except (LogError, OSError, EOFError, zlib.error):
            return ""


def settings_of(rung: str, log: str, text: str) -> PilotRun:
    """Steps, mock data and data sets as Megatron-LM, torchtitan and OLMo-core print them."""
    printed = (whole_number(found[1]) for one in _TOTAL if (found := one.search(text)))
    totals = [total for total in printed if total is not None]
    prepared = tuple(dict.fromkeys(_PREPARED.findall(text)))
    paths = _PATHS.search(text)
    words = re.findall(r"'([^']*)'", paths[1]) if paths else []
    data = tuple(word for word in words if not re.fullmatch(r"[\d.eE+-]+", word))  # weights stand between paths
    mock = bool(_MOCK.search(text)) or any(name in _TEST_SETS for name in prepared)
    return PilotRun(rung, log, totals[0] if totals else None, mock, data)


def _log(asked: Asked, rung: str, path: str) -> Found:
    """What a log measured, each run of it; of a rung like the full run, beside the rate that the plan has for its length."""
    from trainplan.interop.calibration import calibration, measurement_for

    figures = estimate(asked.plan)
    measured = _measured(asked, measurement_for(figures, rung), path)
    if not measured:
        return "unknown", "there; it is no log of steps that is known here"
    day = asked.now.date() if asked.now else dt.date.min
    found = [_beside(figures, calibration(figures, one, path, day, rung), rung) for one in measured]
    verdicts = {verdict for verdict, _ in found}
    return next(verdict for verdict in WORST if verdict in verdicts), "; ".join(told for _, told in found)


def _beside(figures: Estimate, found: Calibration, rung: str) -> tuple[Verdict, str]:
    """One run of a log beside the plan: the verdict, and what is said of it."""
    measured, rate, world = found.measured, found.ran.rate, figures.mesh.world_size
    told = f"{measured.counted()}, {measured.rate:,.0f} tokens/s a device, {measured.spread()}"
    if measured.peak is not None:
        told += f", peak {measured.peak / 2**30:.1f} GiB"
    if rung not in LIKE_FULL or rate is None or not isinstance(world, Figure) or (found.ran.world or world) != world:
        return "passed", told
    if not found.stands:
        return "unknown", f"{told}: {found.ran.refused or f'{found.utilization:.3f} of the peak cannot be'}"
    if found.own:
        return "passed", f"{told}: the plan's utilization is from it"
    verdict: Verdict = "failed" if measured.rate / rate < SLOWEST else "passed"
    return verdict, f"{told}: {measured.rate / rate:.3f} of the plan's rate"


def _measured(asked: Asked, measurement: Measurement, path: str) -> tuple[Measured, ...]:
    whole, end = asked.path(path), monotonic() + 2 * asked.limit
    with opened(whole, FILE_LIMIT) as descriptor:
        if not os.read(descriptor, 1):
            raise Unread("failed", f"{path} is empty")

    def hasten(done: int, size: int) -> None:
        if monotonic() > end:
            raise Unread("unknown", f"{path}: {done:,} of {size:,} bytes read in time")

    try:
        read_log(whole, measurement, hasten)
    except LogError:
        return ()
    return measurement.results()
