"""One step from its layers: pipeline, imbalance, bubble, optimizer, stragglers, and the utilization that the step is.

Every formula is of one step of one accelerator. Data loading and checkpoint stalls are not counted; allowances would be guesses.
"""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import ceil, floor, log2, maximum, power, where

MODEL = "step-time model fitted on published rows, catalogue/evidence"
DEFINITION = "definition"


@formula("1", source=DEFINITION)
def share_of(part: float, whole: float) -> float:
    """A part of a step as a share of it."""
    return part / whole


@formula("s", source=DEFINITION)
def layers_time(dense_layers: float, dense: float, expert_layers: float, expert: float) -> float:
    """A part summed over all layers of the model, dense and with experts."""
    return dense_layers * dense + expert_layers * expert


@formula("s", source=DEFINITION)
def rank_time(whole: float, microbatches: float, pipeline: float) -> float:
    """A part of one microbatch on the mean pipeline rank, times the microbatches of a step."""
    return whole * microbatches / pipeline


@formula("s", source=DEFINITION)
def mean_stage(layers: float, head: float, pipeline: float) -> float:
    """One microbatch on the mean pipeline rank: all layers and the head over the ranks."""
    return (layers + head) / pipeline


@formula("s", source=MODEL)
def slowest_stage(all_layers: float, layers: float, head: float, pipeline: float) -> float:
    """One microbatch on the slowest rank: even stages and the head, or both ends one layer short, never below the mean.

    One rank alone is the mean, to the last bit: its layers are not divided and summed up again.
    """
    each = all_layers / layers
    most = ceil(layers / pipeline)
    ended = floor((layers + 2.0) / pipeline)
    even = layers - floor(layers / pipeline) * pipeline == 0.0
    short = layers + 2.0 - ended * pipeline == 0.0
    uneven = where(short, ended, most)
    worst = where(even, most * each + head, maximum(uneven * each, (uneven - 1.0) * each + head))
    return maximum(where(pipeline > 1.0, worst, 0.0), (all_layers + head) / pipeline)


@formula("s", source=MODEL)
def ended_stage(
    all_layers: float, layers: float, first: float, last: float, middle: float, head: float, pipeline: float
) -> float:
    """The slowest rank where the plan says the layers of its ends; `middle` is the most of the others."""
    worst = maximum(maximum(first, middle) * all_layers / layers, last * all_layers / layers + head)
    return maximum(where(pipeline > 1.0, worst, 0.0), (all_layers + head) / pipeline)


@formula("s", source=DEFINITION)
def imbalance_time(slowest: float, mean: float, microbatches: float) -> float:
    """Time that every other rank waits for the slowest, over a step."""
    return (slowest - mean) * microbatches


@formula("s", source=DEFINITION)
def bubble_time(bubble: float, mean: float, microbatches: float) -> float:
    """Idle time of the pipeline: bubble / ideal, times the ideal time of a step."""
    return bubble * mean * microbatches


@formula(
    "bytes",
    source="Megatron-LM docs dist_optimizer.md for what there is of a parameter; 30 with AdamW and an fp32 master copy, as fitted",
)
def optimizer_bytes(gradient: float, master: float, count: float, moment: float, weight: float) -> float:
    """Bytes that an update moves of one parameter: its gradient read, master copy and moments read and written, weight written."""
    return gradient + 2.0 * (master + count * moment) + weight


@formula("s", source=MODEL)
def optimizer_time(
    parameters: float, experts: float, ranks: float, expert_ranks: float, each: float, memory: float
) -> float:
    """Optimizer step of the parameters that this rank updates; an optimizer's own products are not counted."""
    return each * (parameters / ranks + experts / expert_ranks) / memory


@formula("s", source="allowance of the step-time study, section 4.2, counted over replicas: checked on published rows")
def straggler_time(step: float, growth: float, domains: float) -> float:
    """Allowance for the slowest: the growth at each doubling of the domains whose replicas of one stage meet in a step.

    Accelerators of one domain, and stages that wait for each other in every microbatch, are slow together in what was fitted.
    """
    return step * growth * log2(maximum(1.0, domains))


@formula("s", source="residuals of sources left out of the fit, catalogue/evidence")
def time_below(step: float, factor: float) -> float:
    """Lower edge of the 80 % range: step time over the factor within which such predictions lie."""
    return step / factor


@formula("s", source="residuals of sources left out of the fit, catalogue/evidence")
def time_above(step: float, factor: float) -> float:
    """Upper edge of the 80 % range: step time times the factor within which such predictions lie."""
    return step * factor


@formula("1", source="Chowdhery et al. 2022, arXiv 2204.02311, appendix B: model FLOP utilization", verified=False)
def utilization_of_time(flops_per_token: float, step_tokens: float, world: float, peak: float, step: float) -> float:
    """Model FLOP of one step / (accelerators x peak x step time), by the plan's convention."""
    return flops_per_token * step_tokens / (world * peak * step)


@formula("1", source="Chowdhery et al. 2022, arXiv 2204.02311, appendix B: model FLOP utilization", verified=False)
def utilization_of_run(flops: float, world: float, peak: float, time: float) -> float:
    """Model FLOP of all steps / (accelerators x peak x their time), by the plan's convention."""
    return flops / (world * peak * time)


@formula("1", source="one-row calibration in the step-time study: half for dense models, three quarters with experts")
def calibration_factor(measured: float, predicted: float, trust: float) -> float:
    """What a measured step changes of predictions for its neighbours: (measured / predicted) to the power of the trust."""
    return power(measured / predicted, trust)


@formula("s", source=DEFINITION)
def repeated_time(time: float, count: float) -> float:
    """A time that comes several times."""
    return time * count


@formula("s", source=DEFINITION)
def whole_time(step: float, microbatches: float, pipeline: float) -> float:
    """A step's part of the mean rank, told for one microbatch over all ranks."""
    return step * pipeline / microbatches
