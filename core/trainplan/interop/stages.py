"""Logs of several stages as one calibration: each stage by itself, and the run's utilization from all of them.

Compute time is FLOP over peak x utilization, so a run's utilization is its FLOP over the sum of each stage's FLOP over its own. It
is made only where every length of the plan was measured, on the same devices with all layers; else nothing of utilization is
written, and each log's stage is told.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from trainplan.estimation import Estimate
from trainplan.interop.calibration import Calibration, calibration
from trainplan.interop.logs.measured import Measured
from trainplan.quantity.figure import Figure


def over_stages(
    estimate: Estimate, measured: Sequence[Measured], names: str, today: dt.date, rung: str = ""
) -> Calibration:
    """The runs that logs are of beside a plan, one at least; the last stage's is what is shown, the others are its `parts`."""
    parts = tuple(calibration(estimate, one, names, today, rung) for one in measured)
    if len(parts) == 1:
        return parts[0]
    last = _length(estimate.tokens.stretches[-1].sequence_length)
    base = next((one for one in reversed(parts) if _ran_length(estimate, one) == last), parts[-1])
    told = [_told(estimate, one) for one in parts]
    notes = [note for one in parts if one is not base for note in one.notes if note not in base.notes]
    notes = [*base.notes, *notes, *told]
    kept = {path: value for path, value in base.edits.items() if not path.startswith("utilization.")}
    why, shares = _shares(estimate, parts)
    if why or not base.edits:
        notes.append(f"{why or 'a log does not stand'}; utilization is left alone")
        kept = kept if all(one.stands for one in parts) else {}
        return replace(base, utilization=None, edits=kept, notes=tuple(notes), parts=parts)
    uses = {length: float(one.utilization or 0.0) for length, (one, _) in shares.items()}
    use = _over({length: flops for length, (_, flops) in shares.items()}, uses)
    claim = _claim(base, names, told, use, shares)
    notes.append(f"utilization {use:.4g} of the run: each stage's, weighed by the time that its FLOP take")
    return replace(base, utilization=use, edits={**claim, **kept}, notes=tuple(notes), parts=parts)


def _claim(
    base: Calibration, names: str, told: list[str], use: float, shares: Mapping[float, tuple[Calibration, float]]
) -> dict[str, Any]:
    """The fields of utilization, its range from that of every stage."""
    found = {path: value for path, value in base.edits.items() if path.startswith("utilization.")}
    found["utilization.value"] = float(f"{use:.4g}")
    layout = base.edits["utilization.source"].rpartition(", layout ")
    found["utilization.source"] = (
        f"{names}, {base.measured.framework}, {', '.join(told)}{''.join(layout[1:]) if layout[0] else ''}"
    )
    if "utilization.low" in found:
        flops = {length: amount for length, (_, amount) in shares.items()}
        for path in ("utilization.low", "utilization.high"):
            each = {length: float(one.edits[path]) for length, (one, _) in shares.items()}
            found[path] = float(f"{_over(flops, each):.4g}")
    return found


def _over(flops: Mapping[float, float], uses: Mapping[float, float]) -> float:
    """FLOP of a run over the time that they take at each length's own utilization."""
    return sum(flops.values()) / sum(amount / uses[length] for length, amount in flops.items())


def _shares(estimate: Estimate, parts: Sequence[Calibration]) -> tuple[str, dict[float, tuple[Calibration, float]]]:
    """Each length of the plan with what was measured at it and its FLOP in the run; else why there is no one utilization."""
    if any(not one.stands or one.utilization is None for one in parts):
        return "not every run of the logs can be of the plan", {}
    if any(not one.ran.whole for one in parts) or len({one.ran.world for one in parts}) > 1:
        return "the runs of the logs are of other layers or devices", {}
    found: dict[float, tuple[Calibration, float]] = {}
    tokens = _tokens(estimate)
    for one in parts:
        length, token = _ran_length(estimate, one), one.ran.estimate.speed.flops_per_token
        if length is None or length not in tokens or length in found or not isinstance(token, Figure):
            return "the runs of the logs are not one of each length of the plan", {}
        found[length] = (one, tokens[length] * float(token))
    lacking = [f"{length:,.0f}" for length in tokens if length not in found]
    if lacking:
        return f"no log is of the plan's sequences of {' and '.join(lacking)} tokens", {}
    return "", found


def _tokens(estimate: Estimate) -> dict[float, float]:
    """Tokens of the run at each sequence length."""
    found: dict[float, float] = {}
    for one in estimate.tokens.stretches:
        length, tokens = _length(one.sequence_length), _length(one.tokens)
        if length is not None and tokens is not None:
            found[length] = found.get(length, 0.0) + tokens
    return found


def _told(estimate: Estimate, one: Calibration) -> str:
    """One run in words: its stage, and what it measured."""
    length, use = _ran_length(estimate, one), "" if one.utilization is None else f" at {one.utilization:.4g}"
    stages = [
        part.name
        for part in estimate.tokens.stretches
        if part.name
        and _length(part.sequence_length) == length
        and _length(part.global_batch_sequences) == one.ran.batch
    ]
    where = f"stage {stages[0]}" if stages else "sequences"
    many = "" if one.ran.world is None else f" on {one.ran.world:,.0f} devices"
    rate = f"{one.measured.counted()} and {one.measured.rate:,.0f} tokens/s a device"
    return f"{where} of {length or 0:,.0f} tokens{many}{use}: {rate}"


def _ran_length(estimate: Estimate, one: Calibration) -> float | None:
    return one.measured.sequence or _length(estimate.tokens.stretches[-1].sequence_length)


def _length(value: object) -> float | None:
    return float(value) if isinstance(value, Figure) else None
