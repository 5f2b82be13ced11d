"""One's own failure rate from `sacct` text, in place of a published one.

Reads the output of `sacct --parsable2 --format=JobID,State,Start,End,NNodes` (other columns are ignored). Steps of a job are
left out. It counts jobs that a failure ended and the node-days of all; it cannot tell a user's mistake from a machine's,
so a state counts as a failure only where Slurm calls it one. Nor can it tell failures that come with nodes from those that come
whatever their number: all are in the rate, so that a plan that takes it has no fixed ones beside it. Lines that say nothing
usable are counted, never dropped.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, fsum, lgamma, log
from pathlib import Path
from typing import Final

from trainplan.quantity.unit import whole_number

FAILURES: Final = ("NODE_FAIL", "BOOT_FAIL", "FAILED", "OUT_OF_MEMORY")
"""States that end a job against its will. TIMEOUT, CANCELLED, PREEMPTED and COMPLETED end it as planned."""

NEEDED: Final = ("JobID", "State", "NNodes")
DAY: Final = 86400.0
TAIL: Final = 0.025
MANY: Final = 1_000
HEAD: Final = 4096
"""Bytes in which the header of sacct output stands."""


class SacctError(ValueError):
    """Text that is no parsable output of sacct, and what would be right."""


@dataclass(frozen=True, slots=True)
class OwnRate:
    """Failures that ended jobs, node-days, the rate for a node-day, and its 95 % range; `skipped` lines said too little.

    `states` counts every job by its state.
    """

    failures: int
    node_days: float
    rate: float
    low: float
    high: float
    states: Mapping[str, int]
    skipped: int


@dataclass(frozen=True, slots=True)
class _Job:
    state: str
    node_days: float


def is_sacct(file: str) -> bool:
    """Whether a regular file begins as `sacct --parsable2` prints; a pipe without a writer would never be opened."""
    if not os.path.isfile(file):
        return False
    try:
        with Path(file).open("rb") as opened:
            first = opened.read(HEAD).decode("utf-8", "replace").lstrip("\ufeff").split("\n", 1)[0]
    except OSError:
        return False
    return "|" in first and "JobID" in first.split("|")


def own_rate(text: str) -> OwnRate:
    """The rate of a whole output. Raises SacctError where the header or every line is unusable."""
    lines = [line for line in text.splitlines() if line.strip()]
    columns = _columns(lines)
    jobs = [
        _job(dict(zip(columns, line.split("|"), strict=False))) for line in lines[1:] if not _is_step(columns, line)
    ]
    known = [job for job in jobs if job is not None]
    node_days = sum(job.node_days for job in known)
    if node_days <= 0.0:
        raise SacctError("no job has nodes and a time. --format=JobID,State,Start,End,NNodes is right")
    failures = sum(job.state in FAILURES for job in known)
    low, high = poisson_range(failures)
    states: dict[str, int] = {}
    for job in known:
        states[job.state] = states.get(job.state, 0) + 1
    rate = failures / node_days
    return OwnRate(failures, node_days, rate, low / node_days, high / node_days, states, len(jobs) - len(known))


def _columns(lines: list[str]) -> list[str]:
    columns = lines[0].split("|") if lines else []
    missing = [name for name in NEEDED if name not in columns]
    if missing:
        raise SacctError(
            f"the header has no {', '.join(missing)}. sacct --parsable2 --format={','.join(NEEDED)},Start,End is right"
        )
    return columns


def _is_step(columns: list[str], line: str) -> bool:
    cells = line.split("|")
    place = columns.index("JobID")
    return place < len(cells) and "." in cells[place]


def _job(cells: Mapping[str, str]) -> _Job | None:
    """One job; None where it has no nodes or no time, as a job that never started."""
    words = cells.get("State", "").split()  # "CANCELLED by 1000"
    seconds, nodes = _seconds(cells), _nodes(cells.get("NNodes", ""))
    if not words or seconds is None or nodes is None:
        return None
    return _Job(words[0].rstrip("+"), nodes * seconds / DAY)


def _nodes(text: str) -> int | None:
    nodes = whole_number(text)
    return nodes if nodes and nodes < 10**7 else None


def _seconds(cells: Mapping[str, str]) -> float | None:
    """Time that a job ran: `ElapsedRaw` in seconds, else from `Start` to `End`."""
    raw = cells.get("ElapsedRaw", "")
    seconds = whole_number(raw)
    if seconds is not None:
        return float(seconds) or None
    try:
        start, end = (dt.datetime.fromisoformat(cells.get(name, "")) for name in ("Start", "End"))
        ran = (end - start).total_seconds()
    except (ValueError, TypeError):
        return None
    return ran if ran > 0 else None


def poisson_range(count: int) -> tuple[float, float]:
    """Means between which a Poisson count lies at 95 %: exact, by Garwood 1936; past `MANY` by the Wilson-Hilferty cube root."""
    if count > MANY:
        return _cube(count, -1.959964), _cube(count + 1, 1.959964)
    low = _mean(count - 1, 1.0 - TAIL) if count else 0.0
    return low, _mean(count, TAIL)


def _mean(count: int, share: float) -> float:
    """The mean at which a Poisson count is at most `count` with a probability of `share`."""
    low, high = 0.0, 2.0 * count + 20.0
    while high - low > 1e-9 * high:
        middle = (low + high) / 2.0
        low, high = (middle, high) if _at_most(count, middle) > share else (low, middle)
    return (low + high) / 2.0


def _at_most(count: int, mean: float) -> float:
    """The probability that a Poisson count is at most `count`."""
    return fsum(exp(k * log(mean) - mean - lgamma(k + 1.0)) for k in range(count + 1))


def _cube(shape: int, deviations: float) -> float:
    return shape * (1.0 - 1.0 / (9.0 * shape) + deviations / (3.0 * shape**0.5)) ** 3
