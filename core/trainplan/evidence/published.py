"""The evidence catalogue: published throughput rows as data, each with its source, and what a row says in other conventions.

It reads files and is therefore never asked for before the first screen stands. A row keeps tokens a second; utilization is always
worked out anew, because tables count FLOPs and peaks in different ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from trainplan.budgets.kernels import family_of
from trainplan.catalogue import Entry, entry, names
from trainplan.frozen import record

CONVENTIONS: Final = {"6n": "flop_6n", "causal": "flop_causal", "full": "flop_full", "hardware": "flop_causal"}
RECOMPUTE: Final = {"full": 4.0 / 3.0}
"""Factor of hardware FLOP over model FLOP where a run computed everything again."""


@record
class Run:
    """One published run. FLOP are of one token, by convention; rates are tokens a second of one accelerator."""

    name: str
    source: str
    title: str
    model: str
    accelerator: str
    precision: str
    accelerators: float
    sequence_length: float
    tokens_per_second: float
    step_time: float
    flops: Mapping[str, float]
    sparse: bool
    recompute: str
    verified: bool
    published: str
    fused: bool
    """Whether its experts are one kernel with their gate, in a step launched as one graph."""

    @property
    def family(self) -> str:
        """The family of its part."""
        return family_of(self.accelerator)

    def utilization(self, convention: str, peak: float) -> float:
        """Model FLOP utilization of the run by a convention and against a peak (FLOP/s)."""
        factor = RECOMPUTE.get(self.recompute, 1.0) if convention == "hardware" else 1.0
        return self.tokens_per_second * self.flops[convention] * factor / peak


@cache
def published_runs() -> tuple[Run, ...]:
    """Every published run with shapes, length and batch, in the order of the catalogue."""
    sources = (entry("evidence", name) for name in names("evidence"))
    return tuple(run for found in sources if found is not None and "row" in found.facts for run in _runs(found))


def _runs(found: Entry) -> list[Run]:
    rows: list[Mapping[str, Any]] = found["row"].value
    return [_run(found, row) for row in rows if "flop_causal" in row and row.get("tokens_per_second")]


def _run(found: Entry, row: Mapping[str, Any]) -> Run:
    return Run(
        name=str(row["id"]),
        source=found["row"].source,
        title=found.title,
        model=str(row["model"]),
        accelerator=str(row["accelerator"]),
        precision=precision_class(str(row["precision"])),
        accelerators=float(row["gpus"]),
        sequence_length=float(row["seq"]),
        tokens_per_second=float(row["tokens_per_second"]),
        step_time=float(row["step_time"]),
        flops={convention: float(row[key]) for convention, key in CONVENTIONS.items()},
        sparse=bool(row["sparse"]),
        recompute=str(row.get("recompute", "")).split(" ", maxsplit=1)[0],
        verified=found["row"].verified and bool(row.get("verified", True)),
        published=str(found["published"].value),
        fused=row.get("expert_kernels") == "fused",
    )


def precision_class(word: str) -> str:
    """16-bit, fp8, fp4 or fp32: what a precision's name means for speed."""
    lowered = word.lower()
    if "fp4" in lowered:
        return "fp4"
    if "fp8" in lowered:
        return "fp8"
    return "fp32" if lowered == "fp32" else "16-bit"


def converted_utilization(
    utilization: float, source_flops: float, plan_flops: float, source_peak: float, plan_peak: float
) -> float:
    """A utilization told by other FLOP of a token and another peak, at the same tokens a second."""
    return utilization * plan_flops / source_flops * source_peak / plan_peak
