"""What logs measured beside what the plan assumes, and the one edit that writes it there with its evidence.

Utilization is worked out anew from tokens a second by the plan's convention and peak, with the layers that ran; a printed TFLOP/s
is never used for it, only against it. A value that cannot be, such as a utilization above 1, or of another model, is said and not
written. Nothing is written that the log did not measure.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainplan.estimation import Estimate
from trainplan.formulas import steptime as f
from trainplan.interop.logs.measured import ENOUGH, STEADY, Measured, Measurement
from trainplan.interop.ran import Ran, ran, rung_estimate, same_model
from trainplan.plan.edit import resolve
from trainplan.plan.literals import literal_of
from trainplan.plan.plan import Plan
from trainplan.plan.splice import set_value
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import numbered

TRUST: Final = {False: 0.5, True: 0.75}
"""How far one measured row moves predictions for other layouts, dense and with experts: step-time study, section 5.4."""

CHANGE: Final = 0.05
PLAUSIBLE: Final = (0.3, 3.0)
"""Measured over estimated peak outside which the log is of another layout."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """A measurement beside the plan: utilization by the plan's convention, ratios to estimates, edits by path, notes."""

    measured: Measured
    planned: Mapping[str, float | None]
    utilization: float | None
    step_time: float | None
    predicted_ratio: float | None
    factor: float | None
    evidence: str
    edits: Mapping[str, Any]
    notes: tuple[str, ...]


def measurement_for(estimate: Estimate) -> Measurement:
    """A measurement whose batch, length and world are the plan's where a log does not print its own."""
    last = estimate.tokens.stretches[-1]
    return Measurement(
        _plain(last.global_batch_sequences), _plain(last.sequence_length), _plain(estimate.mesh.world_size)
    )


def calibration(estimate: Estimate, measured: Measured, names: str, today: dt.date, rung: str = "") -> Calibration:
    """A measurement beside the plan. `names` are the logs, as the evidence will name them; `rung` is the one they are of, or ""."""
    run, notes = ran(estimate, measured, rung), list[str]()
    use, step = (
        (None, None) if run.refused else (_utilization(estimate, measured, run), _step_time(estimate, measured, run))
    )
    predicted = _plain(estimate.step.predicted_step_time)
    alike = _same_world(estimate, measured) and run.whole
    ratio = step / predicted if step and predicted and alike else None
    sparse = estimate.model.shape.expert_layers is not None
    edits = {} if run.refused else _claim(estimate, measured, use, run, names, today, notes)
    notes.extend((*run.doubts, run.refused) if run.refused else run.doubts)
    peak = _memory_ratio(estimate, measured, run, rung, notes)
    edits |= {} if peak is None else {"memory.calibration": float(f"{peak:.4g}")}
    edits |= _stall(estimate, measured, notes)
    notes.extend(_doubts(estimate, measured, use))
    return Calibration(
        measured,
        _planned(estimate),
        use,
        step,
        ratio,
        None if ratio is None else f.calibration_factor(ratio, 1.0, TRUST[sparse]),
        evidence_of(estimate, measured),
        edits,
        tuple(notes),
    )


def _plain(value: object) -> float | None:
    return float(value) if isinstance(value, Figure) else None


def _planned(estimate: Estimate) -> dict[str, float | None]:
    return {
        "tokens_per_second_per_accelerator": _plain(estimate.speed.tokens_per_second_per_accelerator),
        "utilization": _plain(estimate.speed.utilization),
        "step_time": _plain(estimate.speed.step_time),
        "predicted_step_time": _plain(estimate.step.predicted_step_time),
        "memory_reserved": _plain(estimate.memory.reserved),
        "memory_allocated": _plain(estimate.memory.allocated),
        "checkpoint_stall": _plain(estimate.checkpoint.checkpoint_stall),
    }


def _utilization(estimate: Estimate, measured: Measured, run: Ran) -> float | None:
    """Rate x FLOP of a token by the plan's convention, at the length and with the layers that ran / peak."""
    flops, peak = _plain(run.estimate.speed.flops_per_token), _plain(estimate.speed.peak_flops)
    return None if flops is None or peak is None else measured.rate * flops / peak


def _step_time(estimate: Estimate, measured: Measured, run: Ran) -> float | None:
    """Time of a step of the plan at the measured rate; at another length or with fewer layers, at the measured utilization."""
    tokens, world = _plain(estimate.tokens.global_batch_tokens), _plain(estimate.mesh.world_size)
    if tokens is None or world is None:
        return None
    flops, planned = _plain(run.estimate.speed.flops_per_token), _plain(estimate.speed.flops_per_token)
    return tokens / (measured.rate * world) * (planned / flops if flops and planned else 1.0)


def _length(estimate: Estimate) -> float | None:
    return _plain(estimate.tokens.stretches[-1].sequence_length)


def _same_world(estimate: Estimate, measured: Measured) -> bool:
    return measured.world is None or measured.world == _plain(estimate.mesh.world_size)


def evidence_of(estimate: Estimate, measured: Measured) -> str:
    """The rung of the evidence: measured here, at an eighth of the scale or more, or below that."""
    world = _plain(estimate.mesh.world_size)
    if measured.world is None or world is None or measured.world >= world:
        return "measured-here"
    return "measured-scaled" if measured.world >= world / 8.0 else "measured-node"


def _claim(
    estimate: Estimate, measured: Measured, use: float | None, run: Ran, names: str, today: dt.date, notes: list[str]
) -> dict[str, Any]:
    if use is None:
        notes.append("utilization needs a model, a length and an accelerator; nothing of it is written")
        return {}
    if use >= 1.0:
        notes.append(
            f"{use:.3f} of the peak cannot be. Wrong batch, length or world: {measured.rate:,.0f} tokens/s a device"
        )
        return {}
    day = dt.date.fromisoformat(measured.date) if measured.date else today
    found: dict[str, Any] = {
        "utilization.value": float(f"{use:.4g}"),
        "utilization.evidence": evidence_of(estimate, measured),
        "utilization.source": _source(measured, run, names),
        "utilization.date": day,
    }
    claim = estimate.plan.utilization
    if claim.low is not None and claim.high is not None:
        found["utilization.low"] = float(f"{min(use, use * measured.rate_low / measured.rate):.4g}")
        found["utilization.high"] = float(f"{min(0.9999, max(use, use * measured.rate_high / measured.rate)):.4g}")
    return found


def _source(measured: Measured, run: Ran, names: str) -> str:
    parts = [
        f"{names}, {measured.framework}",
        measured.counted(),
        f"{measured.rate:,.0f} tokens/s a device",
    ]
    if measured.world is not None:
        parts.append(numbered(measured.world, "device"))
    if not run.whole:
        parts.append(numbered(run.layers or 0.0, "layer"))
    if measured.peak is not None:
        parts.append(f"{'reserved' if measured.peak_reserved else 'allocated'} peak {measured.peak / 2**30:.2f} GiB")
    if measured.stall is not None:
        parts.append(f"stall {measured.stall:.2f} s over {measured.saves} saves")
    return ", ".join(parts)


def _memory_ratio(estimate: Estimate, measured: Measured, run: Ran, rung: str, notes: list[str]) -> float | None:
    """Measured peak over the estimated one of just what ran: the plan, or the exported run of its rung."""
    if measured.peak is None:
        return None
    same = _same_world(estimate, measured) and same_model(estimate, measured, run)
    of_rung = rung_estimate(estimate, measured, run, rung)
    ledger = (of_rung or estimate).memory
    estimated = _plain(ledger.reserved if measured.peak_reserved else ledger.allocated)
    if estimated is None:
        notes.append("the plan has no memory estimate to calibrate")
        return None
    ratio = measured.peak / estimated
    if not (same or of_rung) or not PLAUSIBLE[0] <= ratio <= PLAUSIBLE[1]:
        notes.append(
            f"peak memory is {ratio:.2f} of the plan's, on another layout, length or scale; memory.calibration is left alone"
        )
        return None
    return ratio


def _stall(estimate: Estimate, measured: Measured, notes: list[str]) -> dict[str, Any]:
    if measured.stall is None:
        return {}
    if not estimate.plan.storage.async_checkpoint:
        notes.append(
            f"saves stall {measured.stall:.2f} s, bandwidth and floor together; storage.checkpoint_floor is left alone"
        )
        return {}
    return {"storage.checkpoint_floor": f"{measured.stall:.4g}s"}


def _doubts(estimate: Estimate, measured: Measured, use: float | None) -> list[str]:
    """C7 and C9: too few steps, too much variation, a jump against what was measured before."""
    found = _unsaid(estimate, measured)
    if measured.steps_used < ENOUGH:
        found.append(f"C7: {measured.counted()}; {ENOUGH} at least carry a date")
    if measured.variation is not None and measured.variation > STEADY:
        what = f"means of {measured.steps_a_line:.3g} steps" if measured.of_means else "steps"
        found.append(f"C7: {what} vary by {100 * measured.variation:.1f} %; {100 * STEADY:.0f} % at most is steady")
    if measured.disturbed:
        found.append("every line follows a checkpoint or an evaluation, whose time may be in it")
    if measured.retries:
        found.append(
            f"M8: {measured.retries:,} retries of the allocator: memory is fragmented or full. "
            "Right is PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or a smaller micro batch"
        )
    before, claim = _plain(estimate.speed.utilization), estimate.plan.utilization
    if use and before and claim.evidence == "measured-here" and abs(use / before - 1.0) >= CHANGE:
        found.append(f"C9: {use / before - 1.0:+.1%} against the last measurement on the same mesh; look for the cause")
    return found


def _unsaid(estimate: Estimate, measured: Measured) -> list[str]:
    """What the plan lent to the log, and where the log ran at another length than the plan's."""
    found: list[str] = []
    if measured.world is None:
        found.append("the log does not say how many devices it ran on: taken for as many as the plan has")
    if measured.assumed:
        names = " and ".join(_NAMES[name] for name in measured.assumed)
        found.append(f"the log does not say its {names}: the plan's, and tokens/s are wrong where it ran another")
    length = _length(estimate)
    if measured.sequence is not None and length is not None and measured.sequence != length:
        found.append(
            f"the log ran sequences of {measured.sequence:,.0f} tokens, the plan has {length:,.0f}: "
            "utilization is by what a token costs there, the step time by that in the plan"
        )
    batch = _plain(estimate.tokens.stretches[-1].global_batch_sequences)
    if measured.batch and batch and measured.batch != batch and measured.world == _plain(estimate.mesh.world_size):
        found.append(
            f"the log ran {measured.batch:,.0f} sequences a step, the plan has {batch:,.0f} on as many devices: "
            "bubbles and communication weigh otherwise"
        )
    return found


_NAMES: Final = {"batch": "global batch", "sequence": "sequence length"}


def written(text: str, plan: Plan, found: Calibration) -> str:
    """The plan's text with every measured field in it, as one edit. Raises SpliceError."""
    for path, value in found.edits.items():
        text = set_value(text, resolve(path, plan), literal_of(value))
    return text
