"""Answers in reverse: the largest microbatch, the longest sequence and the fewest nodes that fit.

Every answer is found by asking the ledger about a changed plan, so that it cannot disagree with what the pane shows. Which
single change of a field fits is asked in `changes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, gcd
from typing import Any, Final, TypeVar

from trainplan.budgets.layout import divisors, layouts_of
from trainplan.budgets.legality.rules import broken_rules
from trainplan.budgets.memory.budget import MemoryBudget, memory_budget
from trainplan.budgets.model import ModelBudget, model_budget
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import MeshBudget, TokenBudget, longest_of, mesh_budget, token_budget
from trainplan.frozen import record
from trainplan.plan.plan import Plan
from trainplan.plan.tables import BatchChange, Stage
from trainplan.quantity.figure import Blocked, Figure, blocked

MOST_STEPS: Final = 24
"""Doublings tried before an answer is called unlimited."""

MICRO: Final = "batch.micro_batch_sequences"
NOT_ASKED: Final = blocked("none")
Entry = TypeVar("Entry", Stage, BatchChange)


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
    """A plan with other values at some paths of its tables and of their lists' entries. The values have to be valid already."""
    tables: dict[str, dict[str, Any]] = {}
    for path, value in fields.items():
        table, field, *entry = path.split(".", 2)
        values = tables.setdefault(table, {})
        if entry:
            before = values.get(field, getattr(getattr(plan, table), field))
            values[field] = _with_entry(before, entry[0], value)
        else:
            values[field] = value
    return plan.model_copy(
        update={table: getattr(plan, table).model_copy(update=values) for table, values in tables.items()}
    )


def _with_entry(entries: tuple[Any, ...], place: str, value: Any) -> tuple[Any, ...]:
    """A list with another value in the entry that a path names, by its name or its place."""
    name, field = place.rsplit(".", 1)
    return tuple(
        one.model_copy(update={field: value}) if (getattr(one, "name", None) or str(i)) == name else one
        for i, one in enumerate(entries)
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
    """The largest microbatch that divides the batch of every stage and whose worst rank fits. None where not even 1 does."""
    return next((size for size in reversed(_dividing(plan)) if _holds(changed(plan, {MICRO: size}), share)), None)


def longest_sequence(plan: Plan, step: int = 1024, share: float = 1.0) -> int | None:
    """The longest sequence of any stage, a multiple of `step` tokens, whose worst rank fits. None where one step does not."""

    def good(count: int) -> bool:
        return _holds(changed(alone, {"data.sequence_length": count * step}), share)

    alone = _longest_alone(plan)
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
    return low * step


def _holds(plan: Plan, share: float) -> bool:
    trial = tried(plan)
    room = trial.room(share)
    return trial.total is not None and room is not None and trial.total <= room


def _dividing(plan: Plan) -> tuple[int, ...]:
    """Microbatches that divide what a replica takes in every stage, rising; the plan's own and 1 where none is told."""
    s = Situation(plan)
    data, micro = mesh_budget(s).data, int(plan.batch.micro_batch_sequences)
    stretches = token_budget(s, NOT_ASKED, NOT_ASKED).stretches
    batches = [int(one) for one in (each.global_batch_sequences for each in stretches) if isinstance(one, Figure)]
    if not isinstance(data, Figure) or not batches or gcd(*batches) % int(data):
        return (1,) if micro == 1 else (1, micro)
    return divisors(gcd(*batches) // int(data))


def _longest_alone(plan: Plan) -> Plan:
    """The plan as if its longest stretch were all of it, whose batch is filled up to whole microbatches."""
    batch = _filled(longest_stretch(plan)[1], _sequences_at_once(plan))
    tables: dict[str, dict[str, Any]] = {
        "data": {"stages": ()},
        "batch": {"schedule": (), "global_batch_sequences": batch},
    }
    return plan.model_copy(update={name: getattr(plan, name).model_copy(update=new) for name, new in tables.items()})


def longest_stretch(plan: Plan) -> tuple[float | None, float | None, str]:
    """The length (tokens) and batch (sequences) of the stretch that memory has to hold, and the path of the length."""
    tokens = token_budget(Situation(plan), NOT_ASKED, NOT_ASKED)
    found = longest_of(tokens.stretches)
    place = tokens.stretches.index(found)
    stage = plan.data.stages[place] if plan.data.stages and not plan.batch.schedule else None
    own = stage is not None and stage.sequence_length is not None
    path = f"data.stages.{stage.name or place}.sequence_length" if stage and own else "data.sequence_length"
    length, batch = found.sequence_length, found.global_batch_sequences
    told = [float(one) if isinstance(one, Figure) else None for one in (length, batch)]
    return told[0], told[1], path


def fewest_nodes(plan: Plan, share: float = 1.0) -> int | None:
    """The fewest nodes, by the mesh's own steps, on which the same layout is legal and fits. None where no number does."""
    nodes, known = int(plan.cluster.nodes or 1), tried(plan).broken
    for count in _node_counts(plan, nodes):
        if tried(_on_nodes(plan, count)).fits(share, known):
            return count
    return None


def _node_counts(plan: Plan, nodes: int) -> Iterator[int]:
    """Node counts that whole replicas fill, rising by doubling from the least."""
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
    """The plan on so many nodes, the batch of each stage filled up to whole microbatches of all its replicas."""
    there = changed(plan, {"cluster.nodes": nodes})
    group = _sequences_at_once(there)

    def entry(one: Entry) -> Entry:
        batch = one.global_batch_sequences
        return one if batch is None else one.model_copy(update={"global_batch_sequences": _filled(batch, group)})

    data_table = there.data.model_copy(update={"stages": tuple(map(entry, plan.data.stages))})
    table = {
        "schedule": tuple(map(entry, plan.batch.schedule)),
        "global_batch_sequences": _filled(plan.batch.global_batch_sequences, group),
    }
    return there.model_copy(update={"data": data_table, "batch": plan.batch.model_copy(update=table)})


def _sequences_at_once(plan: Plan) -> int:
    """Sequences of one microbatch of all replicas."""
    data = mesh_budget(Situation(plan)).data
    return int(plan.batch.micro_batch_sequences) * (int(data) if isinstance(data, Figure) else 1)


def _filled(batch: float | None, group: int) -> int:
    """A batch in sequences, filled up to whole microbatches; one of them where there is no batch."""
    return group * max(ceil((batch or 0) / group), 1)
