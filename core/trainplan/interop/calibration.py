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

from trainplan.checks.moved import layout_told
from trainplan.estimation import Estimate
from trainplan.formulas import steptime as f
from trainplan.interop.logs.measured import ENOUGH, STEADY, Measured, Measurement
from trainplan.interop.ran import Ran, exported_run, ran, rung_estimate, same_model
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
    """A measurement beside the plan: utilization by the plan's convention, ratios to estimates, edits by path, notes.

    `stands` is unset where the log cannot be of what the plan says, `own` set where the plan's utilization is from this very log.
    `parts` are calibrations of each run where logs are of several.
    """

    measured: Measured
    ran: Ran
    stands: bool
    own: bool
    planned: Mapping[str, float | None]
    utilization: float | None
    step_time: float | None
    predicted_ratio: float | None
    factor: float | None
    evidence: str
    edits: Mapping[str, Any]
    notes: tuple[str, ...]
    parts: tuple[Calibration, ...] = ()


def measurement_for(estimate: Estimate, rung: str = "") -> Measurement:
    """A measurement whose batch, length and world are its rung's, else the plan's, where a log does not print its own."""
    run = exported_run(estimate, rung) or estimate
    last = run.tokens.stretches[-1]
    return Measurement(_plain(last.global_batch_sequences), _plain(last.sequence_length), _plain(run.mesh.world_size))


def calibration(estimate: Estimate, measured: Measured, names: str, today: dt.date, rung: str = "") -> Calibration:
    """A measurement beside the plan. `names` are the logs, as the evidence will name them; `rung` is the one they are of, or ""."""
    run, notes = ran(estimate, measured, rung), list[str]()
    use = None if run.refused else _utilization(estimate, measured, run)
    stands = not run.refused and (use is None or use < 1.0)
    edits = _claim(estimate, measured, use, run, names, today, notes) if not run.refused else {}
    notes.extend((*run.doubts, run.refused) if run.refused else run.doubts)
    if stands:
        peak = _memory_ratio(estimate, measured, run, rung, notes)
        edits |= {} if peak is None else {"memory.calibration": float(f"{peak:.4g}")}
        edits |= _stall(estimate, measured, notes)
    else:
        notes.append(f"nothing of {names} is written")
    own = rests_on(estimate, measured, run, names)
    ratio = _predicted_ratio(estimate, measured, run) if stands else None
    notes.extend(_doubts(estimate, measured, use, run, rung))
    sparse = estimate.model.shape.expert_layers is not None
    return Calibration(
        measured,
        run,
        stands,
        own,
        _planned(estimate, run),
        use,
        _step_time(estimate, measured, run) if stands else None,
        ratio,
        None if ratio is None else f.calibration_factor(ratio, 1.0, TRUST[sparse]),
        evidence_of(estimate, run),
        edits,
        tuple(notes),
    )


def rests_on(estimate: Estimate, measured: Measured, run: Ran, names: str) -> bool:
    """Whether the plan's utilization was taken from one of these logs, under its name or another."""
    source = estimate.plan.utilization.source or ""
    told = set(source.split(", "))
    return any(name in told for name in names.split(", ")) or _source(measured, run, "") in source


def _predicted_ratio(estimate: Estimate, measured: Measured, run: Ran) -> float | None:
    """The step that ran over the model's prediction at its length and batch; None on other devices, or with fewer layers."""
    world, length = _plain(estimate.mesh.world_size), measured.sequence or _length(estimate)
    if not (_same_world(estimate, run) and run.whole and run.step and run.batch and world and length):
        return None
    return run.batch * length / (measured.rate * world) / run.step


def _plain(value: object) -> float | None:
    return float(value) if isinstance(value, Figure) else None


def _planned(estimate: Estimate, run: Ran) -> dict[str, float | None]:
    """What the plan has; its rate and the model's step are those of the layers, the length and the batch that ran."""
    return {
        "tokens_per_second_per_accelerator": run.rate,
        "utilization": _plain(estimate.speed.utilization),
        "step_time": _plain(estimate.speed.step_time),
        "predicted_step_time": run.step if _same_world(estimate, run) and run.whole and not run.refused else None,
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


def _same_world(estimate: Estimate, run: Ran) -> bool:
    return run.world is None or run.world == _plain(estimate.mesh.world_size)


def evidence_of(estimate: Estimate, run: Ran) -> str:
    """The rung of the evidence: measured here, at an eighth of the scale or more, or below that."""
    world = _plain(estimate.mesh.world_size)
    if run.world is None or world is None or run.world >= world:
        return "measured-here"
    return "measured-scaled" if run.world >= world / 8.0 else "measured-node"


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
        "utilization.evidence": evidence_of(estimate, run),
        "utilization.source": _source(measured, run, names) + _layout(estimate, run),
        "utilization.date": day,
    }
    claim = estimate.plan.utilization
    if claim.low is not None and claim.high is not None:
        found["utilization.low"] = float(f"{min(use, use * measured.rate_low / measured.rate):.4g}")
        found["utilization.high"] = float(f"{min(0.9999, max(use, use * measured.rate_high / measured.rate)):.4g}")
    return found


def _layout(estimate: Estimate, run: Ran) -> str:
    """The plan's layout where the log is of the whole plan, so that a later one shows."""
    return f", {layout_told(estimate)}" if run.whole and evidence_of(estimate, run) == "measured-here" else ""


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
    same = _same_world(estimate, run) and same_model(estimate, measured, run)
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


def _doubts(estimate: Estimate, measured: Measured, use: float | None, run: Ran, rung: str) -> list[str]:
    """C7 and C9: too few steps, too much variation, a jump against what was measured before."""
    found = _unsaid(estimate, measured, run, rung)
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


def _unsaid(estimate: Estimate, measured: Measured, run: Ran, rung: str) -> list[str]:
    """What the plan or a rung's run lent to the log, and where the log ran at another length than the plan's."""
    found: list[str] = []
    if measured.world is None:
        many = "as many as the plan has" if run.world is None else f"the {run.world:,.0f} of rung {rung}"
        found.append(f"the log does not say how many devices it ran on: taken for {many}")
    if lent := [_NAMES[name] for name in measured.assumed if name in _NAMES]:
        whose = "the plan's" if run.world is None or measured.world is not None else f"that of rung {rung}"
        found.append(
            f"the log does not say its {' and '.join(lent)}: {whose}, and tokens/s are wrong where it ran another"
        )
    length = _length(estimate)
    if measured.sequence is None and "sequence" not in measured.assumed and length is not None:
        found.append(
            f"the log does not say its sequence length: utilization is by what a token costs at the plan's {length:,.0f}"
        )
    if measured.sequence is not None and length is not None and measured.sequence != length:
        found.append(
            f"the log ran sequences of {measured.sequence:,.0f} tokens, the plan has {length:,.0f} at last: "
            "utilization is by what a token costs there, the step time by that in the plan"
        )
    batch = _plain(estimate.tokens.stretches[-1].global_batch_sequences)
    ran_here = {(_plain(one.global_batch_sequences), _plain(one.sequence_length)) for one in estimate.tokens.stretches}
    other = measured.batch and batch and batch != measured.batch and (measured.batch, measured.sequence) not in ran_here
    if other and measured.world == _plain(estimate.mesh.world_size):
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
