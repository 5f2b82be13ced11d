"""What a change costs in time that no row was measured with: states or activations in host memory, and smaller moments.

Computed from bytes and rates, never fitted. Rates that nobody measured here are defaults and marked so; each answer says what
it counts and what it leaves out.
"""

from __future__ import annotations

from typing import Final

from trainplan.budgets.communication_data import updated
from trainplan.budgets.compute import throughput
from trainplan.budgets.host import host_optimizer, over_host_link
from trainplan.budgets.kernels import conditions
from trainplan.budgets.memory.states import held
from trainplan.budgets.model import ModelBudget, model_budget
from trainplan.budgets.pipeline import pipeline_bubble
from trainplan.budgets.prediction import StepBudget, step_budget
from trainplan.budgets.recipe import MOMENT_BYTES, moment_count
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import MeshBudget, TokenBudget, mesh_budget, token_budget
from trainplan.estimation import Estimate
from trainplan.formulas import offload as f
from trainplan.frozen import record
from trainplan.labels.names import quantity_label
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Figure, given, total

COMPUTED: Final = ("products", "attention", "elementwise", "host", "head")
"""Parts of the predicted step in which an accelerator computes."""


@record
class Step:
    """A plan's predicted step and what it was predicted from."""

    s: Situation
    model: ModelBudget
    mesh: MeshBudget
    tokens: TokenBudget
    budget: StepBudget

    @property
    def seconds(self) -> Figure | None:
        """The predicted step; None where there is none."""
        time = self.budget.predicted_step_time
        return time if isinstance(time, Figure) and isinstance(self.mesh.world_size, Figure) else None

    @property
    def work(self) -> float | None:
        """Accelerator-seconds of a step; None where it cannot be predicted."""
        return None if self.seconds is None else float(self.seconds) * float(self.mesh.world_size)


@record
class Added:
    """Seconds that a change adds to a step (less than none where it saves), and what is counted and left out."""

    seconds: Figure
    says: str


def step_of(plan: Plan) -> Step:
    """The predicted step of a plan."""
    s = Situation(plan)
    model, mesh = model_budget(s), mesh_budget(s)
    tokens = token_budget(s, model.active_parameters, mesh.data)
    speed, bubble = throughput(s, model, tokens, mesh), pipeline_bubble(s, tokens.microbatches)
    return Step(s, model, mesh, tokens, step_budget(s, model, mesh, tokens, speed, bubble)[0])


def step_in(estimate: Estimate) -> Step:
    """The predicted step that an estimate has already; the same as `step_of` its plan, at no cost."""
    return Step(estimate.situation, estimate.model, estimate.mesh, estimate.tokens, estimate.step)


TELLING: Final = 0.01
"""Share of a step from which growth is worth naming."""


def grown(before: Step, after: Step) -> str:
    """The part of the step that grows most, in accelerator time, and by how much of the step; empty where the step hardly does."""
    if before.work is None or after.work is None or after.work / before.work < 1.0 + TELLING:
        return ""
    worlds = float(before.mesh.world_size), float(after.mesh.world_size)
    parts = {
        name: (float(after.budget.waterfall[name]) * worlds[1] - float(was) * worlds[0]) / before.work
        for name, was in before.budget.waterfall.items()
        if name in after.budget.waterfall
    }
    most = max(parts, key=parts.__getitem__)
    return (
        f"{quantity_label(f'parallelism.waterfall.{most}')} +{100 * parts[most]:.0f} %"
        if parts[most] >= TELLING
        else ""
    )


def updated_on_host(step: Step) -> Figure:
    """Parameters that one rank updates, and whose states it would keep on its host."""
    return f.updated_parameters(*updated(step.s, step.model, held(step.s, step.model, step.mesh)))


def optimizer_on_host(step: Step) -> Added:
    """Gradients out, Adam on the host, weights back, instead of the optimizer step on the device."""
    parts = host_optimizer(step.s, updated_on_host(step), step.tokens.microbatches)
    saved = f.saved_time(step.budget.waterfall["optimizer"])
    says = f"includes copies {_seconds(parts['copies'])}, Adam on the host {_seconds(parts['adam'])}; excludes overlap"
    return Added(_with_stragglers(step, total(**parts, saved=saved)), says)


def moments_in_bf16(step: Step) -> Added:
    """Half the bytes of each moment, read and written once in a step."""
    saved = given("bytes saved of a moment", MOMENT_BYTES["fp32"] - MOMENT_BYTES["bf16"], "bytes", "fp32 to bf16")
    time = f.moments_time(updated_on_host(step), moment_count(step.s), saved, conditions(step.s).memory)
    says = f"includes {_seconds(time)} less of the optimizer; excludes what rounding costs"
    return Added(_with_stragglers(step, f.saved_time(time)), says)


def activations_on_host(step: Step, kept: Figure) -> Added:
    """Every microbatch's kept activations (bytes) out in forward and back in backward, beside compute."""
    one_way = over_host_link(step.s, f.step_bytes(kept, step.tokens.microbatches))
    compute = total(**{name: step.budget.waterfall[name] for name in COMPUTED})
    says = f"includes copies {_seconds(one_way)} each way beside compute {_seconds(compute)}; excludes contention"
    return Added(_with_stragglers(step, f.uncovered_time(one_way, compute)), says)


def _with_stragglers(step: Step, added: Figure) -> Figure:
    return f.with_stragglers(added, step.budget.predicted_step_time, step.budget.waterfall["stragglers"])


def _seconds(time: Figure) -> str:
    """A time, marked where a rate behind it was not read again or measured."""
    value, mark = float(time), "" if time.verified else " ?"
    return f"{value:,.1f} s{mark}" if value >= 0.95 else f"{1e3 * value:,.0f} ms{mark}"
