"""A walk under way: the questions that were asked, the fields settled so far, and the first ledger that fits.

It asks nothing itself; `walk` does, in the order of the field.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from trainplan.alternatives.reverse import Trial, tried
from trainplan.budgets.situation import Situation
from trainplan.plan.plan import Plan

START: Final[dict[str, Any]] = {
    "parallelism.tensor": 1,
    "parallelism.pipeline": 1,
    "parallelism.virtual_pipeline": 1,
    "parallelism.schedule": "1f1b",
    "parallelism.context": 1,
    "parallelism.expert": 1,
    "parallelism.expert_tensor": 1,
    "parallelism.first_stage_layers": None,
    "parallelism.last_stage_layers": None,
}
"""Where the walk begins: one accelerator, whatever the plan has."""


LINKS: Final = "Utilization x peak / a node's links; held against measured multi-node rows"
BASES: Final[dict[str, str]] = {
    "parallelism.sharding": "Data parallel first: Megatron-Bridge performance guide; then least traffic",
    "batch.micro_batch_sequences": LINKS,
    "cluster.peak_flops": LINKS,
    "parallelism.tensor": "In the domain: Ultra-Scale Playbook, tensor scaling; widths are judgement",
    "parallelism.pipeline": "Past the domain: Ultra-Scale Playbook; 4 p microbatches idle less than 1/4",
    "parallelism.virtual_pipeline": "Chunks divide what the pipeline idles; its formula: x on bubble",
    "parallelism.context": "2 from 8k, 4 to 8 from 32k tokens: Megatron-Bridge performance guide",
    "parallelism.recompute": "Last, because forward is computed again: judgement",
    "parallelism.expert": "First, tensor degree 1, in the domain: Megatron Core MoE README, 1 to 5",
}
"""What the rule of a question rests on, by the field that decides it."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its number in the flow, what it looked at, yes, no, YES (it decided) or -, and the field that decides."""

    number: int
    text: str
    numbers: str
    answer: str
    path: str


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """The questions in order, the layout proposed (path to value), and its ledger, which is None where nothing fitted."""

    questions: tuple[Question, ...]
    proposal: dict[str, Any]
    trial: Trial | None

    def differs(self, plan: Plan) -> dict[str, Any]:
        """What the plan would have to change: the proposed fields that it does not have already."""
        return {path: value for path, value in self.proposal.items() if _own(plan, path) != value}


def _own(plan: Plan, path: str) -> Any:
    if path == "parallelism.sharding":
        return Situation(plan).word(path)
    table, name = path.split(".")
    return getattr(getattr(plan, table), name)


@dataclass(slots=True)
class Path:
    """A walk under way: the plan, the share of memory to stay in, what is settled, what was asked."""

    plan: Plan
    s: Situation
    share: float
    settled: dict[str, Any]
    asked: list[Question] = field(default_factory=list[Question])
    found: Trial | None = None

    def ask(self, number: int, text: str, numbers: str, answer: str, path: str) -> None:
        """Write a question down."""
        self.asked.append(Question(number, text, numbers, answer, path))

    def attempt(self, fields: dict[str, Any]) -> Trial:
        """The ledger with more fields settled; keeps the first that fits."""
        trial = tried(self.plan, {**self.settled, **fields})
        if self.found is None and trial.fits(self.share):
            self.found = trial
            self.settled.update(fields)
        return trial
