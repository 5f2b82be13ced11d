"""What a change costs in time that the step model does not see: states or activations in host memory, and smaller moments.

Computed from bytes and rates, never fitted. Rates that nobody measured here are defaults and marked so; each answer says what
it counts and what it leaves out.
"""

from __future__ import annotations

from typing import Final

from trainplan.budgets.communication_data import updated
from trainplan.budgets.compute import throughput
from trainplan.budgets.kernels import conditions
from trainplan.budgets.memory_recipe import ONE_COPY, reduced_bytes
from trainplan.budgets.memory_states import held
from trainplan.budgets.model import ModelBudget, model_budget
from trainplan.budgets.pipeline import pipeline_bubble
from trainplan.budgets.recipe import MOMENT_BYTES, moment_count
from trainplan.budgets.situation import Situation
from trainplan.budgets.steptime import StepBudget, step_budget
from trainplan.budgets.tokens import MeshBudget, TokenBudget, mesh_budget, token_budget
from trainplan.figure import Figure, given, total
from trainplan.formulas import offload as f
from trainplan.frozen import record
from trainplan.labels import quantity_label
from trainplan.plan.plan import Plan

LINK: Final = given(
    "rate of the host link, one way",
    25e9,
    "bytes/s",
    "default, not measured: the catalogue has none for the part; a PCIe 4 link of 16 lanes as copies reach it",
    kind="default",
    verified=False,
)
REACHED: Final = given(
    "share of the host link that copies reach",
    0.8,
    "1",
    "product judgement: pinned memory",
    kind="default",
    verified=False,
)
WHOLE: Final = given("share of a default rate", 1.0, "1", "definition", kind="default")
HOST_ADAM: Final = given(
    "parameters a second that Adam updates on a host",
    2e9,
    "1/s",
    "default, not measured here: DeepSpeed issue 6834, 72 B on 4 nodes in about 10 s; 1.1e9 in ISEEKYAN/Megatron-LM issue 188, "
    "14e9 on 8 H200 in PrimeIntellect prime-rl pull request 3234",
    kind="default",
    verified=False,
)
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


def _parameters(step: Step) -> Figure:
    return f.updated_parameters(*updated(step.s, step.model, held(step.s, step.model, step.mesh)))


def _over_link(step: Step, sent: Figure) -> Figure:
    """Seconds of bytes one way over the part's host link, or over the default where the catalogue has none."""
    rate = step.s.part_fact("host_bandwidth")
    return f.link_time(sent, rate, REACHED) if isinstance(rate, Figure) else f.link_time(sent, LINK, WHOLE)


def optimizer_on_host(step: Step) -> Added:
    """Gradients out, Adam on the host, weights back, instead of the optimizer step on the device."""
    s, parameters = step.s, _parameters(step)
    weight = 4.0 if s.plan.training.precision == "fp32" or _single(s) else 2.0
    back = given("bytes of a weight that comes back", weight, "bytes", "as it stays on the device", kind="default")
    copies = _over_link(step, f.offloaded_bytes(parameters, reduced_bytes(s), back))
    adam = f.host_update_time(parameters, s["cluster.accelerators_per_node"], HOST_ADAM)
    saved = f.saved_time(step.budget.waterfall["optimizer"])
    says = f"includes copies {_seconds(copies)}, Adam on the host {_seconds(adam)}; excludes overlap"
    return Added(_with_stragglers(step, total(copies=copies, adam=adam, saved=saved)), says)


def _single(s: Situation) -> bool:
    return s.plan.training.framework in ONE_COPY and s.plan.training.precision != "bf16-pure"


def moments_in_bf16(step: Step) -> Added:
    """Half the bytes of each moment, read and written once in a step."""
    saved = given("bytes saved of a moment", MOMENT_BYTES["fp32"] - MOMENT_BYTES["bf16"], "bytes", "fp32 to bf16")
    time = f.moments_time(_parameters(step), moment_count(step.s), saved, conditions(step.s).memory)
    says = f"includes {_seconds(time)} less of the optimizer; excludes what rounding costs"
    return Added(_with_stragglers(step, f.saved_time(time)), says)


def activations_on_host(step: Step, kept: Figure) -> Added:
    """Every microbatch's kept activations (bytes) out in forward and back in backward, beside compute."""
    one_way = _over_link(step, f.step_bytes(kept, step.tokens.microbatches))
    compute = total(**{name: step.budget.waterfall[name] for name in COMPUTED})
    says = f"includes copies {_seconds(one_way)} each way beside compute {_seconds(compute)}; excludes contention"
    return Added(_with_stragglers(step, f.uncovered_time(one_way, compute)), says)


def _with_stragglers(step: Step, added: Figure) -> Figure:
    return f.with_stragglers(added, step.budget.predicted_step_time, step.budget.waterfall["stragglers"])


def _seconds(time: Figure) -> str:
    """A time, marked where a rate behind it was not read again or measured."""
    value, mark = float(time), "" if time.verified else " ?"
    return f"{value:,.1f} s{mark}" if value >= 0.95 else f"{1e3 * value:,.0f} ms{mark}"
