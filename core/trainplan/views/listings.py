"""Tables that are no ledger: ranks, answers in reverse, dry runs, transfers, tasks; as texts, for the app and `show` alike.

A ledger has one figure a row and explains it; here a row is one thing with several figures, all of them the estimate's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trainplan.alternatives.changes import single_changes
from trainplan.alternatives.reverse import fewest_nodes, largest_micro_batch, longest_sequence, longest_stretch
from trainplan.alternatives.walk import walk
from trainplan.budgets.communication import Operation
from trainplan.budgets.layout import named
from trainplan.budgets.stretches import kinds
from trainplan.estimation import Estimate
from trainplan.evidence.dryrun import dry_runs
from trainplan.quantity.figure import Figure
from trainplan.quantity.numbers import Scale, Style, disk_bytes, time
from trainplan.quantity.unit import amount, time_said
from trainplan.review.items import ITEMS
from trainplan.review.ladder import ladder
from trainplan.review.quantities import item_words

GIB = 2.0**30
CATEGORIES = (
    ("weights", "weights"),
    ("gradients", "grads"),
    ("optimizer_states", "states"),
    ("activations", "activ."),
    ("logits", "logits"),
)
"""Categories with a column of their own in the table of ranks; the others are its `other`."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A title, heads of columns, rows of texts; `paths` is the field that each row leads to, empty where none does."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    paths: tuple[str, ...] = ()


def ranks(estimate: Estimate) -> Listing:
    """Every pipeline rank at its worst instant, GiB by category; total, and what is free of usable memory."""
    heads = ("rank", *(word for _, word in CATEGORIES), "other", "total", "free", "at")
    found: list[tuple[str, ...]] = []
    for one in estimate.memory.table:
        parts = [one.worst.parts.get(name) for name, _ in CATEGORIES]
        held = [float(value) if isinstance(value, Figure) else 0.0 for value in parts]
        if not isinstance(one.total, Figure):
            continue
        total, usable, scale = float(one.total), estimate.memory.usable, Scale(GIB, 1, "")
        free = scale.text(float(usable) - total) if isinstance(usable, Figure) else "?"
        told = (*(scale.text(value) for value in (*held, total - sum(held), total)), free, one.worst.name)
        if found and found[-1][1:] == told:
            first = found[-1][0].split(" to ")[0]
            found[-1] = (f"{first} to {one.rank}", *told)
        else:
            found.append((str(one.rank), *told))
    return Listing("ranks, GiB, equal neighbours together", heads, tuple(found))


def _weighed(estimate: Estimate) -> bool:
    """Whether what a rank holds can be held against its part's memory."""
    return isinstance(estimate.memory.total, Figure) and isinstance(estimate.memory.usable, Figure)


def answers(estimate: Estimate) -> Listing:
    """The largest microbatch, the longest sequence and the fewest nodes that fit, everything else as it is; in every stage."""
    plan = estimate.plan
    if not _weighed(estimate):
        return Listing("what fits, the rest as it is", ("question", "plan", "most or least"), ())
    micro, length, nodes = largest_micro_batch(plan), longest_sequence(plan), fewest_nodes(plan)
    longest, _, path = longest_stretch(plan)
    now = (plan.batch.micro_batch_sequences, longest, plan.cluster.nodes)
    rows = (
        ("largest microbatch, sequences", _count(now[0]), _count(micro, "not even 1")),
        ("longest sequence, tokens", _count(now[1]), _count(length, "not even 1,024")),
        ("fewest nodes", _count(now[2]), _count(nodes, "no number of them")),
    )
    paths = ("batch.micro_batch_sequences", path, "cluster.nodes")
    return Listing("what fits, the rest as it is", ("question", "plan", "answer"), rows, paths)


def changes(estimate: Estimate) -> Listing:
    """Single changes of one field with which the plan fits, the least costly in step time first."""
    found = single_changes(estimate.plan) if _weighed(estimate) else []
    rows = tuple(
        (
            one.text,
            f"{one.total / GIB:,.1f}",
            "same" if one.costs_nothing else f"{100 * one.cost:+.0f} %",
            one.reason,
        )
        for one in found
    )
    heads = ("change", "GiB", "accel. time", "because of")
    return Listing(
        "single changes that fit and save, by accelerator time of a step", heads, rows, tuple(one.path for one in found)
    )


def commands(estimate: Estimate) -> Listing:
    """The framework's own dry runs."""
    rows = tuple((one.shows, " ".join(one.command.replace("\\\n", "").split())) for one in dry_runs(estimate))
    return Listing("dry runs of the framework, cheapest evidence first", ("shows", "command"), rows)


def one_step(estimate: Estimate) -> str:
    """`one step`, and of which stage or batch where length or batch change on the way: the last one's."""
    if len(set(kinds(estimate.tokens))) == 1:
        return "one step"
    return f"one step of {named(estimate.situation, estimate.tokens.stretches[-1])}"


def transfers(estimate: Estimate) -> Listing:
    """What one step sends, by dimension and operation; operations that send nothing are left out."""
    found = [one for one in estimate.communication.table if not (isinstance(one.bytes, Figure) and one.bytes == 0)]
    rows = tuple((one.dimension, one.name, *_amounts(one), one.link) for one in found)
    return Listing(f"sent in {one_step(estimate)}", ("dimension", "operation", "sent", "time", "exposed", "link"), rows)


def decisions(estimate: Estimate) -> Listing:
    """The questions that lead to a layout, each with its numbers, and what the plan would have to change for theirs."""
    found = walk(estimate.plan)
    asked = found.questions if found is not None else ()
    rows = tuple((str(one.number), one.text, one.answer, one.numbers) for one in asked)
    changed = found.differs(estimate.plan) if found is not None else {}
    told = ", ".join(
        f"{path.rpartition('.')[2]} = {'none' if value is None else value}" for path, value in changed.items()
    )
    return Listing(f"decision walk{f': {told}' if told else ''}", ("step", "question", "answer", "numbers"), rows)


def _amounts(one: Operation) -> tuple[str, str, str]:
    return _styled(one.bytes, disk_bytes), _styled(one.time, time), _styled(one.exposed, time)


def tasks(estimate: Estimate) -> Listing:
    """The tasks of one evaluation: size, kind, tokens, time, standard error, and the smallest difference that shows."""
    rows = tuple(
        (
            one.name,
            _count(one.items),
            _count(one.shots),
            "generate" if one.generates else "choice",
            amount(one.tokens, 3) if isinstance(one.tokens, Figure) else "?",
            time_said(one.time) if isinstance(one.time, Figure) else "?",
            _points(one.standard_error),
            _points(one.smallest_difference),
        )
        for one in estimate.evaluation.rows
    )
    heads = ("task", "items", "shots", "kind", "tokens", "time", "std err", "shows")
    return Listing("tasks of one evaluation", heads, rows)


def rungs(estimate: Estimate) -> Listing:
    """Every check of the ladder with its measured value and threshold; verdicts of the plan file alone."""
    found = [
        (
            rung.name if place == 0 else "",
            check.metric,
            "-" if check.measured is None else f"{check.measured:.6g}",
            check.passes_at,
            rung.verdict if check.verdict == "passed" and rung.verdict in ("waiting", "waived") else check.verdict,
        )
        for rung in ladder(estimate.plan)
        for place, check in enumerate(rung.checks)
    ]
    return Listing(
        "ladder, as the plan file says it", ("rung", "check", "measured", "passes at", "state"), tuple(found)
    )


def items(estimate: Estimate) -> Listing:
    """The ten items as `readiness.signed` counts them: by the record where it was read, else as the plan mirrors them."""
    signed = estimate.quantities["readiness.signed"]
    words = item_words(signed) if isinstance(signed, Figure) else {}
    entries = {entry.item: entry for entry in estimate.plan.readiness}
    found: list[tuple[str, ...]] = []
    for item in ITEMS:
        entry = entries.get(item.name)
        found.append(
            (
                item.name,
                words.get(item.name, "open"),
                (entry.signed_by or entry.owner or "") if entry else "",
                item.question,
            )
        )
    return Listing("items of readiness", ("item", "state", "by", "asks"), tuple(found))


def listings_of(budget: str, estimate: Estimate) -> Sequence[Listing]:
    """The listings of one budget, those without rows left out."""
    makers = {
        "memory": (ranks, answers, changes, commands),
        "parallelism": (transfers, decisions),
        "evaluation": (tasks,),
        "pilot": (rungs,),
        "readiness": (items,),
    }
    found = [make(estimate) for make in makers.get(budget, ())]
    return [one for one in found if one.rows]


def _count(value: float | None, none: str = "?") -> str:
    return f"{value:,.0f}" if isinstance(value, int | float) else none


def _points(value: Figure) -> str:
    return f"{100 * value:.1f} pp" if isinstance(value, Figure) else "?"


def _styled(value: Figure, style: Style) -> str:
    if not isinstance(value, Figure):
        return "?"
    scale = style(float(value))
    return f"{scale.text(float(value))} {scale.unit}"
