"""What is launched: a whole plan, or a rung of its pilot, with the lines that every text begins with.

It refuses to write any launcher's words, and to leave a field out in silence: `unsaid` names what a text does not say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from trainplan.budgets.weights import own_weights
from trainplan.estimation import Estimate
from trainplan.plan.canonical import plan_hash
from trainplan.plan.leaves import leaves
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Figure
from trainplan.review.covers import within
from trainplan.rows.table import lacking

LAUNCHED: Final = ("model", "data", "batch", "training", "parallelism")
"""Tables that a training program has to be told; the others are for budgets, and for whoever submits."""

_PLANNED: Final = (
    "data.sources",
    "data.stages",
    "data.max_passes",
    "data.critical_batch_tokens",
    "data.preprocessing_changed",
    "data.train_tokens",
    "training.framework",
    "training.moe_imbalance",
    "parallelism.overlap_data",
    "parallelism.overlap_tensor",
    "parallelism.overlap_expert",
)
"""Fields that describe data and expectations: what steps, batches and lengths follow from is said by these."""


class ExportError(Exception):
    """What of a plan cannot be said to this launcher, in one sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """An estimate to be launched. `plan` is the whole plan that it belongs to, `rung` the rung or "" for the full run.

    `changes` say what the rung changes; `stop_after` are steps after which it stops though its configuration says more, or 0.
    """

    estimate: Estimate
    plan: Plan
    rung: str = ""
    changes: tuple[str, ...] = ()
    stop_after: int = 0


def whole_run(estimate: Estimate) -> Run:
    """The full run of a plan."""
    return Run(estimate, estimate.plan)


def heading(run: Run) -> list[str]:
    """Name, hash and rung, a sentence a line without a comment sign."""
    told = [f"plan {json.dumps(run.plan.name or '')}", f"plan hash {plan_hash(run.plan)}"]
    return told + ([f"rung {run.rung} of the pilot: {'; '.join(run.changes)}"] if run.rung else [])


def unsaid(run: Run, said: Iterable[str]) -> list[str]:
    """Fields given in the plan for the training program that a text does not say, as `path = value`."""
    known = (*said, *_PLANNED)
    given = (pair for table in LAUNCHED for pair in leaves(getattr(run.estimate.plan, table), table))
    return [f"{path} = {_plain(value)}" for path, value in given if not within(path, known)]


def _plain(value: str) -> str:
    value = value.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", value) else value
    return value if re.fullmatch(r"[\w.+-]+", value, re.ASCII) else json.dumps(value)


def not_said(run: Run, said: Iterable[str], words: str) -> list[str]:
    """The lines that name what a text does not say; none where it says all."""
    left = unsaid(run, said)
    return [f"not said here, {words}: {', '.join(left)}"] if left else []


def other_framework(estimate: Estimate, wanted: str) -> ExportError:
    """The refusal of a plan for another framework, with how its text for this one is asked for."""
    framework = estimate.situation.word("training.framework")
    return ExportError(
        f"training.framework is {framework}; this text is for {wanted}. --set training.framework={wanted} asks for it"
    )


def whole(estimate: Estimate, path: str) -> int:
    """The whole number at a plan path or quantity key. Raises ExportError where it is missing."""
    value: Any = estimate.quantities[path] if path in estimate.quantities else estimate.situation[path]
    if not isinstance(value, Figure):
        raise ExportError(f"{path} cannot be told: {why(estimate, value)}")
    return int(value)


def why(estimate: Estimate, value: Any) -> str:
    """Why a value is blocked, as the finding of its code says it; the field that is missing, or the code where none has it."""
    from trainplan.checks import findings_at_once

    code = str(getattr(value, "code", value))
    found = next((one for one in findings_at_once(estimate) if one.code == code), None)
    return found.coded(found.message) if found is not None else lacking(code)


def whole_figure(estimate: Estimate, value: Any) -> int:
    """A figure as a whole number. Raises ExportError where it is blocked."""
    if not isinstance(value, Figure):
        raise ExportError(f"the batch or the length cannot be told: {why(estimate, value)}")
    return int(value)


def kinds(estimate: Estimate) -> set[tuple[int, int]]:
    """Every (sequence length, sequences in a step) of the run. Raises ExportError where one is blocked."""
    return {
        (whole_figure(estimate, one.sequence_length), whole_figure(estimate, one.global_batch_sequences))
        for one in estimate.tokens.stretches
    }


def changing(estimate: Estimate, what: str) -> ExportError:
    """The refusal of a run of several lengths or batches, with the plan of each stage, of which a launcher has a text."""
    plans: list[str] = []
    for place, one in enumerate(estimate.tokens.stretches):
        fields = {
            "data.sequence_length": one.sequence_length,
            "batch.global_batch_sequences": one.global_batch_sequences,
            "data.train_tokens": one.tokens,
        }
        told = ", ".join(f"{path} = {whole_figure(estimate, value)}" for path, value in fields.items())
        weighed = own_weights(estimate.situation, place) is not None
        plans.append(f"{one.name}: {told}{' and its weights' if weighed else ''}")
    return ExportError(f"{what}. A copy of the plan without {_lists(estimate)} has a text for each: {'; '.join(plans)}")


def _lists(estimate: Estimate) -> str:
    return "batch.schedule" if estimate.plan.batch.schedule else "data.stages"


def save_steps(estimate: Estimate) -> int | None:
    """Steps between two checkpoints, rounded down, one at least; None where the plan does not tell."""
    interval, step = estimate.quantities["reliability.interval"], estimate.quantities["compute.step_time"]
    return max(1, int(interval / step)) if isinstance(interval, Figure) and isinstance(step, Figure) else None


def refuse(wrong: dict[str, bool], launcher: str) -> None:
    """Raises ExportError for the first plan path whose value the launcher has no word for."""
    for path, there in wrong.items():
        if there:
            raise ExportError(f"{path} has no {launcher} setting that is known here")
