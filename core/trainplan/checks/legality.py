"""Findings G3 to G24 and P1, P3, P4: which rule of the layout is broken, and which number would be legal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainplan.budgets.layout import Broken, Layout, layouts_of, named, whole
from trainplan.budgets.legality.rules import broken_rules
from trainplan.budgets.legality.stages import filled_stages
from trainplan.budgets.model import PADDED
from trainplan.budgets.stretches import At, places, run_bubble
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure

MOST_BUBBLE: Final = 0.20
"""Bubble over ideal step time above which a plan whose utilization is assumed is in error."""


def legal_layout(estimate: Estimate) -> list[Finding]:
    """Every broken rule of the mesh as a finding; one that only some stretches of the run break names them.

    What only the smaller batches of a ramp break is a warning: published ramps ran there on fewer accelerators or in another
    layout, and a plan has one.
    """
    layouts = _layouts(estimate)
    broken: dict[tuple[str, str], list[tuple[str, Broken]]] = {}
    for where, layout in layouts:
        for rule in broken_rules(layout):
            broken.setdefault((rule.code, rule.reason), []).append((where, rule))
    found: list[Finding] = []
    for told in broken.values():
        rule, names = told[0][1], [where for where, _ in told]
        ramp = not estimate.plan.data.stages and layouts[0][0] not in names
        message = rule.message if len(told) == len(layouts) else f"{', '.join(names)}: {rule.message}"
        fix = f"{rule.fix}, or another layout until then" if ramp else rule.fix
        severity = "warning" if ramp else rule.severity
        found.append(Finding(rule.code, severity, "parallelism", message, fix, rule.paths, 60 if ramp else 1e5))
    return found


def _layouts(estimate: Estimate) -> tuple[tuple[str, Layout], ...]:
    return layouts_of(estimate.situation, estimate.model.shape, estimate.mesh, estimate.tokens)


def bubble(estimate: Estimate) -> list[Finding]:
    """P3: a bubble above 10 % of the ideal time is a warning, above 20 % an error unless the utilization was measured with it.

    Where length or batch change on the way it is the whole run's, and the stretch that idles most is named.
    """
    here = (estimate.situation, estimate.mesh, estimate.tokens, estimate.speed)
    idle = run_bubble(*here)
    if not isinstance(idle, Figure) or idle <= 0.10:
        return []
    assumed = estimate.plan.utilization.evidence == "assumed"
    severity = "error" if idle > MOST_BUBBLE and assumed else "warning"
    at = places(*here)
    told = "step" if len(at) == 1 else f"run, {_most_idle(estimate, at)}"
    message = f"the pipeline is idle for {100 * idle:.1f} % of the ideal {told}"
    fix = "four microbatches a stage, fewer stages, or virtual stages"
    paths = ("parallelism.pipeline", "batch.global_batch_sequences", "parallelism.virtual_pipeline")
    return [Finding("P3", severity, "parallelism", message, fix, paths, 100 * float(idle))]


def _most_idle(estimate: Estimate, at: Mapping[int, At]) -> str:
    place = max(at, key=lambda place: float(at[place].bubble) if isinstance(at[place].bubble, Figure) else 0.0)
    return f"{100 * at[place].bubble:.1f} % in {named(estimate.situation, estimate.tokens.stretches[place])}"


def filled_pipeline(estimate: Estimate) -> list[Finding]:
    """P4: fewer microbatches than stages never fill the pipeline; where the framework refuses them, G13 says so."""
    stages, layouts = whole(estimate.situation["parallelism.pipeline"]) or 1, _layouts(estimate)
    short = [(where, one) for where, one in layouts if one.microbatches is not None and one.microbatches < stages]
    if not short or any(any(filled_stages(one)) for _, one in short):
        return []
    where, count = short[0][0], short[0][1].microbatches
    at = f"{where}: " if len(layouts) > 1 else ""
    message = f"{at}{count} microbatch{'' if count == 1 else 'es'} for {stages} pipeline stages: some ranks always wait"
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
