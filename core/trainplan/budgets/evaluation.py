"""What evaluation costs and what it can tell: every task by itself, then all evaluations of the run.

Items, prompts and answers are the catalogue's unless the plan says them. It judges no score.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import chain
from operator import attrgetter

from trainplan.budgets.compute import Throughput
from trainplan.budgets.flops import attention_layers, score_flops, summed_keys
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import MeshBudget
from trainplan.catalogue import entry
from trainplan.formulas import evaluation as f
from trainplan.frozen import record
from trainplan.plan.tables import EvaluationTask
from trainplan.quantity.figure import Figure, blocked, given, total_of
from trainplan.quantity.formula import named_sum

BATCH = given(
    "sequences decoded together", 32.0, "1", "default, not measured: a small batch", kind="default", verified=False
)
REACHED = given(
    "share of the memory bound that decoding reaches", 0.5, "1", "product judgement", kind="default", verified=False
)
NO_TOKENS = given("no evaluation tasks", 0.0, "tokens", "plan file: none", kind="file")
NO_HOURS = given("no evaluation beside training", 0.0, "h", "definition", kind="file")
NO_TIME = given("no evaluation that stops training", 0.0, "s", "definition", kind="file")
NO_RUNS = given("no evaluations", 0.0, "1", "plan file: no tasks", kind="file")
SCORED = given("nothing is generated", 0.0, "s", "definition", kind="file")
ONE = given("compressed vectors of a token", 1.0, "1", "definition", kind="file")
TOKENS = named_sum("tokens", "read", "generated")
TIME = named_sum("s", "reading", "generating")
SEQUENCE_PARTS = ("items", "choices", "repeats", "continuation_tokens", "generated_tokens")


@record
class TaskBudget:
    """One task in one evaluation: its sizes, tokens, time, and the least difference that it can show."""

    name: str
    items: Figure
    shots: Figure
    repeats: Figure
    context_tokens: Figure
    generated_tokens: Figure
    tokens: Figure
    time: Figure
    standard_error: Figure
    smallest_difference: Figure

    @property
    def generates(self) -> bool:
        """Whether answers are generated, not scored."""
        return isinstance(self.generated_tokens, Figure) and self.generated_tokens > 0


@record
class EvaluationBudget:
    """All evaluations of the run. `blocking_time` (s) stops training, `separate_hours` (h) are paid beside it."""

    evaluations: Figure
    tokens_each: Figure
    time_each: Figure
    accelerators: Figure
    tokens: Figure
    accelerator_hours: Figure
    blocking_time: Figure
    separate_hours: Figure
    tasks: Mapping[str, Figure]
    rows: tuple[TaskBudget, ...]


@record
class _Place:
    """Where tasks run: accelerators, the speed of reading and generating on one of them, and how layers attend."""

    accelerators: Figure
    speed: Throughput
    model: ModelBudget
    layers: dict[str, Figure]


def evaluation_budget(s: Situation, model: ModelBudget, speed: Throughput, mesh: MeshBudget) -> EvaluationBudget:
    """Every task of the plan, and all evaluations; zero where the plan has no task."""
    in_loop = s.plan.evaluation.mode == "in-loop"
    where = mesh.world_size if in_loop else s["evaluation.accelerators"]
    if not s.plan.evaluation.tasks:
        return _nothing(where)
    rows = _rows(s, _Place(where, speed, model, attention_layers(s, model)))
    count = f.evaluations(s["data.train_tokens"], s["evaluation.interval_tokens"])
    tokens_each = total_of({row.name: row.tokens for row in rows})
    time_each = total_of({row.name: row.time for row in rows})
    time = f.run_time(count, time_each)
    hours = f.run_hours(time, where)
    return EvaluationBudget(
        evaluations=count,
        tokens_each=tokens_each,
        time_each=time_each,
        accelerators=where,
        tokens=f.run_tokens(count, tokens_each),
        accelerator_hours=hours,
        blocking_time=time if in_loop else NO_TIME,
        separate_hours=NO_HOURS if in_loop else hours,
        tasks=_keyed(rows),
        rows=rows,
    )


def _nothing(where: Figure) -> EvaluationBudget:
    place = where if isinstance(where, Figure) else blocked("none")
    return EvaluationBudget(NO_RUNS, NO_TOKENS, NO_TIME, place, NO_TOKENS, NO_HOURS, NO_TIME, NO_HOURS, {}, ())


def evaluation_share(budget: EvaluationBudget, run_hours: Figure) -> Figure:
    """Evaluation as a share of all accelerator-hours."""
    return f.run_share(budget.accelerator_hours, budget.separate_hours, run_hours)


def task_names(tasks: tuple[EvaluationTask, ...]) -> tuple[str, ...]:
    """A name for each task: its own, with its number behind it where it stands twice."""
    found: list[str] = []
    for place, one in enumerate(tasks):
        name = one.task or f"task {place + 1}"
        found.append(name if name not in found else f"{name} {place + 1}")
    return tuple(found)


def _rows(s: Situation, place: _Place) -> tuple[TaskBudget, ...]:
    tasks = s.plan.evaluation.tasks
    return tuple(_row(s, place, i, name) for i, name in enumerate(task_names(tasks)))


def _row(s: Situation, place: _Place, index: int, name: str) -> TaskBudget:
    task = s.plan.evaluation.tasks[index]
    facts = _Facts(s, task, f"evaluation.tasks.{name if name == task.task else index}")
    items, choices, repeats, continuation, generated = (facts[key] for key in SEQUENCE_PARTS)
    shots = facts["shots"]
    context = facts.context(shots)
    passes = f.passes_per_item(choices, continuation, generated)
    read = f.read_tokens(items, repeats, passes, context, continuation)
    written = f.written_tokens(items, repeats, generated)
    error = f.standard_error(items)
    return TaskBudget(
        name=name,
        items=items,
        shots=shots,
        repeats=repeats,
        context_tokens=context,
        generated_tokens=generated,
        tokens=TOKENS(read=read, generated=written),
        time=TIME(reading=_reading(s, place, read, context), generating=_writing(s, place, written, context)),
        standard_error=error,
        smallest_difference=f.smallest_difference(error),
    )


def _reading(s: Situation, place: _Place, tokens: Figure, context: Figure) -> Figure:
    """Time to read prompts, whose own length says how many keys a token sees: no length of a stage is in it."""
    keys = summed_keys(s, place.layers, context)
    each = f.forward_flops(place.speed.flops.flops_per_token_6n, score_flops(place.model, keys))
    return f.reading_time(tokens, each, s["evaluation.utilization"], place.speed.peak_flops, place.accelerators)


def _writing(s: Situation, place: _Place, tokens: Figure, context: Figure) -> Figure:
    if isinstance(tokens, Figure) and tokens == 0:
        return SCORED
    rate = f.decode_rate(
        BATCH, s.part_fact("memory_bandwidth"), place.model.active_parameters, _cache(s, place.model, context), REACHED
    )
    return f.writing_time(tokens, rate, place.accelerators)


def _cache(s: Situation, model: ModelBudget, context: Figure) -> Figure:
    """Keys and values of a sequence; latent attention keeps one compressed vector and the rotating part of the keys."""
    shape = model.shape
    if shape.latent:
        rank, rope = s["model.mla.kv_lora_rank"], s["model.mla.qk_rope_head_dim"]
        return f.cache_bytes(shape.layers, ONE, rank, rope, context)
    return f.cache_bytes(shape.layers, shape.key_value_heads, shape.query_size, shape.value_size, context)


SHOWN = ("items", "shots", "context_tokens", "tokens", "time", "standard_error", "smallest_difference")
"""Figures of a task that have a key."""

OWN = ("shots", "items", "choices", "context_tokens", "generated_tokens", "repeats")
"""Fields of a task in the plan; the rest only the catalogue has."""


@cache
def _catalogued(task: str, key: str) -> Figure | None:
    """A number of a task's catalogue entry, None where it has none."""
    found = entry("tasks", task)
    fact = found.get(key) if found is not None else None
    if fact is None:
        return None
    name = f"catalogue.tasks.{task}.{key}"
    return given(name, float(fact.value), fact.unit, fact.source, verified=fact.verified)


class _Facts:
    """Numbers of one task: what the plan says of it, else its catalogue entry, else blocked as missing."""

    def __init__(self, s: Situation, task: EvaluationTask, path: str) -> None:
        self._s, self._task, self._path = s, task, path

    def __getitem__(self, key: str) -> Figure:
        own = getattr(self._task, key) if key in OWN else None
        figure = _catalogued(self._task.task, key) if own is None and self._task.task else None
        if figure is not None:
            return figure
        path = f"{self._path}.{key}" if self._task.task else f"{self._path}.task"
        return self._s.entry(path, own, "tokens" if key.endswith("tokens") else "1")

    def context(self, shots: Figure) -> Figure:
        """The prompt: as the plan says it, shots included, else a question and its shots."""
        if self._task.context_tokens is not None:
            return self["context_tokens"]
        return f.context_tokens(self["question_tokens"], self["shot_tokens"], shots)


def _keyed(rows: tuple[TaskBudget, ...]) -> dict[str, Figure]:
    values = chain.from_iterable(map(attrgetter(*SHOWN), rows))
    return dict(zip(_row_keys(tuple([row.name for row in rows])), values, strict=True))


@lru_cache(maxsize=10)
def _row_keys(names: tuple[str, ...]) -> tuple[str, ...]:
    """A key for every figure of every task; kept, because an edit seldom renames one."""
    return tuple([f"{name}.{part}" for name in names for part in SHOWN])
