"""Rules between batch, stages and mesh without which no step can be counted."""

from __future__ import annotations

from math import gcd
from typing import Final

from trainplan.budgets.layout import divisors
from trainplan.checks.amounts import at_least, at_most
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import amount, amounts, numbered, whole


def mesh_divides(estimate: Estimate) -> list[Finding]:
    """G1: accelerators divide into tensor x pipeline x context."""
    parallel, world = estimate.plan.parallelism, estimate.mesh.world_size
    group = int(parallel.tensor * parallel.pipeline * parallel.context)
    if not isinstance(world, Figure) or world % group == 0:
        return []
    message = f"{whole(world)} accelerators do not divide into groups of {group} (tensor x pipeline x context)"
    per_node = int(estimate.situation["cluster.accelerators_per_node"])
    nodes = _nodes_for(group, per_node, int(estimate.situation["cluster.nodes"]))
    fix = f"{' or '.join(f'{n:,}' for n in nodes)} nodes"
    return [Finding("G1", "error", "parallelism", message, fix, (*_undivided(estimate, world), "cluster.nodes"), 1e6)]


def _undivided(estimate: Estimate, world: float) -> list[str]:
    """The degrees that do not divide the accelerators; where each does and only their product does not, all of them."""
    parallel = estimate.plan.parallelism
    degrees = {f"parallelism.{name}": float(getattr(parallel, name)) for name in ("tensor", "pipeline", "context")}
    return [path for path, one in degrees.items() if world % one] or [path for path, one in degrees.items() if one > 1]


def _nodes_for(group: int, per_node: int, nodes: int) -> list[int]:
    """The nearest node counts below and above whose accelerators divide into groups."""
    step = group // gcd(group, per_node)
    below = nodes // step * step
    return [count for count in (below, below + step) if count > 0]


def batch_divides(estimate: Estimate) -> list[Finding]:
    """G2: every batch divides over replicas x micro batch."""
    data = estimate.mesh.data
    if not isinstance(data, Figure):
        return []
    size = int(data * estimate.plan.batch.micro_batch_sequences)
    found: list[Finding] = []
    for path, batch in _batches(estimate):
        if batch % size == 0:
            continue
        below = batch // size * size
        near = " or ".join(f"{count:,}" for count in (below, below + size) if count > 0)
        micro = estimate.plan.batch.micro_batch_sequences
        do = "does" if batch == 1 else "do"
        message = (
            f"{numbered(batch, 'sequence')} {do} not divide over {numbered(float(data), 'replica')} of {whole(micro)}"
        )
        fix = f"{_smaller_micro_batch(estimate, int(data))}{near} sequences{_on_fewer_nodes(estimate, batch)}"
        paths = (path, "batch.micro_batch_sequences", "cluster.nodes")
        if batch % data == 0:
            paths = ("batch.micro_batch_sequences", path)
        found.append(Finding("G2", "error", "tokens", message, fix, paths, 1e6))
    return found


def _smaller_micro_batch(estimate: Estimate, replicas: int) -> str:
    """The largest micro batch below the plan's with which every batch of the plan divides; nothing where none does."""
    batches = [int(batch) for _, batch in _batches(estimate)]
    if any(batch % replicas for batch in batches):
        return ""
    each = divisors(gcd(*(batch // replicas for batch in batches)))
    smaller = [micro for micro in each if micro < estimate.plan.batch.micro_batch_sequences]
    return f"micro_batch_sequences = {smaller[-1]}, or " if smaller else ""


LEAST_NODES, MOST_TRIED = 0.75, 64
"""Share of the nodes below which fewer of them are no near answer, and how many counts are tried."""


def _on_fewer_nodes(estimate: Estimate, batch: int) -> str:
    """The most nodes below the plan's on which this batch divides, as 64 of the 72 of a rack; nothing where none is near."""
    s, parallel = estimate.situation, estimate.plan.parallelism
    nodes, per_node = int(s["cluster.nodes"]), int(s["cluster.accelerators_per_node"])
    group, micro = int(parallel.tensor * parallel.pipeline * parallel.context), int(s["batch.micro_batch_sequences"])
    for count in range(nodes - 1, max(int(LEAST_NODES * nodes), nodes - 1 - MOST_TRIED), -1):
        world = count * per_node
        if world % group == 0 and batch % (world // group * micro) == 0:
            return f", or {count:,} nodes"
    return ""


def _batches(estimate: Estimate) -> list[tuple[str, int]]:
    plan, found = estimate.plan, list[tuple[str, int]]()
    if plan.batch.global_batch_sequences is not None:
        found.append(("batch.global_batch_sequences", int(plan.batch.global_batch_sequences)))
    for i, stage in enumerate(plan.data.stages):
        if stage.global_batch_sequences is not None:
            found.append((f"data.stages.{stage.name or i}.global_batch_sequences", int(stage.global_batch_sequences)))
    for i, change in enumerate(plan.batch.schedule):
        if change.global_batch_sequences is not None:
            found.append((f"batch.schedule.{i}.global_batch_sequences", int(change.global_batch_sequences)))
    return found


def stretches_in_order(estimate: Estimate) -> list[Finding]:
    """D22: stages end in order before the run does, and are not given together with a batch schedule."""
    plan = estimate.plan
    if plan.data.stages and plan.batch.schedule:
        fix = "give each stage its global_batch_sequences and leave batch.schedule out"
        message = "stages and batch.schedule are both given; which batch holds in a stage cannot be told"
        return [Finding("D22", "error", "tokens", message, fix, ("batch.schedule", "data.stages"), 1e6)]
    return [*_stages_in_order(estimate), *_schedule_in_order(estimate)]


def _stages_in_order(estimate: Estimate) -> list[Finding]:
    data, found, before, earlier_path = estimate.plan.data, list[Finding](), 0.0, ""
    for index, stage in enumerate(data.stages):
        name, last = stage.name or str(index), index == len(data.stages) - 1
        until = data.train_tokens if last and stage.until_tokens is None else stage.until_tokens
        path = f"data.stages.{name}.until_tokens"
        if until is not None and until <= before:
            end, earlier = amounts(until, before)
            ends = path if stage.until_tokens is not None else "data.train_tokens"
            message = f"stage {name} ends at {end} tokens, and the one before it at {earlier}"
            found.append(Finding("D22", "error", "tokens", message, _more_than(before), (ends, earlier_path), 1e6))
        elif last and until is not None and data.train_tokens is not None and until != data.train_tokens:
            end, all_of = amounts(until, data.train_tokens)
            message = f"the last stage ends at {end} tokens, and the run at {all_of}"
            found.append(
                Finding("D22", "error", "tokens", message, "leave until_tokens of the last stage out", (path,), 1e6)
            )
        before, earlier_path = (until, path) if until else (before, earlier_path)
    return found


def _more_than(tokens: float) -> str:
    return f"more than {amount(at_least(tokens))} tokens"


def _schedule_in_order(estimate: Estimate) -> list[Finding]:
    found, before = list[Finding](), -1.0
    for index, change in enumerate(estimate.plan.batch.schedule):
        path, begin = f"batch.schedule.{index}.from_tokens", change.from_tokens
        if begin is None:
            continue
        if (index == 0 and begin > 0) or begin <= before:
            rule = "0" if index == 0 else _more_than(before)
            message = f"entry {index + 1} of the batch schedule begins at {amount(begin)} tokens"
            found.append(Finding("D22", "error", "tokens", message, rule, (path,), 1e6))
        elif estimate.plan.data.train_tokens is not None and begin >= estimate.plan.data.train_tokens:
            found.append(_after_the_run(index, path, begin, estimate.plan.data.train_tokens))
        before = max(before, begin)
    return found


def _after_the_run(index: int, path: str, begin: float, end: float) -> Finding:
    starts, ends = amounts(begin, end)
    message = f"entry {index + 1} of the batch schedule begins at {starts} tokens, and the run ends at {ends}"
    return Finding(
        "D22", "error", "tokens", message, f"less than {amount(at_most(end))} tokens", (path, "data.train_tokens"), 1e6
    )


LAYOUT_CHECKS: Final = (mesh_divides, batch_divides, stretches_in_order)
