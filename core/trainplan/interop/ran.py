"""The run that a log is of: the plan at the length and with the layers that ran.

A rung of the pilot often runs fewer layers than the plan, and a token costs less there. Layers are those that the log prints, else
those that its parameters come to, else those that `export --rung` gives so many devices. It refuses to take a log for the plan's
where its own width, parameters or FLOP/s say that another model ran. What a log does not say of devices, batch and length is its
rung's exported run's, else the plan's; there its own FLOP/s is the witness, and where it contradicts nothing is told.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from trainplan.estimation import Estimate, estimate
from trainplan.formulas import flops as fl
from trainplan.interop.export.pilot import layers_on, run_of, with_layers
from trainplan.interop.export.run import ExportError
from trainplan.interop.logs.measured import Measured
from trainplan.quantity.figure import Figure

ALIKE: Final = 0.01
NEAR: Final = 0.05
"""Relative differences of parameter counts: up to the first it is one model, past the second another; a judgement."""
APART: Final = 0.75
"""Share of the least FLOP of a token below which a log's own is of another model: no framework leaves out so much; a judgement."""
EXPORTED: Final = ("unit", "one-batch", "one-device", "one-node", "few-nodes")
"""Rungs whose exported run may have fewer layers."""


@dataclass(frozen=True, slots=True, eq=False)
class Ran:
    """What ran: its estimate, its layers and whether they are all; `doubts` in sentences, `refused` why utilization is not told.

    `estimate` is the plan with the layers that ran, at the length and, on as many devices, the batch that ran. `world` are the
    devices that the log prints or its rung's export has, None where they are taken for the plan's; `batch` are sequences of its
    step, None where it ran on other devices or nothing tells them.
    """

    estimate: Estimate
    layers: float | None
    whole: bool
    doubts: tuple[str, ...] = ()
    refused: str = ""
    world: float | None = None
    batch: float | None = None

    @property
    def step(self) -> float | None:
        """The model's prediction of the step that ran, s; None where nothing tells its batch."""
        return None if self.batch is None else _plain(self.estimate.step.predicted_step_time)

    @property
    def rate(self) -> float | None:
        """Tokens a second of one device that the plan's utilization gives with the layers and at the length that ran."""
        return _plain(self.estimate.speed.tokens_per_second_per_accelerator)


def ran(plan: Estimate, measured: Measured, rung: str = "") -> Ran:
    """The run of a log beside a plan; `rung` is the one that was named, or ""."""
    exported = exported_run(plan, rung)
    world = measured.world or (_plain(exported.mesh.world_size) if exported else None)
    found = replace(_ran(plan, measured, rung), world=world, batch=batch_of(plan, measured))
    if (
        exported
        and not found.refused
        and "world" in measured.assumed
        and (other := _another_step(exported, measured, rung))
    ):
        return replace(found, refused=other)
    return found


def _another_step(exported: Estimate, measured: Measured, rung: str) -> str:
    """Why a log that says no devices is not of the rung's exported run: its step has other sequences; empty where it has not."""
    batch = _plain(exported.tokens.stretches[-1].global_batch_sequences)
    if batch is None or measured.batch in (None, batch):
        return ""
    return (
        f"the log does not say its devices, and ran {measured.batch:,.0f} sequences a step where the run of rung {rung} has "
        f"{batch:,.0f}: on others, or of another layout; utilization is left alone"
    )


def exported_run(plan: Estimate, rung: str) -> Estimate | None:
    """The estimate of the run that `export` writes for one of the smaller rungs; None for the others, and where nothing fits."""
    if rung in EXPORTED:
        with contextlib.suppress(ExportError):
            return run_of(plan, rung).estimate
    return None


def _ran(plan: Estimate, measured: Measured, rung: str) -> Ran:
    planned = _plain(plan.model.shape.layers)
    if planned is None:
        return Ran(_of(plan, measured, None), None, True)
    if other := _another(plan, measured):
        return Ran(_of(plan, measured, None), planned, True, (), other)
    layers, said, doubts = _layers(plan, measured, rung, int(planned))
    if layers is None:
        return Ran(_of(plan, measured, None), None, True, (), said)
    whole = layers == planned
    found = _of(plan, measured, None if whole else layers)
    if said:
        doubts += (said,)
    contradiction = _contradiction(found, measured)
    untold = not _told(measured) and plan.model.shape.expert_layers is None
    if contradiction and (measured.assumed or untold):
        return Ran(found, layers, whole, doubts, f"{contradiction}; utilization is left alone")
    return Ran(found, layers, whole, (*doubts, *([contradiction] if contradiction else [])))


def same_model(plan: Estimate, measured: Measured, found: Ran) -> bool:
    """Whether a log is of all the plan's layers at the plan's length."""
    length = _plain(plan.tokens.stretches[-1].sequence_length)
    return found.whole and not found.refused and measured.sequence in (None, length)


def rung_estimate(plan: Estimate, measured: Measured, found: Ran, rung: str) -> Estimate | None:
    """The estimate of the rung's exported run where the log is of just that: as many devices, layers and tokens of a sequence."""
    run = None if found.refused else exported_run(plan, rung)
    if run is None:
        return None
    pairs = (
        (measured.world, run.mesh.world_size),
        (found.layers, run.model.shape.layers),
        (measured.sequence, run.tokens.stretches[-1].sequence_length),
    )
    return run if all(one is None or one == _plain(other) for one, other in pairs) else None


def _plain(value: object) -> float | None:
    return float(value) if isinstance(value, Figure) else None


def _of(plan: Estimate, measured: Measured, layers: int | None) -> Estimate:
    """The plan at the log's length and batch, with its layers; the plan's own estimate where all of them are the plan's."""
    changed = plan.plan if layers is None else with_layers(plan, plan.plan, layers)
    last, length, batch = plan.tokens.stretches[-1], measured.sequence, batch_of(plan, measured)
    if length is not None and length != _plain(last.sequence_length):
        data = changed.data.model_copy(update={"sequence_length": int(length), "stages": ()})
        changed = changed.model_copy(update={"data": data})
    if batch is not None and batch != _plain(last.global_batch_sequences):
        data = changed.data.model_copy(update={"stages": (), "sequence_length": int(length or last.sequence_length)})
        sizes = changed.batch.model_copy(update={"global_batch_sequences": int(batch), "schedule": ()})
        changed = changed.model_copy(update={"data": data, "batch": sizes})
    return plan if changed is plan.plan else estimate(changed)


def batch_of(plan: Estimate, measured: Measured) -> float | None:
    """Sequences of the step that ran on the plan's devices: the log's, else those of the plan's one batch at its length."""
    if measured.world not in (None, _plain(plan.mesh.world_size)):
        return None
    if measured.batch is not None:
        return measured.batch
    last = plan.tokens.stretches[-1]
    if measured.sequence in (None, _plain(last.sequence_length)):
        return _plain(last.global_batch_sequences)
    there = {
        _plain(one.global_batch_sequences)
        for one in plan.tokens.stretches
        if _plain(one.sequence_length) == measured.sequence
    }
    return there.pop() if len(there) == 1 else None


def _told(measured: Measured) -> bool:
    return "layers" in measured.model or "parameters" in measured.model


def _another(plan: Estimate, measured: Measured) -> str:
    """Why the log is of another model whatever its layers are; empty where nothing says so."""
    width, planned = measured.model.get("hidden"), _plain(plan.situation["model.hidden_size"])
    if width is None or planned is None or width == planned:
        return ""
    return f"the log ran a hidden size of {width:,.0f}, the plan has {planned:,.0f}: another model; utilization is left alone"


def _layers(plan: Estimate, measured: Measured, rung: str, planned: int) -> tuple[int | None, str, tuple[str, ...]]:
    """Layers that ran, what is to be said of how they are known, and doubts; None where another model ran, with the reason."""
    printed = measured.model.get("layers")
    if printed is not None:
        if printed > planned:
            return (
                None,
                f"the log ran {printed:,.0f} layers, the plan has {planned}: another model; utilization is left alone",
                (),
            )
        return int(printed), _fewer("the log ran", int(printed), planned), ()
    if "parameters" in measured.model:
        return _by_parameters(plan, measured.model["parameters"], planned)
    layers = _exported(plan, measured, rung)
    if layers is None or layers == planned:
        return planned, "", _unknown(plan, measured, planned)
    where = f"rung {rung}" if rung else f"so few devices, {measured.world:,.0f},"
    said = f"the log does not say its layers; what `export` writes for {where} has"
    return layers, _fewer(said, layers, planned), ()


def _unknown(plan: Estimate, measured: Measured, planned: int) -> tuple[str, ...]:
    """Said where a smaller run does not tell its layers."""
    world = _plain(plan.mesh.world_size)
    if measured.world is None or world is None or measured.world >= world:
        return ()
    return (f"the log does not say how many layers it ran: taken for all {planned}",)


def _fewer(said: str, layers: int, planned: int) -> str:
    if layers == planned:
        return ""
    return (
        f"{said} {layers} of {planned} layers: utilization is by what a token costs there, where the head weighs more"
    )


def _exported(plan: Estimate, measured: Measured, rung: str) -> int | None:
    """Layers of the rung's exported run, or of one on as many devices as the log's; None where that cannot be told."""
    world, planned = measured.world, _plain(plan.mesh.world_size)
    if run := exported_run(plan, rung):
        layers = _plain(run.model.shape.layers)
        return None if layers is None else int(layers)
    with contextlib.suppress(ExportError):
        if world is not None and planned is not None and not rung:
            return layers_on(plan, int(world)) if world < planned else None
    return None


def _by_parameters(plan: Estimate, count: float, planned: int) -> tuple[int | None, str, tuple[str, ...]]:
    """The number of layers whose parameters are as many as the log prints."""
    every = _parameters(plan)
    if every is None:
        return planned, "", ()
    if abs(count / every - 1.0) > ALIKE:
        layers = _bisected(lambda n: _parameters(_of_layers(plan, n)) or 0.0, count, planned)
        if layers < planned and abs(count / (_parameters(_of_layers(plan, layers)) or every) - 1.0) <= ALIKE:
            return layers, _fewer(f"the log's {count:,.0f} parameters are those of", layers, planned), ()
        told = f"the log's model has {count:,.0f} parameters, the plan's {every:,.0f}"
        if abs(count / every - 1.0) > NEAR:
            return None, f"{told}: another model; utilization is left alone", ()
        return planned, "", (f"{told}: utilization is by the plan's",)
    return planned, "", ()


def _of_layers(plan: Estimate, layers: int) -> Estimate:
    return estimate(with_layers(plan, plan.plan, layers))


def _parameters(found: Estimate) -> float | None:
    return _plain(found.model.parameters)


def _bisected(parameters: Callable[[int], float], count: float, most: int) -> int:
    """The layers from 1 to `most` whose parameters come nearest to a count."""
    low, high = 1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if parameters(middle) <= count else (low, middle)
    return min((low, high), key=lambda n: abs(parameters(n) - count))


def _contradiction(found: Estimate, measured: Measured) -> str:
    """What the log's own FLOP/s says against the layers, length or batch that its rate is counted by; empty where they agree."""
    told, flops = measured.token_flops, found.speed.flops
    known = (
        flops.flops_per_token_6n,
        flops.flops_per_token_causal,
        flops.flops_per_token_full,
        flops.flops_per_token_masked,
    )
    counts = [one for one in map(_plain, known) if one]
    hardware = _plain(fl.full_recompute_flops(flops.flops_per_token_full))
    if told is None or not counts or not hardware:
        return ""
    low, high = min(counts), hardware
    if APART * low <= told <= high / APART:
        return ""
    ran_more = "fewer" if told < low else "more"
    return (
        f"the log prints {told:.3g} FLOP a token, by its FLOP/s and tokens/s, and the plan's model takes {low:.3g} to {high:.3g} "
        f"by any convention: it ran {ran_more} layers, another length or batch"
    )
