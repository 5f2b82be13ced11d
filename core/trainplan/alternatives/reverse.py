"""Answers in reverse: the largest microbatch, the longest sequence and the fewest nodes that fit.

Every answer is found by asking the ledger about a changed plan, so that it cannot disagree with what the pane shows. Which
single change of a field fits is asked in `changes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trainplan.budgets.layout import layouts_of
from trainplan.budgets.legality.rules import broken_rules
from trainplan.budgets.memory.budget import MemoryBudget, memory_budget
from trainplan.budgets.model import ModelBudget, model_budget
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import MeshBudget, TokenBudget, mesh_budget, token_budget
from trainplan.frozen import record
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Blocked, Figure

MOST_STEPS: Final = 24
"""Doublings tried before an answer is called unlimited."""


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

    def room(self, share: float) -> float | None:
        """Bytes of a share of usable memory; None where the part's memory is not known."""
        usable = self.memory.usable
        return share * float(usable) if isinstance(usable, Figure) else None

    def fits(self, share: float = 1.0, known: frozenset[str] = frozenset()) -> bool:
        """Whether the worst rank is within a share of usable memory, and no rule is broken but those known before."""
        usable = self.memory.usable
        if self.broken - known or self.total is None or not isinstance(usable, Figure):
            return False
        return self.total <= share * usable


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
    return _kept_ledger(_laid_out(plan, fields))


def tried_if_legal(plan: Plan, fields: dict[str, Any], known: frozenset[str]) -> Trial | None:
    """The same, None where a rule is broken but those known before: then no ledger is kept, which is most of the work."""
    laid = _laid_out(plan, fields)
    return None if laid.broken - known else _kept_ledger(laid)


@record
class _Laid:
    """A changed plan up to its mesh, and the rules that it breaks."""

    s: Situation
    model: ModelBudget
    mesh: MeshBudget
    tokens: TokenBudget
    broken: frozenset[str]


def _laid_out(plan: Plan, fields: dict[str, Any] | None) -> _Laid:
    s = Situation(changed(plan, fields) if fields else plan)
    model, mesh = model_budget(s), mesh_budget(s)
    tokens = token_budget(s, model.active_parameters, mesh.data)
    layouts = layouts_of(s, model.shape, mesh, tokens)
    asked = layouts if s.plan.data.stages else layouts[:1]  # what a ramp breaks is a warning
    broken = {rule.code for _, layout in asked for rule in broken_rules(layout) if rule.severity == "error"}
    for figure in (mesh.data, tokens.microbatches):
        if isinstance(figure, Blocked) and figure.code in ("G1", "G2"):
            broken.add(figure.code)
    return _Laid(s, model, mesh, tokens, frozenset(broken))


def _kept_ledger(laid: _Laid) -> Trial:
    memory = memory_budget(laid.s, laid.model, laid.mesh, laid.tokens, every_rank=False)
    return Trial(laid.s.plan, memory, laid.broken)


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
        room = trial.room(share)
        return trial.total is not None and room is not None and trial.total <= room

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
