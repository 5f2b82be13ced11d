"""Single changes of one field with which a plan fits, ranked by accelerator time of a step.

Each field is tried in steps, the nearest first, until one fits; the ledger and the rules are asked about every step, so that
nothing is named that breaks a rule or that the pane would contradict. More nodes are named only where nothing else fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Any, Final

from trainplan.alternatives.offload import (
    Added,
    Step,
    activations_on_host,
    grown,
    moments_in_bf16,
    optimizer_on_host,
    step_of,
)
from trainplan.alternatives.reverse import Trial, tried, tried_if_legal
from trainplan.budgets.layout import divisors
from trainplan.budgets.shape import cannot_fuse
from trainplan.budgets.situation import Situation
from trainplan.frozen import frozen, record
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Figure

LEAST_SAVING: Final = 0.99
"""Share of the present total above which a change saves nothing worth naming."""

MOST_DOUBLINGS: Final = 3
"""Doublings of a degree that are tried before the field is left."""


@frozen
class Change:
    """One field set to another value, and what the worst rank holds then (bytes).

    `cost` is the share by which accelerator time of a step grows: by the step model where it sees the field, else by `offload`;
    a guess where no step can be predicted.
    """

    path: str
    value: Any
    total: float
    cost: float
    reason: str

    @property
    def text(self) -> str:
        """The change as a plan writes it, the field's last word alone."""
        written = f'"{self.value}"' if isinstance(self.value, str) else str(self.value).lower()
        return f"{self.path.rsplit('.', 1)[-1]} = {written}"

    @property
    def costs_nothing(self) -> bool:
        """Whether the change in accelerator time rounds to no percent."""
        return abs(self.cost) < 0.005


@record
class Ladder:
    """Steps of one field that lower memory, each further than the one before: values and guesses of their cost in step time."""

    path: str
    steps: tuple[tuple[Any, float], ...]
    reason: str

    @property
    def guess(self) -> float:
        """What the nearest step may cost."""
        return self.steps[0][1]


def _one(path: str, value: Any, guess: float, reason: str) -> Ladder:
    return Ladder(path, ((value, guess),), reason)


def ladders(s: Situation) -> Iterator[Ladder]:
    """Changes of one field that can lower memory, but more nodes; why each costs what it does."""
    yield from _kernels(s)
    yield from _shardings(s)
    yield from _degrees(s)
    parallel, training = s.plan.parallelism, s.plan.training
    if training.optimizer in ("adamw",):
        yield _one("training.moment_dtype", "bf16", 0.0, "moments in half the bytes; its loss has to be checked")
    if parallel.recompute == "none":
        yield _one("parallelism.recompute", "selective", 0.05, "part of forward twice")
    if parallel.recompute != "full":
        yield _one("parallelism.recompute", "full", 0.33, "forward twice: 8 FLOP for 6")
    if not training.optimizer_offload:
        yield _one("training.optimizer_offload", True, 0.5, "gradients and weights cross the host link every step")
    if not training.activation_offload and parallel.recompute == "none" and parallel.pipeline == 1:
        yield _one("training.activation_offload", True, 0.2, "activations cross the host link twice")


def _degrees(s: Situation) -> Iterator[Ladder]:
    """Smaller microbatches that divide what the present one does, and degrees doubled; tensor in the scale-up domain alone."""
    parallel, micro = s.plan.parallelism, int(s.plan.batch.micro_batch_sequences)
    smaller = tuple((value, 0.02 * micro / value / 2.0) for value in reversed(divisors(micro)[:-1]))
    if smaller:
        yield Ladder("batch.micro_batch_sequences", smaller, "smaller products")
    domain = s["cluster.scale_up_domain"]
    most = float(domain) if isinstance(domain, Figure) else 0.0
    nearest, *further = _doubled(int(parallel.tensor))
    inside = (nearest, *takewhile(lambda tensor: tensor <= most, further))
    yield Ladder("parallelism.tensor", tuple((one, _tensor_cost(one)) for one in inside), "measured on 8-way nodes")
    for path, guess, reason in (
        ("parallelism.pipeline", 0.10, "a bubble, by the microbatches"),
        ("parallelism.context", 0.08, "keys and values go round"),
    ):
        here = int(s.plan.parallelism.pipeline if path.endswith("pipeline") else parallel.context)
        yield Ladder(path, tuple((one, guess * one / here / 2.0) for one in _doubled(here)), reason)

    yield from _more_chunks(s)
    yield from _more_expert_ranks(s)


def _more_expert_ranks(s: Situation) -> Iterator[Ladder]:
    """Fewer experts on a rank: what is kept whole of them divides, which shardings of the optimizer alone do not."""
    experts, here = s.value("model.moe.num_experts"), int(s.plan.parallelism.expert)
    if experts is not None:
        more = tuple((one, 0.05 * one / here) for one in _doubled(here) if int(experts) % one == 0)
        if more:
            yield Ladder("parallelism.expert", more, "tokens go to their experts and back")


def _more_chunks(s: Situation) -> Iterator[Ladder]:
    """Shorter chunks of an interleaved schedule: less of one is in flight beyond its stages. Megatron-Bridge pull request 3107."""
    parallel, layers = s.plan.parallelism, s["model.num_hidden_layers"]
    if parallel.schedule != "interleaved" or not isinstance(layers, Figure):
        return
    stage, here = int(layers) // int(parallel.pipeline), int(parallel.virtual_pipeline)
    more = tuple((count, 0.02 * count / here) for count in divisors(stage) if count > here)
    if more:
        yield Ladder("parallelism.virtual_pipeline", more, "more transfers between stages")


def _doubled(degree: int) -> tuple[int, ...]:
    return tuple(degree * 2**step for step in range(1, MOST_DOUBLINGS + 1))


def _more_nodes(s: Situation) -> Iterator[Ladder]:
    """Twice the nodes, where their ranks share the states."""
    if s.word("parallelism.sharding") != "none":
        nodes = int(s.plan.cluster.nodes or 1)
        yield _one("cluster.nodes", nodes * 2, 1.0, "twice the accelerators")


TENSOR_SPEED: Final = {2: 1.0, 4: 0.95, 8: 0.77, 16: 0.43, 32: 0.25}
"""Tokens a second against tensor 2 on 8-way NVLink nodes: Ultra-Scale Playbook, tensor and sequence parallel scaling."""


def _tensor_cost(tensor: int) -> float:
    speed = TENSOR_SPEED.get(tensor)
    return 0.06 if tensor == 2 else 3.0 if speed is None else 1.0 / speed - 1.0 + 0.06


def _kernels(s: Situation) -> Iterator[Ladder]:
    megatron = s.plan.training.framework in ("megatron", "deepspeed")
    better = ("fused-in-place",) if megatron else ("fused", "chunked")
    for kernel in better:
        if s.word("training.loss") != kernel:
            yield _one("training.loss", kernel, 0.0, "fewer copies of the logits")
    if s.plan.training.attention == "eager" and not cannot_fuse(s):
        yield _one("training.attention", "flash", -0.05, "no score matrices")
    if s["parallelism.tensor"] > 1 and not s.plan.parallelism.sequence_parallel:
        yield _one("parallelism.sequence_parallel", True, 0.0, "the same volume as tensor parallel")


def _shardings(s: Situation) -> Iterator[Ladder]:
    if s.word("training.gradient_accumulation") == "full" and s.word("parallelism.sharding") not in ("none", "zero-1"):
        yield _one("training.gradient_accumulation", "sharded", 0.05, "gradients reduced in every microbatch")
    if not s.plan.parallelism.reshard_after_forward and s.word("parallelism.sharding") in ("zero-3", "hsdp"):
        yield _one("parallelism.reshard_after_forward", True, 0.05, "weights are gathered for backward again")
    for other in sharded_further(s):
        yield _one("parallelism.sharding", other, {"zero-1": 0.0, "zero-2": 0.02}.get(other, 0.10), "volume of gathers")


def sharded_further(s: Situation) -> tuple[str, ...]:
    """Shardings that leave a rank less than the plan's, the nearest first."""
    order, kind = ("none", "zero-1", "zero-2", "zero-3"), s.word("parallelism.sharding")
    return order[order.index(kind) + 1 :] if kind in order else ("zero-3",)


def single_changes(plan: Plan, share: float = 1.0) -> list[Change]:
    """Legal single changes that make the plan fit, the least costly in time first, then the least memory.

    Of each ladder the nearest step that fits is named. `share` is the part of usable memory that may be held.
    """
    here, before, s = tried(plan), step_of(plan), Situation(plan)
    found = [one for ladder in ladders(s) if (one := _first(ladder, here, before, share)) is not None]
    if not found:
        found = [one for ladder in _more_nodes(s) if (one := _first(ladder, here, before, share)) is not None]
    return sorted(found, key=lambda change: (change.cost, change.total))


def _first(ladder: Ladder, here: Trial, before: Step, share: float) -> Change | None:
    """The nearest step that fits and saves. Steps end at one that breaks a rule, and where those left cannot free enough."""
    last = here
    for value, guess in ladder.steps:
        trial = tried_if_legal(here.plan, {ladder.path: value}, here.broken)
        if trial is None:
            return None
        if trial.fits(share, here.broken):
            return _change(ladder, value, guess, here, trial, before) if _saves(here, trial) else None
        if not _may_fit(last, trial, share):
            return None
        last = trial
    return None


def _may_fit(last: Trial, trial: Trial, share: float) -> bool:
    """Whether a further step may: what is divided frees less at each step, all of them together no more than the last one did."""
    room = trial.room(share)
    if last.total is None or trial.total is None or room is None:
        return False
    return 2.0 * trial.total - last.total <= room


def _change(ladder: Ladder, value: Any, guess: float, here: Trial, trial: Trial, before: Step) -> Change:
    cost, reason = _cost(ladder.path, here, trial, before, (guess, ladder.reason))
    return Change(ladder.path, value, trial.total or 0.0, cost, reason)


def _saves(here: Trial, trial: Trial) -> bool:
    return here.total is None or trial.total is None or trial.total < LEAST_SAVING * here.total


def _cost(path: str, here: Trial, trial: Trial, before: Step, judged: tuple[float, str]) -> tuple[float, str]:
    """Share by which the predicted step of all accelerators grows, and why; as judged where no step can be predicted."""
    if before.work is None or before.seconds is None:
        return judged
    added = _added(path, here, before)
    if added is not None:
        return float(added.seconds) / float(before.seconds), added.says
    after = step_of(trial.plan)
    if after.work is None:
        return judged
    return after.work / before.work - 1.0, grown(before, after) or judged[1]


def _added(path: str, here: Trial, before: Step) -> Added | None:
    """What a field that the step model does not see adds to the step; None for the others."""
    if path == "training.optimizer_offload":
        return optimizer_on_host(before)
    if path == "training.moment_dtype":
        return moments_in_bf16(before)
    return activations_on_host(before, _kept(here)) if path == "training.activation_offload" else None


def _kept(here: Trial) -> Figure:
    """Activations of the one microbatch that a rank without a pipeline holds at the loss."""
    rank = here.memory.table[int(here.memory.worst_rank)]
    return next(one for one in rank.instants if one.name == "loss").part("activations")
