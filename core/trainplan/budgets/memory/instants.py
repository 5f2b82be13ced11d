"""The named instants of a pipeline rank: what is alive together in a step, in evaluation, at a restore, while kernels are tuned.

Those that in-flight microbatches do not move are apart, so that ranks which hold the same work them out once.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Final, cast

from trainplan.budgets.memory.layers import Split
from trainplan.budgets.memory.recipe import Recipe, goes_round
from trainplan.budgets.memory.stages import Stage
from trainplan.budgets.memory.start import Start, restored
from trainplan.budgets.memory.states import Held, States
from trainplan.budgets.memory.work import Layers, Work, nothing
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.shape import keeps_scores
from trainplan.budgets.situation import Situation
from trainplan.formulas import memory_work as f
from trainplan.formulas.memory_states import group_copies, step_copies, tuned_temporaries
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, given, largest, largest_of
from trainplan.quantity.formula import named_sum

CATEGORIES: Final = (
    "weights",
    "gradients",
    "optimizer_states",
    "activations",
    "attention_temporaries",
    "logits",
    "communication_buffers",
)


@record
class Instant:
    """One named instant of a rank: bytes by category, and their sum; and whether what is cached then is given back.

    The allocator gives cached blocks back before it fails. Where whole buffers of a shard are made after backward, nothing else
    lives in those blocks: LlamaFactory issue 1158 ended there with 77.65 GiB allocated and 77.66 reserved.
    """

    name: str
    allocated: Figure
    gives_back: bool = False

    @property
    def parts(self) -> Mapping[str, Figure]:
        """Bytes by category, which the sum remembers; an estimate has fifty instants and shows the parts of a few."""
        return dict(zip(CATEGORIES, self.allocated.inputs, strict=True))

    def part(self, category: str) -> Figure:
        """Bytes of one category."""
        return self.allocated.inputs[CATEGORIES.index(category)]


@record
class Common:
    """What every rank shares: one layer of each kind, the recipe, the cut of a microbatch."""

    model: ModelBudget
    parts: Held
    recipe: Recipe
    layers: Layers
    cut: Split
    final_norm: Figure
    output: Figure
    start: Start


@record
class Heaviest:
    """Bytes of a rank's heaviest layer: all computed again, its MLP where attention may hold more, what kernels are tuned with."""

    again: Figure
    mlp: Figure | None
    tuned: Figure | None


def rank_instants(s: Situation, common: Common, stage: Stage, kept: States, extra: Work) -> tuple[Instant, ...]:
    """Every instant of one rank of a run that began from scratch: those of a step, evaluation, the tuning of kernels."""
    heaviest = heaviest_layer(s, common, stage, extra)
    return (*moving_instants(s, common, stage, kept, extra, heaviest), *settled_instants(s, common, kept, extra))


def heaviest_layer(s: Situation, common: Common, stage: Stage, extra: Work) -> Heaviest:
    """What the heaviest layer of a rank adds; the same for ranks that hold the same layers."""
    dense, sparse, workspace = common.layers.dense, common.layers.sparse, common.start.workspace
    apart = keeps_scores(s) or goes_round(s)
    return Heaviest(
        _larger(stage, dense.again, sparse.again),
        _larger(stage, dense.mlp, sparse.mlp) if apart else None,
        None if workspace is None else tuned_temporaries(extra.temporaries, workspace),
    )


def moving_instants(
    s: Situation, common: Common, stage: Stage, kept: States, extra: Work, heaviest: Heaviest
) -> tuple[Instant, ...]:
    """Instants with activations in flight, in the order of a step; the first step, in which kernels are tuned, is last."""
    none, again = nothing(), heaviest.again
    each, flying = _kept_each(s, common, stage)
    flight = f.activations_in_flight(each, flying)
    first = f.activations_with_layer(each, flying, again)
    found = [
        _instant("loss", kept, flight, extra.standing, extra.logits, extra.buffers_loss),
        _instant("first layer of backward", kept, first, extra.temporaries, none, extra.buffers_layer),
        _instant(
            "end of backward", kept, f.activations_left(each, flying, again), extra.standing, none, extra.buffers_end
        ),
    ]
    if heaviest.mlp is not None:
        left = f.activations_without_mlp(each, flying, again, heaviest.mlp)
        found.insert(
            2, _instant("attention of the first layer", kept, left, extra.score_temporaries, none, extra.buffers_layer)
        )
    if heaviest.tuned is not None:
        found.append(_instant("compilation", kept, first, heaviest.tuned, none, extra.buffers_layer))
    return tuple(found)


def _kept_each(s: Situation, common: Common, stage: Stage) -> tuple[Figure, Figure]:
    """What a rank keeps of one microbatch, and how many of them."""
    dense, sparse = common.layers.dense, common.layers.sparse
    if s.plan.training.activation_offload:
        each = f.offloaded_activations(_larger(stage, dense.stored, sparse.stored))
        return each, ON_DEVICE
    each = f.rank_kept(
        stage.dense_layers,
        dense.stored,
        stage.expert_layers,
        sparse.stored,
        stage.last,
        common.final_norm,
        common.output,
    )
    return each, stage.in_flight


def settled_instants(s: Situation, common: Common, kept: States, extra: Work) -> tuple[Instant, ...]:
    """Instants without activations: the optimizer step, and evaluation in the loop."""
    none = nothing()
    found = [_optimizer_step(s, common, kept, extra)]
    if s.plan.evaluation.tasks and s.plan.evaluation.mode == "in-loop":
        found.append(_instant("evaluation", kept, none, extra.temporaries, extra.evaluation, extra.buffers_step))
    return tuple(found)


ON_DEVICE: Final = given("microbatches kept on the device", 1.0, "1", "training.activation_offload", kind="default")
SUB_GROUP: Final = given(
    "parameters of a sub-group", 1e9, "1", "DeepSpeed edaa722, runtime/zero/config.py: sub_group_size", kind="default"
)


def _optimizer_step(s: Situation, common: Common, kept: States, extra: Work) -> Instant:
    """DeepSpeed's bf16 shards of gradients are copied flat and to fp32 in the step, when its buckets are gone."""
    none, gradients, buffers = nothing(), kept.gradients, extra.buffers_step
    copied, whole = _copied_in_step(s), s.word("parallelism.sharding") == "zero-2"
    if copied:
        element = common.recipe.element
        copies = step_copies(gradients, element) if whole else group_copies(gradients, element, SUB_GROUP)
        gradients, buffers = IN_STEP(shard=gradients, copies=copies), none
    allocated = ALLOCATED(kept.weights, gradients, kept.optimizer, none, extra.standing, none, buffers)
    return Instant("optimizer step", allocated, copied and whole)


def _copied_in_step(s: Situation) -> bool:
    """Where the step's fp32 gradients are not among the optimizer's states already, and no host has them."""
    training, sharding = s.plan.training, s.word("parallelism.sharding")
    cut = sharding in ("zero-2", "zero-3", "hsdp")
    return (
        training.framework == "deepspeed"
        and training.precision == "bf16-mixed"
        and cut
        and not training.optimizer_offload
    )


def restore_instant(common: Common, kept: States) -> Instant:
    """The read of a checkpoint, which a run that began from scratch has not: apart from the peak, as measured peaks are."""
    weights, gradients = restored(common.start, kept.weights, kept.gradients)
    none = nothing()
    return Instant("restore", ALLOCATED(weights, gradients, kept.restored, none, none, none, none))


def _larger(stage: Stage, dense: Figure, sparse: Figure) -> Figure:
    return f.largest_layer(stage.dense_layers, dense, stage.expert_layers, sparse)


def _instant(
    name: str, kept: States, activations: Figure, temporaries: Figure, logits: Figure, buffers: Figure
) -> Instant:
    allocated = ALLOCATED(kept.weights, kept.gradients, kept.optimizer, activations, temporaries, logits, buffers)
    return Instant(name, allocated)


ALLOCATED: Final = named_sum("bytes", *CATEGORIES)
IN_STEP: Final = named_sum("bytes", "shard", "copies")


def reserved(s: Situation, instants: tuple[Instant, ...]) -> Figure:
    """What the allocator holds at most: with fragmentation, but for an instant before which cached blocks are given back."""
    kept = [one for one in instants if not one.gives_back]
    held = f.reserved_bytes(_most(kept), s["memory.fragmentation"])
    if len(kept) == len(instants):
        return held
    return largest(cached=held, **{one.name: one.allocated for one in instants if one.gives_back})


def _most(instants: list[Instant]) -> Figure:
    return largest_of(tuple(map(_NAME, instants)), tuple(map(_ALLOCATED, instants)))


_NAME: Final = attrgetter("name")
_ALLOCATED: Final = attrgetter("allocated")


def worst_of(instants: tuple[Instant, ...], held: Figure) -> Instant:
    """The instant at which that much is held, the first on a tie."""
    most: Instant | None = None
    for one in instants:
        if one.gives_back:
            if one.allocated == held:
                return one
        elif most is None or one.allocated > most.allocated:
            most = one
    return cast("Instant", most)  # the loss is always among them
