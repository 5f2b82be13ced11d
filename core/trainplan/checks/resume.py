"""Findings M14 and S15: what a framework holds while it reads a checkpoint, and the replicas that one is bound to.

M14 is silent where the step itself does not fit: such a run has nothing to resume.
"""

from __future__ import annotations

from typing import Any, Final

from trainplan.alternatives.changes import Change, sharded_further
from trainplan.alternatives.reverse import tried, tried_if_legal
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import whole

GIB: Final = 2.0**30
SPARED: Final = ("parallelism.sharding", "cluster.nodes", "reliability.spare_nodes")
BAND: Final = 0.10
"""Share of usable memory above it within which an estimate cannot tell: estimates are good to 5 to 10 % before a measurement."""


def resume_fits(estimate: Estimate) -> list[Finding]:
    """M14: what a framework holds while it reads a checkpoint is above usable memory. Megatron-LM issue 1746."""
    memory = estimate.memory
    if not all(isinstance(one, Figure) for one in (memory.restore, memory.usable, memory.total)):
        return []
    if memory.total > memory.usable or memory.restore <= memory.usable:
        return []
    held, usable = float(memory.restore), float(memory.usable)
    does = "may not" if held <= (1.0 + BAND) * usable else "cannot"
    message = f"reading a checkpoint holds {_gib(held)} of {_gib(usable)} usable: a run that starts {does} resume"
    fix = " or ".join(_that_resume(estimate)) or "a restore tried at this size before the run"
    paths = ("parallelism.sharding", "parallelism.tensor", "training.framework")
    return [Finding("M14", "warning", "memory", message, fix, paths, 850)]


def bound_to_replicas(estimate: Estimate) -> list[Finding]:
    """S15: DeepSpeed's sharded states load on as many replicas as wrote them, and on no other number.

    Silent where spare nodes cover 99 of 100 repairs.

    DeepSpeed issues 2898 (4 to 6 replicas) and 3810 (32 to 128); issue 2921 lists the conversion, stage by stage.
    """
    data, sharding = estimate.mesh.data, estimate.situation.word("parallelism.sharding")
    if (
        estimate.plan.training.framework != "deepspeed"
        or sharding == "none"
        or not isinstance(data, Figure)
        or data <= 1
    ):
        return []
    needed, have = estimate.faults.spares, float(estimate.situation["reliability.spare_nodes"])
    known = isinstance(needed, Figure)
    if known and have >= max(needed, 1.0):
        return []
    message = (
        f"DeepSpeed reads the states of {sharding} on {whole(data)} replicas again, and refuses another number; "
        f"{_spares(have, float(needed) if known else None)}"
    )
    wanted = _nodes(max(needed, 1.0)) if known else "spare nodes"
    fix = f"{wanted}, or a universal checkpoint converted before a resume on more or fewer"
    severity = "warning" if known or have == 0.0 else "info"
    return [Finding("S15", severity, "storage", message, fix, SPARED, 25)]


def _spares(have: float, needed: float | None) -> str:
    """How many nodes are spare, and how many a run would need to stay at its replicas."""
    stand = _nodes(have) if have else "no node is spare"
    if needed is None:
        return f"{stand}, and how many cover repairs is not known"
    return f"{stand}, and {whole(max(needed, 1.0))} would cover 99 % of repairs"


def _nodes(count: float) -> str:
    return f"{whole(count)} spare node{'' if count == 1.0 else 's'}"


def _that_resume(estimate: Estimate) -> list[str]:
    """Changes of what a rank holds of the states, with which the restore fits and the step does."""
    known, found = tried(estimate.plan).broken, list[str]()
    for path, value in _lighter_states(estimate):
        trial = tried_if_legal(estimate.plan, {path: value}, known)
        if trial is not None and trial.fits(1.0, known) and trial.memory.restore <= trial.memory.usable:
            held = float(trial.memory.restore)
            found.append(f"{Change(path, value, held, 0.0, '').text} ({_gib(held)} while read)")
    return found


def _lighter_states(estimate: Estimate) -> list[tuple[str, Any]]:
    """The next sharding, twice the tensor ranks, and moments in half the bytes."""
    plan, further = estimate.plan, sharded_further(estimate.situation)
    found: list[tuple[str, Any]] = [("parallelism.sharding", further[0])] if further else []
    found.append(("parallelism.tensor", int(plan.parallelism.tensor) * 2))
    if plan.training.optimizer == "adamw" and plan.training.moment_dtype != "bf16":
        found.append(("training.moment_dtype", "bf16"))
    return found


def _gib(value: float) -> str:
    return f"{value / GIB:,.1f} GiB"
