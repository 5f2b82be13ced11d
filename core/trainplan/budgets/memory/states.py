"""Parameters of a pipeline rank in three buckets, and the states that come with them."""

from __future__ import annotations

from typing import Final

from trainplan.budgets.layer import Layer, one_norm
from trainplan.budgets.memory.recipe import Recipe, State
from trainplan.budgets.memory.stages import Stage
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.shape import has_table
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import MeshBudget
from trainplan.formulas import memory_states as f
from trainplan.formulas.model import mtp_projection_parameters
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, given, total_of

NO_LAYER: Final = given("nothing", 0.0, "1", "the model has no such layer", kind="file")
NO_PART: Final = given("no such part", 0.0, "1", "the model has none", kind="file")
NONE_WHOLE: Final = given("parts held whole", 0.0, "1", "the model has none", kind="file")


@record
class Held:
    """Parameters of one layer of each kind, of its experts, and of the two ends, on one tensor rank."""

    dense: Figure
    sparse: Figure
    experts: Figure
    embedding: Figure
    head: Figure
    table: Figure
    ranks: Figure
    expert_ranks: Figure


@record
class States:
    """Bytes that stay on a rank from step to step, and those of the optimizer while a checkpoint is read."""

    parameters: Figure
    experts: Figure
    weights: Figure
    gradients: Figure
    optimizer: Figure
    restored: Figure


def held(s: Situation, model: ModelBudget, mesh: MeshBudget) -> Held:
    """What one tensor rank holds of each part, and how many ranks share its sharded states."""
    hsdp = s.word("parallelism.sharding") == "hsdp"
    ranks = s["parallelism.shard_size"] if hsdp else f.shard_ranks(mesh.data, s["parallelism.context"])
    table = _table(model)
    return Held(
        dense=_layer(s, (model.attention, model.dense, model.norms)) if model.dense else NO_LAYER,
        sparse=_layer(s, (model.attention, model.router, model.shared, model.norms)) if model.expert else NO_LAYER,
        experts=_experts(s, model.expert) if model.expert else NO_LAYER,
        embedding=f.held_table(table, s["parallelism.tensor"], _small(s, model, ("position", "embedding_projections"))),
        head=f.held_table(_own_head(s, model, table), s["parallelism.tensor"], _last(s)),
        table=table,
        ranks=ranks,
        expert_ranks=f.expert_shard_ranks(
            ranks, s["parallelism.tensor"], s["parallelism.expert"], s["parallelism.expert_tensor"]
        ),
    )


def _table(model: ModelBudget) -> Figure:
    """Elements of a padded embedding table, over all tensor ranks."""
    return f.table_parameters(model.padded_vocabulary, model.shape.embedding_width)


def _own_head(s: Situation, model: ModelBudget, table: Figure) -> Figure:
    """The head's table; a tied one is a second copy only where the last rank is not the first."""
    if not model.shape.tied:
        return table
    if s.plan.parallelism.schedule in ("zb-v", "dualpipe"):
        return given("a tied head on the embedding's rank", 0.0, "1", "model.tie_word_embeddings", kind="file")
    return f.tied_copy(table, s["parallelism.pipeline"])


def _layer(s: Situation, parts: tuple[Layer | None, ...]) -> Figure:
    """One layer on one tensor rank, routed experts apart."""
    split: dict[str, Figure] = {}
    whole: dict[str, Figure] = {}
    for name, one in zip(("attention", "mlp", "shared", "norms"), parts, strict=False):
        if one is None:
            continue
        for found, figure in ((split, one.held(split=True)), (whole, one.held(split=False))):
            if figure is not None:
                found[name] = figure
    return f.held_parameters(
        total_of(split) if split else NO_PART, total_of(whole) if whole else NO_PART, s["parallelism.tensor"]
    )


def _experts(s: Situation, expert: Layer) -> Figure:
    split, whole = expert.held(split=True), expert.held(split=False)
    experts, ranks = s["model.moe.num_experts"], s["parallelism.expert"]
    return f.held_experts(
        NO_PART if split is None else split,
        NO_PART if whole is None else whole,
        experts,
        ranks,
        s["parallelism.expert_tensor"],
    )


def _small(s: Situation, model: ModelBudget, names: tuple[str, ...]) -> Figure:
    parts: dict[str, Figure] = {}
    for name in names:
        part = model.part(name)
        if part is not None and part.total is not None:
            parts[name] = part.total
    one = one_norm(s)
    if one is not None and s.flag("model.embedding_norm"):
        parts["norm"] = one
    return total_of(parts) if parts else NONE_WHOLE


def _last(s: Situation) -> Figure:
    """What the last rank holds whole: the final norm, the projections of prediction depths."""
    parts: dict[str, Figure] = {}
    one = one_norm(s)
    if one is not None and s.flag("model.final_norm"):
        parts["final_norm"] = one
    if has_table(s, "mtp"):
        parts["prediction"] = f.repeated(
            s["model.mtp.num_nextn_predict_layers"], mtp_projection_parameters(s["model.hidden_size"])
        )
    return total_of(parts) if parts else NONE_WHOLE


def states(stage: Stage, parts: Held, recipe: Recipe) -> States:
    """Weights, gradients and optimizer states of one pipeline rank."""
    parameters = f.rank_parameters(
        stage.dense_layers,
        parts.dense,
        stage.expert_layers,
        parts.sparse,
        stage.first,
        parts.embedding,
        stage.last,
        parts.head,
    )
    experts = f.rank_experts(stage.expert_layers, parts.experts)

    def of(state: State) -> Figure:
        return f.resident_bytes(parameters, experts, state.whole, state.shared, parts.ranks, parts.expert_ranks)

    optimizer = of(recipe.optimizer)
    again = optimizer if recipe.restored is recipe.optimizer else of(recipe.restored)
    return States(parameters, experts, of(recipe.weights), of(recipe.gradients), optimizer, again)
