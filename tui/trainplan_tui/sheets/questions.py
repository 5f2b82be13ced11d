"""The seven questions of a new plan: what each suggests, what its answer says, and what follows from the answers so far."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache

from trainplan.catalogue import Entry, entry, names
from trainplan.estimation import Estimate, estimate
from trainplan.newplan import Answers, new_plan_text
from trainplan.plan.edit import with_literal
from trainplan.plan.faults import nearest_name
from trainplan.plan.read import Unusable, plan_of_text
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import numbered
from trainplan.views.explain import readable

ASSUMED = "0.40"
"""Utilization for the figures so far; it is not written."""
OPTIMAL = 20
"""Train tokens per parameter that Hoffmann et al. 2022, arXiv 2203.15556, call compute-optimal; not read again: `?`."""
BATCH_TOKENS = 4 * 2**20
"""Tokens of a batch that the suggestion aims at: common for runs of some billion parameters; product judgement."""
STATE_BYTES = 18
"""Bytes a parameter: bf16 weight, fp32 gradient, master copy and two moments of mixed precision with Adam."""
STATE_SHARE = 0.5
"""Share of the memory that the suggested nodes give to states; the rest is for activations. Product judgement."""
GIB = 2**30


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its field of the answers, its plan path, its label, and the catalogue that answers it, if any."""

    field: str
    path: str
    label: str
    catalogue: str = ""


QUESTIONS = (
    Question("model", "model.preset", "model", "models"),
    Question("accelerator", "cluster.accelerator", "accelerator", "accelerators"),
    Question("nodes", "cluster.nodes", "nodes"),
    Question("train_tokens", "data.train_tokens", "train tokens"),
    Question("sequence_length", "data.sequence_length", "sequence length"),
    Question("global_batch", "batch.global_batch_sequences", "global batch"),
    Question("price", "cluster.price_per_accelerator_hour", "price"),
)
SPELLINGS = {
    "train_tokens": "15T  15.6T  1.2e13  15Ti   all read as tokens",
    "sequence_length": "8192  8Ki   both read",
    "global_batch": "a number of sequences",
    "price": "a number; it may stay empty, and then there is no cost",
}


def answers_of(typed: Sequence[str], name: str = "plan") -> Answers:
    """The answers; what was left empty is open."""
    given = dict(zip((question.field for question in QUESTIONS), (text.strip() or None for text in typed), strict=True))
    return Answers(name, **given)


def refusal(question: Question, typed: Sequence[str]) -> str:
    """What is wrong with the answer to a question, empty where nothing is."""
    answer = typed[QUESTIONS.index(question)].strip()
    if question.catalogue and answer and answer not in names(question.catalogue):
        nearest = nearest_name(answer, names(question.catalogue))
        return f'no {question.label} "{answer}" in the catalogue' + (f". Nearest: {nearest}" if nearest else "")
    try:
        plan_of_text(new_plan_text(answers_of(typed)), "plan.toml")
    except Unusable as error:
        mine = [item for item in error.errors if item.path == question.path]
        return mine[0].message if mine else ""
    return ""


@lru_cache(maxsize=8)
def so_far(answers: Answers) -> Estimate | None:
    """The estimate of the answers at the assumed utilization, wrong ones left open; None while they are no plan."""
    try:
        return _assumed(answers)
    except Unusable as error:
        wrong = {item.path for item in error.errors}
    try:
        return _assumed(replace(answers, **{one.field: None for one in QUESTIONS if one.path in wrong}))
    except Unusable:
        return None


def _assumed(answers: Answers) -> Estimate:
    return estimate(with_literal(new_plan_text(answers), ("utilization", "value"), ASSUMED).plan)


def figures(answers: Answers) -> list[tuple[str, str, str]]:
    """What follows so far: label, value, note."""
    found = so_far(answers)
    if found is None:
        return []
    optimal = f"{OPTIMAL} is compute-optimal ?"
    rows = [
        ("parameters", found.model.parameters, ""),
        ("tokens per parameter", found.quantities.get("tokens.tokens_per_parameter"), optimal),
        ("optimizer steps", found.quantities.get("tokens.steps"), ""),
        ("compute time", found.speed.compute_time, "failures not counted"),
        ("cost, at this rate", found.money.cost, ""),
        ("memory, worst rank", found.quantities.get("memory.total"), _room(found)),
    ]
    return [
        (label, readable(value, found, device=label.startswith("memory")), note)
        for label, value, note in rows
        if isinstance(value, Figure)
    ]


def _room(found: Estimate) -> str:
    """Whether the worst rank fits, and with what."""
    free, kind = found.memory.headroom, found.situation.value("parallelism.sharding")
    if not isinstance(free, Figure):
        return ""
    return f"{abs(float(free)) / GIB:.1f} GiB {'OVER' if free < 0 else 'free'} with {kind}"


def suggestion(question: Question, answers: Answers) -> tuple[str, str]:
    """What an empty answer means, and why; empty where there is nothing to suggest."""
    found = so_far(answers)
    parameters = found.model.parameters if found is not None else None
    size = float(parameters) if isinstance(parameters, Figure) else 0.0
    part = _part(answers)
    match question.field:
        case "accelerator":
            return "h100-sxm", "the best sourced entry of the catalogue"
        case "nodes" if size and part is not None:
            return _nodes(size, part), "the least that holds weights, gradients and optimizer states"
        case "train_tokens" if size:
            return f"{size * OPTIMAL / 1e9:.4g}B", f"{OPTIMAL} tokens per parameter"
        case "sequence_length":
            why = "at most what the model is known for" if answers.model else "a length many models begin with"
            return _length(answers), why
        case "global_batch":
            return _batch(answers, part), "near 4M tokens, divides over all accelerators"
        case _:
            return "", ""


def _part(answers: Answers) -> Entry | None:
    return entry("accelerators", answers.accelerator) if answers.accelerator else None


def _value(part: Entry | None, key: str) -> float:
    fact = part.get(key) if part is not None else None
    return float(fact.value) if fact is not None else 0.0


def _nodes(size: float, part: Entry) -> str:
    node = _value(part, "memory_per_accelerator") * (_value(part, "accelerators_per_node") or 1)
    return str(math.ceil(size * STATE_BYTES / (node * STATE_SHARE))) if node else ""


def _length(answers: Answers) -> str:
    model = entry("models", answers.model) if answers.model else None
    most = _value(model, "max_position_embeddings")
    return str(int(min(most, 8192))) if most else "8192"


def _batch(answers: Answers, part: Entry | None) -> str:
    found = so_far(answers)
    length = found.plan.data.sequence_length if found is not None else None
    nodes = found.plan.cluster.nodes if found is not None else None
    if not length or not nodes:
        return ""
    world = int(nodes) * int(_value(part, "accelerators_per_node") or 1)
    return str(max(1, round(BATCH_TOKENS / float(length) / world)) * world)


def said(question: Question, answers: Answers) -> str:
    """What an answer says, in a few words."""
    values: Mapping[str, str | None] = {field.name: getattr(answers, field.name) for field in fields(answers)}
    if not values[question.field]:
        return "left open"
    found = so_far(answers)
    match question.field:
        case "model" if found is not None and isinstance(found.model.parameters, Figure):
            return f"{found.model.parameters:,.0f} parameters"
        case "accelerator":
            memory, peak = _value(_part(answers), "memory_per_accelerator"), _value(_part(answers), "peak_flops")
            return f"{memory / GIB:,.1f} GiB usable, {peak / 1e12:,.0f} TFLOP/s dense"
        case "nodes" if found is not None and isinstance(found.mesh.world_size, Figure):
            return numbered(float(found.mesh.world_size), "accelerator")
        case "global_batch" if found is not None:
            tokens = found.quantities.get("tokens.global_batch_tokens")
            return f"{tokens / 1e6:,.4g}M tokens in one step" if isinstance(tokens, Figure) else ""
        case "price":
            return "USD per accelerator-hour"
        case _:
            return ""


__all__ = ["QUESTIONS", "SPELLINGS", "Question", "answers_of", "figures", "refusal", "said", "suggestion"]
