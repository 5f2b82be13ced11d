"""One command prints how far the ledger is from published memory: `PYTHONPATH=core python tests/golden/memory_table.py`.

Like is compared with like: allocated, reserved, what the driver shows. No row is tuned; memory_plans.py states the settings
of each source once. With `--rows` every row is printed.
"""

from __future__ import annotations

import statistics
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from memory_plans import GIB, Row, estimated

DATA = tomllib.loads(Path(__file__).with_name("memory.toml").read_text(encoding="utf-8"))
ROWS: list[Row] = DATA["row"]
SUSPECT: dict[str, str] = DATA["suspect"]

MEASURES = (
    ("simumax", "allocated", "value"),
    ("simumax", "reserved", "reserved_gib"),
    ("torchtitan", "reserved", "value"),
    ("bloom", "total", "value"),
)
"""Source, what it reads, and the row's field."""


@dataclass(frozen=True)
class Comparison:
    """One measured row: what was measured and estimated (GiB), the error, and whether the band holds it."""

    id: str
    measured: float
    estimated: float
    inside: bool

    @property
    def error(self) -> float:
        return self.estimated / self.measured - 1.0


def compared(source: str, reading: str, field: str) -> list[Comparison]:
    """Every measured row of a source, without those that cannot be true."""
    found: list[Comparison] = []
    for row in ROWS:
        if row["source"] != source or row.get("kind") or row["id"] in SUSPECT:
            continue
        memory = estimated(row).memory
        value, measured = float(getattr(memory, reading)), float(row[field])
        low, high = (float(edge) / float(memory.total) for edge in (memory.total_low, memory.total_high))
        found.append(Comparison(row["id"], measured, value / GIB, low <= measured * GIB / value <= high))
    return found


def feasibility() -> list[tuple[Row, bool, float]]:
    """Every fact that something ran or did not: the row, whether the ledger says it fits, and the share of usable."""
    facts = [row for row in ROWS if row.get("kind") == "feasibility"]
    memories = [(row, estimated(row).memory) for row in facts]
    return [(row, bool(memory.total <= memory.usable), float(memory.total / memory.usable)) for row, memory in memories]


def cells() -> list[Row]:
    """The largest microbatch that ran, for each model, part, length and mode up to 16 accelerators."""
    largest: dict[tuple[object, ...], Row] = {}
    for row in ROWS:
        if row["source"] == "llmf" and row["gpus"] <= 16:
            key = tuple(
                row[name] for name in ("model", "device", "seq", "gpus", "precision", "mp_mode", "fsdp", "recompute")
            )
            if key not in largest or row["mbs"] > largest[key]["mbs"]:
                largest[key] = row
    return list(largest.values())


def doubled() -> list[bool]:
    """Whether doubling the largest microbatch that ran is called too much, for each cell."""
    memories = [estimated(row, 2 * int(row["mbs"])).memory for row in cells()]
    return [bool(memory.total > memory.usable) for memory in memories]


def ninth(values: list[float]) -> float:
    """The value that nine of ten do not exceed."""
    return statistics.quantiles(values, n=10, method="inclusive")[8]


def main() -> None:
    """Print the table."""
    print(f"{'source':<12}{'reading':<11}{'rows':>5}{'median':>9}{'P90':>8}{'most':>8}{'signed':>9}{'in band':>9}")
    for source, reading, field in MEASURES:
        found = compared(source, reading, field)
        errors = [abs(one.error) for one in found]
        inside = sum(one.inside for one in found) / len(found)
        print(
            f"{source:<12}{reading:<11}{len(found):>5}{statistics.median(errors):>9.2%}{ninth(errors):>8.2%}"
            f"{max(errors):>8.2%}{statistics.mean(one.error for one in found):>+9.2%}{inside:>9.0%}"
        )
        for one in found if "--rows" in sys.argv else ():
            print(f"    {one.error:>+8.2%} {one.measured:>8.2f} {one.estimated:>8.2f} GiB  {one.id}")
    facts, too_much = feasibility(), doubled()
    right = sum(fits == row["fits"] for row, fits, _ in facts)
    failed = [(row, fits) for row, fits, _ in facts if not row["fits"]]
    print(
        f"fits or not: {right} of {len(facts)} right; ran out of memory: {sum(not fits for _, fits in failed)} of {len(failed)}"
    )
    for row, fits, share in facts:
        if fits != row["fits"]:
            print(f"    wrong: {row['id']} at {share:.2f} of usable")
    print(f"twice the largest microbatch is too much: {sum(too_much)} of {len(too_much)}")


if __name__ == "__main__":
    main()
