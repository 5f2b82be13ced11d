"""The decision flow of a layout as data: each question with its numbers, its answer, and what it decides.

Every answer is a ledger of a changed plan or a ratio of the plan's own numbers. The walk proposes; measurement decides: SmolLM3
ran fastest at 3B on 384 H100 with tensor 2 and no sharding, against this flow. It changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import gcd
from typing import Any, Final

from trainplan.alternatives.questions import START, Path, Walk
from trainplan.alternatives.reverse import Trial, longest_stretch, tried
from trainplan.budgets.legality.frameworks import SCHEDULES
from trainplan.budgets.situation import Situation
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Blocked, Figure

GIB: Final = 2.0**30
LAST: Final = 7
"""Number of the question of experts in a dense model; with experts it is the first, and the others are one later."""
LEAST_HIDDEN, LEAST_WIDTH = 1024, 2048
"""Width of the stream and of the MLP on a tensor rank below which products are thin: product judgement."""


def walk(plan: Plan) -> Walk | None:
    """The flow for a plan; None where its ledger cannot be kept, because a field is missing."""
    s = Situation(plan)
    begin = Path(plan, s, _share(s), dict(START))
    if tried(plan, begin.settled).total is None:
        return None
    experts = _experts_first(begin)
    _replica(begin)
    _sharded(begin)
    _efficient(begin)
    _tensor(begin)
    _pipeline(begin)
    _context(begin)
    _recomputed(begin)
    _interleaved(begin)
    if not experts:
        begin.ask(LAST, "Experts?", "dense model", "-", "parallelism.expert")
    proposal = begin.settled if begin.found else {}
    asked = (replace(one, number=one.number % LAST + 1) if experts else one for one in begin.asked)
    return Walk(tuple(sorted(asked, key=lambda one: one.number)), proposal, begin.found)


def _share(s: Situation) -> float:
    target = s["memory.target_fraction"]
    return float(target) if isinstance(target, Figure) else 0.85


def _against(path: Path, trial: Trial) -> str:
    """What the worst rank holds against the target."""
    limit = trial.room(path.share)
    held = ""
    if trial.total is not None and limit is not None:
        held = f"{trial.total / GIB:,.1f} GiB against {limit / GIB:,.1f} GiB target"
    if not trial.broken:
        return held
    spread = "the batch does not spread over the replicas" if "G2" in trial.broken else "not legal"
    return f"{held}{'; ' if held else ''}{spread} ({', '.join(sorted(trial.broken))})"


def _experts_first(path: Path) -> bool:
    """Whether there are experts. They go first, and are asked first: expert ranks inside the domain, their tensor degree one.

    What is asked after it stands on that degree, so the last question of a dense model is the first one here.
    """
    experts = path.s["model.moe.num_experts"]
    if isinstance(experts, Blocked) or not experts:
        return False
    degree = gcd(int(experts), _domain(path))
    path.settled["parallelism.expert"] = degree
    numbers = f"{int(experts)} experts over {degree} ranks of a domain of {_domain(path)}, expert tensor 1"
    path.ask(LAST, "Experts first?", numbers, "yes", "parallelism.expert")
    return True


def _domain(path: Path) -> int:
    domain, node = path.s["cluster.scale_up_domain"], path.s["cluster.accelerators_per_node"]
    known = [int(figure) for figure in (domain, node) if isinstance(figure, Figure)]
    return min(known, default=8) if not isinstance(domain, Figure) else int(domain)


def _replica(path: Path) -> None:
    trial = path.attempt({"parallelism.sharding": "none"})
    answer = "YES" if path.found else "no"
    text = "Do states and activations fit one accelerator with no sharding?"
    path.ask(1, text, _against(path, trial), answer, "parallelism.sharding")


def _shardings(path: Path) -> tuple[str, ...]:
    """The shardings that the framework has, least traffic first."""
    framework = path.plan.training.framework
    return ("zero-2", "zero-3") if framework in ("torchtitan", "fsdp") else ("zero-1", "zero-2", "zero-3")


def _sharded(path: Path) -> None:
    for kind in () if path.found else _shardings(path):
        trial = path.attempt({"parallelism.sharding": kind})
        path.ask(2, f"Does {kind} fit?", _against(path, trial), "YES" if path.found else "no", "parallelism.sharding")
        if path.found:
            return
    if not path.found:
        path.settled["parallelism.sharding"] = _shardings(path)[0]


def needed_tokens(s: Situation) -> float | None:
    """Tokens of an accelerator and microbatch at which gathers of zero-3 hide behind compute.

    Utilization x peak / bandwidth; a group of whole nodes uses every link of a node at once.
    """
    peak, link, node = s["cluster.peak_flops"], s["cluster.scale_out_bandwidth"], s["cluster.accelerators_per_node"]
    if any(isinstance(figure, Blocked) for figure in (peak, link, node)):
        return None
    use = s["utilization.value"]
    return (float(use) if isinstance(use, Figure) else 0.4) * float(peak) / (float(link) * float(node))


def _efficient(path: Path) -> None:
    length, needed = path.s["data.sequence_length"], needed_tokens(path.s)
    tokens = float(length) * float(path.plan.batch.micro_batch_sequences)
    numbers = f"{tokens:,.0f} tokens an accelerator and microbatch"
    if needed is None:
        path.ask(3, "Is one layer efficient?", f"{numbers}; no peak or bandwidth to compare", "-", "cluster.peak_flops")
        return
    good = tokens >= needed
    numbers = f"{numbers}; zero-3 wants {needed:,.0f} over a node's links"
    path.ask(3, "Is one layer efficient?", numbers, "yes" if good else "no", "batch.micro_batch_sequences")


def _doublings(most: int) -> Iterator[int]:
    degree = 2
    while degree <= most:
        yield degree
        degree *= 2


def _tensor(path: Path) -> None:
    text = "Is tensor parallelism needed?"
    if path.found:
        path.ask(4, text, "one rank holds the layout", "no", "parallelism.tensor")
        return
    for degree in _doublings(_domain(path)):
        if _thin(path, degree):
            path.ask(4, f"Tensor {degree}?", _widths(path, degree) + ": thin products", "no", "parallelism.tensor")
            break
        trial = path.attempt({"parallelism.tensor": degree})
        path.ask(
            4, f"Does tensor {degree} fit?", _against(path, trial), "YES" if path.found else "no", "parallelism.tensor"
        )
        if path.found:
            return
        if trial.broken <= {"G2"}:  # a pipeline leaves fewer replicas
            path.settled["parallelism.tensor"] = degree


def _widths(path: Path, degree: int) -> str:
    return ", ".join(f"{letter}/t = {size / degree:,.0f}" for letter, size, _ in _sizes(path))


def _thin(path: Path, degree: int) -> bool:
    return any(size / degree < least for _, size, least in _sizes(path))


def _sizes(path: Path) -> Iterator[tuple[str, float, int]]:
    """What tensor ranks divide, with the least that is efficient; a model of experts alone may leave the dense width open."""
    for letter, field, least in (
        ("h", "model.hidden_size", LEAST_HIDDEN),
        ("f", "model.intermediate_size", LEAST_WIDTH),
    ):
        size = path.s[field]
        if isinstance(size, Figure):
            yield letter, float(size), least


def _pipeline(path: Path) -> None:
    if path.found:
        path.ask(5, "Is pipeline needed?", "the layout fits without", "no", "parallelism.pipeline")
        return
    for stages in _pipelines(path):
        trial, degree = path.attempt(stages), stages["parallelism.pipeline"]
        if trial.broken:
            continue
        numbers = f"{_against(path, trial)}; wants {4 * degree} microbatches a replica"
        path.ask(5, f"Does pipeline {degree} fit?", numbers, "YES" if path.found else "no", "parallelism.pipeline")
        if path.found:
            return


CHUNKS: Final = (8, 6, 5, 4, 3, 2)
"""Chunks of a rank that are tried, the shortest bubble first."""


def _interleaved(path: Path) -> None:
    """A pipeline idles less in chunks, where the framework has them and they fit."""
    degree = int(path.settled["parallelism.pipeline"])
    if not path.found or degree == 1 or "interleaved" not in SCHEDULES[path.plan.training.framework].words:
        return
    for chunks in CHUNKS:
        fields = {"parallelism.virtual_pipeline": chunks, "parallelism.schedule": "interleaved"}
        trial = tried(path.plan, {**path.settled, **fields})
        if trial.fits(path.share):
            path.found = trial
            path.settled.update(fields)
            text, numbers = (
                f"Do {chunks} chunks a rank fit?",
                f"{_against(path, trial)}; the pipeline idles {chunks} times less",
            )
            path.ask(5, text, numbers, "yes", "parallelism.virtual_pipeline")
            return


MOST_STAGES: Final = 64


def _pipelines(path: Path) -> Iterator[dict[str, Any]]:
    """Pipelines that whole layers fill, or that do with fewer on both ends, where embedding and head are."""
    layers = int(path.s["model.num_hidden_layers"])
    for degree in range(2, min(layers, MOST_STAGES) + 1):
        if layers % degree == 0:
            yield {"parallelism.pipeline": degree}
        elif (layers + 2) % degree == 0 or degree & (degree - 1) == 0:
            rest = layers + 2 * -(-layers // degree) - degree * -(-layers // degree)
            ends = {"parallelism.first_stage_layers": rest // 2, "parallelism.last_stage_layers": rest - rest // 2}
            if rest >= 2:
                yield {"parallelism.pipeline": degree, **ends}


def _context(path: Path) -> None:
    length = longest_stretch(path.plan)[0] or 0.0
    text = f"Is context parallelism needed? {length:,.0f} tokens"
    if path.found or length < 8192:
        path.ask(6, text, "tried from 8k where nothing fits, needed from 32k", "no", "parallelism.context")
        return
    for degree in (2,) if length < 32768 else (2, 4, 8):
        trial = path.attempt({"parallelism.context": degree})
        path.ask(
            6,
            f"Does context {degree} fit?",
            _against(path, trial),
            "YES" if path.found else "no",
            "parallelism.context",
        )
        if path.found:
            return


def _recomputed(path: Path) -> None:
    """Where nothing fits, forward is computed again, on the layout that came nearest."""
    if path.found or path.plan.parallelism.recompute == "full":
        return
    for stages in ({"parallelism.pipeline": 1}, *_pipelines(path)):
        trial = path.attempt({"parallelism.recompute": "full", **stages})
        if path.found:
            text = f"Does full recompute with pipeline {stages['parallelism.pipeline']} fit?"
            path.ask(6, text, _against(path, trial), "YES", "parallelism.recompute")
            return
