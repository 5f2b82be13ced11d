"""The memory ledger: every pipeline rank at every named instant, the worst of both, and what is left of the device.

The prediction is the largest over ranks of the largest over instants, never a sum of parts that are not alive together.
Kernel scratch, graph pools and NVLS buffers are not counted; `memory.fragmentation` and `memory.runtime_overhead` stand for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from operator import attrgetter
from typing import Final

from trainplan.budgets.memory.instants import (
    CATEGORIES,
    Common,
    Heaviest,
    Instant,
    heaviest_layer,
    moving_instants,
    reserved,
    restore_instant,
    settled_instants,
    worst_of,
)
from trainplan.budgets.memory.layers import Split, layer_kept, split
from trainplan.budgets.memory.recipe import SHARDED, Recipe, recipe, word
from trainplan.budgets.memory.stages import Stage, most_stages, stages
from trainplan.budgets.memory.start import start
from trainplan.budgets.memory.states import States, held, states
from trainplan.budgets.memory.work import Layers, Work, matmul_weights, nothing, work
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import MeshBudget, TokenBudget, longest
from trainplan.formulas import memory_work as f
from trainplan.frozen import record
from trainplan.quantity.figure import Blocked, Choice, Figure, blocked, given, largest_of

UNMEASURED: Final = given("memory.calibration", 1.0, "1", "no pilot has measured a peak", kind="default")


@record
class RankMemory:
    """One pipeline rank: its instants, the worst of them and what the driver shows then; and a restore, which is apart."""

    rank: int
    instants: tuple[Instant, ...]
    reserved: Figure
    total: Figure
    restoring: Instant
    restore: Figure

    @property
    def worst(self) -> Instant:
        """The instant at which most is held; looked for when asked, since few ranks are shown."""
        return worst_of(self.instants, self.reserved)

    @property
    def allocated(self) -> Figure:
        """Bytes of the tensors at that instant."""
        return self.worst.allocated


@record
class _Resident:
    """What ranks that hold the same layers share, whatever is in flight on them."""

    kept: States
    extra: Work
    heaviest: Heaviest
    settled: tuple[Instant, ...]
    restoring: Instant
    restore: Figure


@record
class MemoryBudget:
    """The worst rank at its worst instant by category, which sum to the total; every rank; and most while a checkpoint is read."""

    weights: Figure
    gradients: Figure
    optimizer_states: Figure
    activations: Figure
    attention_temporaries: Figure
    logits: Figure
    communication_buffers: Figure
    fragmentation_runtime: Figure
    allocated: Figure
    reserved: Figure
    total: Figure
    total_low: Figure
    total_high: Figure
    usable: Figure
    headroom: Figure
    worst_rank: Figure
    worst_instant: Choice | Blocked
    restore: Figure
    ranks: Mapping[str, Figure]
    table: tuple[RankMemory, ...]

    @property
    def fullest(self) -> RankMemory | None:
        """The worst rank, wherever it is in a table that may leave ranks out; None where no ledger is kept."""
        return next((one for one in self.table if one.rank == self.worst_rank), None)


def memory_budget(
    s: Situation, model: ModelBudget, mesh: MeshBudget, tokens: TokenBudget, *, every_rank: bool = True
) -> MemoryBudget:
    """The ledger of the longest stretch's length and microbatches; blocked where a field or the mesh is missing.

    Without `every_rank` only the first rank of those that hold the same parts is worked out. It holds the most of them,
    because no schedule keeps more microbatches on a later rank, so the worst rank is the same.
    """
    inside, microbatches = longest(tokens, s, mesh.data)
    reason = no_ledger(inside, model, mesh, microbatches)
    if reason is not None:
        return _blocked_budget(reason, s["cluster.memory_per_accelerator"])
    common = common_parts(inside, model, mesh, microbatches)
    table = _ranks(inside, common, stages(inside, model, microbatches), every_rank)
    return _budget(inside, table)


def no_ledger(s: Situation, model: ModelBudget, mesh: MeshBudget, microbatches: Figure) -> str | None:
    """Why no ledger can be kept, or None; what the rules of a layout say of columns is asked before."""
    pipeline, expert = s["parallelism.pipeline"], s["parallelism.expert"]
    needed = [model.parameters, model.padded_vocabulary, mesh.data, s["data.sequence_length"]]
    if not isinstance(pipeline, Figure) or pipeline != 1 or s.word("training.gradient_accumulation") == "full":
        needed.append(microbatches)
    if s.word("parallelism.sharding") == "hsdp":
        needed.append(s["parallelism.shard_size"])
    for figure in needed:
        if isinstance(figure, Blocked):
            return figure.code
    if not model.shape.sparse:
        return "model-depth"
    if (pipeline if isinstance(pipeline, Figure) else 1.0) > most_stages(s, len(model.shape.sparse)):
        return "G4"
    told = model.shape.expert_layers is not None and isinstance(expert, Figure)
    return "G8" if told and s["model.moe.num_experts"] % expert != 0 else None


def common_parts(s: Situation, model: ModelBudget, mesh: MeshBudget, microbatches: Figure) -> Common:
    """What every rank shares."""
    cut, parts = split(s), held(s, model, mesh)
    made = recipe(s, microbatches, parts.ranks)
    dense = model.dense is not None or not model.shape.sparse
    kinds = {sparse: layer_kept(s, model, cut, sparse=sparse) for sparse in (False, True) if _has(model, sparse)}
    either = next(iter(kinds.values()))
    plain = matmul_weights(s, (model.attention, model.dense)) if dense else nothing("1")
    mixed = (
        matmul_weights(s, (model.attention, model.router, model.expert, model.shared)) if model.expert else nothing("1")
    )
    layers = Layers(kinds.get(False, either), kinds.get(True, either), plain, mixed)
    final = f.stream_bytes(cut.tokens, made.element, s["model.hidden_size"], cut.residual)
    begin = start(s, full_gradients="gradients" not in SHARDED[word(s, "parallelism.sharding")])
    return Common(model, parts, made, layers, cut, final, _output(s, cut, made), begin)


def _output(s: Situation, cut: Split, made: Recipe) -> Figure:
    """DeepSpeed keeps the output of a stage until its backward; Megatron frees it once it is sent, others do not send."""
    if s.plan.training.framework != "deepspeed":
        return nothing()
    return f.sent_output(cut.tokens, made.element, s["model.hidden_size"])


def _has(model: ModelBudget, sparse: bool) -> bool:
    return model.expert is not None if sparse else model.dense is not None


def _ranks(s: Situation, common: Common, found: list[Stage], every_rank: bool) -> tuple[RankMemory, ...]:
    """Every rank; ranks that hold the same are worked out once."""
    seen: dict[tuple[float, ...], RankMemory] = {}
    table: list[RankMemory] = []
    resident: dict[tuple[float, ...], _Resident] = {}
    for rank, stage in enumerate(found):
        held_key = (stage.dense_layers, stage.expert_layers, stage.first, stage.last)
        key = (*held_key, stage.in_flight)
        if key not in seen:
            if held_key in resident and not every_rank:
                continue
            if held_key not in resident:
                kept = states(stage, common.parts, common.recipe)
                extra = work(s, common.model, stage, common.parts, common.recipe, common.layers, common.cut)
                resident[held_key] = _resident(s, common, stage, kept, extra)
            seen[key] = _rank(s, rank, common, stage, resident[held_key])
        table.append(_as_rank(rank, seen[key]))
    return tuple(table)


def _as_rank(rank: int, same: RankMemory) -> RankMemory:
    """The same memory on another rank."""
    if rank == same.rank:
        return same
    return RankMemory(rank, same.instants, same.reserved, same.total, same.restoring, same.restore)


def _resident(s: Situation, common: Common, stage: Stage, kept: States, extra: Work) -> _Resident:
    restoring = restore_instant(common, kept)
    restore = visible(s, f.reserved_bytes(restoring.allocated, s["memory.fragmentation"]))
    heaviest = heaviest_layer(s, common, stage, extra)
    return _Resident(kept, extra, heaviest, settled_instants(s, common, kept, extra), restoring, restore)


def _rank(s: Situation, rank: int, common: Common, stage: Stage, here: _Resident) -> RankMemory:
    instants = (*moving_instants(s, common, stage, here.kept, here.extra, here.heaviest), *here.settled)
    held = reserved(s, instants)
    return RankMemory(rank, instants, held, visible(s, held), here.restoring, here.restore)


def visible(s: Situation, reserved: Figure) -> Figure:
    """What the driver shows of what the allocator holds."""
    calibration = UNMEASURED if s.value("memory.calibration") is None else s["memory.calibration"]
    return f.visible_bytes(reserved, s["memory.runtime_overhead"], calibration)


def _budget(s: Situation, table: tuple[RankMemory, ...]) -> MemoryBudget:
    names, keys = _names(tuple(map(_RANK, table)))
    totals = tuple(map(_TOTAL, table))
    peak = largest_of(names, totals)
    worst = table[totals.index(peak)]
    instant = worst.worst
    usable = s["cluster.memory_per_accelerator"]
    low, high = band(s)
    rank = given("worst rank", float(worst.rank), "1", "the largest total, the lowest rank on a tie", kind="file")
    return MemoryBudget(
        **instant.parts,
        fragmentation_runtime=f.outside_tensors(worst.total, instant.allocated),
        allocated=instant.allocated,
        reserved=worst.reserved,
        total=peak,
        total_low=f.band_edge(peak, low),
        total_high=f.band_edge(peak, high),
        restore=largest_of(names, tuple(map(_RESTORE, table))),
        usable=usable,
        headroom=f.headroom(usable, peak),
        worst_rank=rank,
        worst_instant=Choice(instant.name, "the largest instant of the worst rank", inputs=(instant.allocated,)),
        ranks=dict(zip(keys, totals, strict=True)),
        table=table,
    )


@lru_cache(100)
def _names(ranks: tuple[int, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What ranks are called where the largest is told, and the keys of their totals."""
    return tuple([f"rank {rank}" for rank in ranks]), tuple([f"{rank}.total" for rank in ranks])


_RANK: Final = attrgetter("rank")
_TOTAL: Final = attrgetter("total")
_RESTORE: Final = attrgetter("restore")

FUSED_ROTARY: Final = (
    "Megatron-LM d98e8a6, fusions/fused_mla_yarn_rope_apply.py: where it is on, one of three copies of queries and keys stays; "
    "Megatron-Bridge 067f987 holds 199.5 GB of DeepSeek-V3 where 223.7 are read without it"
)


def band(s: Situation) -> tuple[Figure, Figure]:
    """Edges of the 80 % band as ratios, by how much of the recipe the plan says and how well such runs were predicted."""
    native = s.plan.training.framework in ("torchtitan", "fsdp", "maxtext")
    unknown = native and not (s.written("training.kernels") and s.written("training.loss"))
    spread = native and (s["parallelism.tensor"] > 1 or s["parallelism.pipeline"] > 1)
    low, high = (0.90, 1.35) if unknown else (0.80, 1.20) if spread else (0.90, 1.10)
    source = "residuals on measured rows, tests/golden/memory.toml"
    if s.value("model.mla.kv_lora_rank") is not None and word(s, "training.kernels") == "megatron-te":
        low, source = 0.80, f"{source}; {FUSED_ROTARY}"
    return _edge("band, low", low, source), _edge("band, high", high, source)


@cache
def _edge(name: str, ratio: float, source: str) -> Figure:
    return given(name, ratio, "1", source)


def _blocked_budget(code: str, usable: Figure) -> MemoryBudget:
    none = blocked(code, "bytes")
    words: dict[str, Figure] = dict.fromkeys(CATEGORIES, none)
    return MemoryBudget(
        **words,
        fragmentation_runtime=none,
        allocated=none,
        reserved=none,
        total=none,
        total_low=none,
        total_high=none,
        usable=usable,
        headroom=none,
        worst_rank=blocked(code),
        worst_instant=Blocked(code, "text"),
        restore=none,
        ranks={},
        table=(),
    )
