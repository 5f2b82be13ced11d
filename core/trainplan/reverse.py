"""Answers in reverse: the largest microbatch, the longest sequence, the fewest nodes that fit, and the nearest change that does.

Every answer is found by asking the ledger about a changed plan, so that it cannot disagree with what the pane shows. A change
is one step of one field. Nothing is proposed that breaks a rule of the layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trainplan.budgets.layout import layout_of
from trainplan.budgets.legality import broken_rules
from trainplan.budgets.memory import MemoryBudget, memory_budget
from trainplan.budgets.model import model_budget
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import mesh_budget, token_budget
from trainplan.figure import Blocked, Figure
from trainplan.frozen import frozen, record
from trainplan.offload import Added, Step, activations_on_host, grown, moments_in_bf16, optimizer_on_host, step_of
from trainplan.plan.plan import Plan

MOST_STEPS: Final = 24
"""Doublings tried before an answer is called unlimited."""

LEAST_SAVING: Final = 0.99
"""Share of the present total above which a change saves nothing worth naming."""


@record
class Trial:
    """A changed plan and its ledger."""

    plan: Plan
    memory: MemoryBudget
    broken: frozenset[str]

    @property
    def legal(self) -> bool:
        """Whether no rule of the layout is broken."""
        return not self.broken

    @property
    def total(self) -> float | None:
        """Bytes on the worst rank; None where the ledger cannot be kept."""
        return float(self.memory.total) if isinstance(self.memory.total, Figure) else None

    def fits(self, share: float = 1.0, known: frozenset[str] = frozenset()) -> bool:
        """Whether the worst rank is within a share of usable memory, and no rule is broken but those known before."""
        usable = self.memory.usable
        if self.broken - known or self.total is None or not isinstance(usable, Figure):
            return False
        return self.total <= share * usable


@frozen
class Change:
    """One field set to another value, and what the worst rank holds then (bytes).

    `cost` is the share by which accelerator time of a step grows: by the step model where it sees the field, else by `offload`;
    `guess`, which orders what is tried, where no step can be predicted.
    """

    path: str
    value: Any
    total: float
    cost: float
    guess: float
    reason: str

    @property
    def text(self) -> str:
        """The change as a plan writes it, the field's last word alone."""
        written = f'"{self.value}"' if isinstance(self.value, str) else str(self.value).lower()
        return f"{self.path.rsplit('.', 1)[-1]} = {written}"


def changed(plan: Plan, fields: dict[str, Any]) -> Plan:
    """A plan with other values at some paths of its tables. The values have to be valid already."""
    tables: dict[str, dict[str, Any]] = {}
    for path, value in fields.items():
        table, field = path.split(".")
        tables.setdefault(table, {})[field] = value
    return plan.model_copy(
        update={table: getattr(plan, table).model_copy(update=values) for table, values in tables.items()}
    )


def tried(plan: Plan, fields: dict[str, Any] | None = None) -> Trial:
    """The ledger of a changed plan, and whether its layout is legal."""
    other = changed(plan, fields) if fields else plan
    s = Situation(other)
    model, mesh = model_budget(s), mesh_budget(s)
    tokens = token_budget(s, model.active_parameters, mesh.data)
    rules = broken_rules(layout_of(s, model.shape, mesh, tokens))
    broken = {rule.code for rule in rules if rule.severity == "error"}
    for figure in (mesh.data, tokens.microbatches):
        if isinstance(figure, Blocked) and figure.code in ("G1", "G2"):
            broken.add(figure.code)
    return Trial(other, memory_budget(s, model, mesh, tokens, every_rank=False), frozenset(broken))


def largest_micro_batch(plan: Plan, share: float = 1.0) -> int | None:
    """The largest microbatch whose worst rank fits; the batch is not asked to divide. None where one sequence does not fit."""
    return _largest(plan, "batch.micro_batch_sequences", share, 1)


def longest_sequence(plan: Plan, step: int = 1024, share: float = 1.0) -> int | None:
    """The longest sequence, a multiple of `step` tokens, whose worst rank fits. None where one step does not fit."""
    found = _largest(plan, "data.sequence_length", share, step)
    return None if found is None else found * step


def _largest(plan: Plan, path: str, share: float, step: int) -> int | None:
    """Doubling, then halving the gap; the total rises with both fields."""

    def good(count: int) -> bool:
        trial = tried(_free_of_batch(plan, path, count * step))
        return trial.total is not None and trial.total <= share * float(trial.memory.usable)

    if not good(1):
        return None
    low, high = 1, 2
    for _ in range(MOST_STEPS):
        if not good(high):
            break
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if good(middle) else (low, middle)
    return low


def _free_of_batch(plan: Plan, path: str, value: int) -> Plan:
    """The plan at that value with as many microbatches as before, whatever its batch and stages say."""
    parallel, micro = plan.parallelism, plan.batch.micro_batch_sequences
    ranks = int(parallel.tensor * parallel.pipeline * parallel.context)
    s = Situation(plan)
    world = float(mesh_budget(s).world_size) if isinstance(mesh_budget(s).world_size, Figure) else float(ranks)
    data = max(int(world // ranks), 1)
    batch = plan.batch.global_batch_sequences or data * micro
    count = max(int(batch // (data * micro)), 1)
    fields = {path: value}
    sequences = value if path.startswith("batch.") else int(micro)
    flat = plan.model_copy(
        update={
            "data": plan.data.model_copy(update={"stages": ()}),
            "batch": plan.batch.model_copy(update={"schedule": ()}),
        }
    )
    return changed(flat, {**fields, "batch.global_batch_sequences": sequences * count * data})


def fewest_nodes(plan: Plan, share: float = 1.0) -> int | None:
    """The fewest nodes, by the mesh's own steps, on which the same layout is legal and fits. None where no number does."""
    nodes, known = int(plan.cluster.nodes or 1), tried(plan).broken
    for count in _node_counts(plan, nodes):
        if tried(_on_nodes(plan, count)).fits(share, known):
            return count
    return None


def _node_counts(plan: Plan, nodes: int) -> Iterator[int]:
    """Node counts that whole replicas fill, rising by doubling from the least."""
    from math import gcd

    parallel = plan.parallelism
    each = Situation(plan)["cluster.accelerators_per_node"]
    per_node = int(each) if isinstance(each, Figure) else 1
    group = int(parallel.tensor * parallel.pipeline * parallel.context)
    least = group // gcd(group, per_node)
    count = least
    while count <= max(nodes, least) * 64:
        yield count
        count *= 2


def _on_nodes(plan: Plan, nodes: int) -> Plan:
    return _free_of_batch(
        changed(plan, {"cluster.nodes": nodes}), "batch.micro_batch_sequences", int(plan.batch.micro_batch_sequences)
    )


def neighbours(plan: Plan) -> Iterator[tuple[str, Any, float, str]]:
    """One-step changes that can lower memory: the field, its value, its cost in step time, and why it costs that."""
    parallel, training, s = plan.parallelism, plan.training, Situation(plan)
    yield from _kernels(s)
    yield from _shardings(s)
    if plan.batch.micro_batch_sequences > 1:
        half = int(plan.batch.micro_batch_sequences) // 2
        yield "batch.micro_batch_sequences", half, 0.02, "smaller products"
    if training.optimizer in ("adamw",):
        yield "training.moment_dtype", "bf16", 0.0, "moments in half the bytes; its loss has to be checked"
    if parallel.recompute == "none":
        yield "parallelism.recompute", "selective", 0.05, "part of forward twice"
    if parallel.recompute != "full":
        yield "parallelism.recompute", "full", 0.33, "forward twice: 8 FLOP for 6"
    yield (
        "parallelism.tensor",
        int(parallel.tensor) * 2,
        _tensor_cost(int(parallel.tensor) * 2),
        "measured on 8-way nodes",
    )
    yield "parallelism.pipeline", int(parallel.pipeline) * 2, 0.10, "a bubble, by the microbatches"
    yield "parallelism.context", int(parallel.context) * 2, 0.08, "keys and values go round"
    if s.word("parallelism.sharding") != "none":
        yield "cluster.nodes", int(plan.cluster.nodes or 1) * 2, 1.0, "twice the accelerators"
    if not training.optimizer_offload:
        yield "training.optimizer_offload", True, 0.5, "gradients and weights cross the host link every step"
    if not training.activation_offload and parallel.recompute == "none" and parallel.pipeline == 1:
        yield "training.activation_offload", True, 0.2, "activations cross the host link twice"


TENSOR_SPEED: Final = {2: 1.0, 4: 0.95, 8: 0.77, 16: 0.43, 32: 0.25}
"""Tokens a second against tensor 2 on 8-way NVLink nodes: Ultra-Scale Playbook, tensor and sequence parallel scaling."""


def _tensor_cost(tensor: int) -> float:
    speed = TENSOR_SPEED.get(tensor)
    return 0.06 if tensor == 2 else 3.0 if speed is None else 1.0 / speed - 1.0 + 0.06


def _kernels(s: Situation) -> Iterator[tuple[str, Any, float, str]]:
    megatron = s.plan.training.framework in ("megatron", "deepspeed")
    better = ("fused-in-place",) if megatron else ("fused", "chunked")
    for kernel in better:
        if s.word("training.loss") != kernel:
            yield "training.loss", kernel, 0.0, "fewer copies of the logits"
    if s.plan.training.attention == "eager":
        yield "training.attention", "flash", -0.05, "no score matrices"
    if s["parallelism.tensor"] > 1 and not s.plan.parallelism.sequence_parallel:
        yield "parallelism.sequence_parallel", True, 0.0, "the same volume as tensor parallel"


def _shardings(s: Situation) -> Iterator[tuple[str, Any, float, str]]:
    order = ("none", "zero-1", "zero-2", "zero-3")
    kind = s.word("parallelism.sharding")
    for other in order[order.index(kind) + 1 :] if kind in order else ("zero-3",):
        yield "parallelism.sharding", other, {"zero-1": 0.0, "zero-2": 0.02}.get(other, 0.10), "volume of gathers"


def single_changes(plan: Plan, share: float = 1.0, most: int | None = None) -> list[Change]:
    """Legal single changes that make the plan fit, the least costly in time first, then the least memory.

    With `most`, the search ends when so many were found, at the end of a group of equal cost.
    """
    here, before = tried(plan), step_of(plan)
    found: list[Change] = []
    for path, value, guess, judged in sorted(neighbours(plan), key=lambda one: one[2]):
        if most is not None and len(found) >= most and guess > found[-1].guess:
            break
        trial = tried(plan, {path: value})
        if trial.fits(share, here.broken) and _saves(here, trial):
            cost, reason = _cost(path, here, trial, before, (guess, judged))
            found.append(Change(path, value, trial.total or 0.0, cost, guess, reason))
    return sorted(found, key=lambda change: (change.cost, change.total))


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
    return next(one for one in rank.instants if one.name == "loss").parts["activations"]
