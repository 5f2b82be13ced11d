"""Findings G3 to G24 and P1, P3, P4: which rule of the layout is broken, and which number would be legal."""

from __future__ import annotations

from typing import Final

from trainplan.budgets.layout import layout_of, whole
from trainplan.budgets.legality.rules import broken_rules
from trainplan.budgets.legality.stages import filled_stages
from trainplan.budgets.model import PADDED
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure

MOST_BUBBLE: Final = 0.20
"""Bubble over ideal step time above which a plan whose utilization is assumed is in error."""


def legal_layout(estimate: Estimate) -> list[Finding]:
    """Every broken rule of the mesh as a finding."""
    layout = layout_of(estimate.situation, estimate.model.shape, estimate.mesh, estimate.tokens)
    return [
        Finding(rule.code, rule.severity, "parallelism", rule.message, rule.fix, rule.paths, 1e5)
        for rule in broken_rules(layout)
    ]


def bubble(estimate: Estimate) -> list[Finding]:
    """P3: a bubble above 10 % of the ideal step is a warning, above 20 % an error unless the utilization was measured with it."""
    if not isinstance(estimate.bubble, Figure) or estimate.bubble <= 0.10:
        return []
    assumed = estimate.plan.utilization.evidence == "assumed"
    severity = "error" if estimate.bubble > MOST_BUBBLE and assumed else "warning"
    message = f"the pipeline is idle for {100 * estimate.bubble:.1f} % of the ideal step"
    fix = "four microbatches a stage, fewer stages, or virtual stages"
    paths = ("parallelism.pipeline", "batch.global_batch_sequences", "parallelism.virtual_pipeline")
    return [Finding("P3", severity, "parallelism", message, fix, paths, 100 * float(estimate.bubble))]


def filled_pipeline(estimate: Estimate) -> list[Finding]:
    """P4: fewer microbatches than stages never fill the pipeline; where the framework refuses them, G13 says so."""
    count, stages = whole(estimate.tokens.microbatches), whole(estimate.situation["parallelism.pipeline"]) or 1
    if count is None or count >= stages:
        return []
    if any(filled_stages(layout_of(estimate.situation, estimate.model.shape, estimate.mesh, estimate.tokens))):
        return []
    message = f"{count} microbatch{'' if count == 1 else 'es'} for {stages} pipeline stages: some ranks always wait"
    paths = ("batch.global_batch_sequences", "parallelism.pipeline")
    return [Finding("P4", "warning", "parallelism", message, f"{stages} microbatches, better {4 * stages}", paths, 50)]


ROWS: Final = 128
"""Rows of a tensor rank's vocabulary that tensor cores divide without a rest: the divisor to which Megatron pads."""


ALIGNED: Final = 64
"""Rows without a rest on one rank: nanoPALM pull request 6 trained 4 % faster with 50,304 rows than with 50,257."""


def vocabulary_rows(estimate: Estimate) -> list[Finding]:
    """G14: a framework that does not pad leaves tensor ranks uneven rows (warning), or a rest to the tensor cores."""
    framework, tensor = estimate.plan.training.framework, whole(estimate.situation["parallelism.tensor"]) or 1
    rows = whole(estimate.model.shape.vocabulary)
    if framework in PADDED or rows is None or rows % (ROWS * tensor) == 0 or (tensor == 1 and rows % ALIGNED == 0):
        return []
    uneven, each = rows % tensor, rows / tensor
    held = (
        f"{-(-rows // tensor):,} and {rows // tensor:,} rows"
        if uneven
        else f"{each:,.0f} rows each, no multiple of {ROWS}"
    )
    place = f"on {tensor} tensor ranks is {held}" if tensor > 1 else f"is no multiple of {ALIGNED}"
    message = f"a vocabulary of {rows:,} {place}: {framework} does not pad"
    even = f"{-(-rows // tensor) * tensor:,} is even, " if uneven else ""
    fix = f"{even}vocab_size = {-(-rows // (ROWS * tensor)) * ROWS * tensor} is the next multiple of {ROWS} x tensor"
    paths = ("model.vocab_size", "parallelism.tensor")
    return [Finding("G14", "warning" if uneven else "info", "parallelism", message, fix, paths, 45 if uneven else 12)]


LEGALITY_CHECKS: Final = (legal_layout, bubble, filled_pipeline, vocabulary_rows)
