"""A chunk of layouts through the budgets: the same wiring as for one plan, with a column in place of every swept number.

Columns broadcast against each other, so that what does not depend on a number is worked out once for all its values.
An element equals the estimate of that plan to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from trainplan.budgets.communication import bytes_sent
from trainplan.budgets.compute import throughput
from trainplan.budgets.kernels import conditions
from trainplan.budgets.memory.columns import Peak, memory_peak
from trainplan.budgets.model import ModelBudget, model_budget
from trainplan.budgets.pipeline import pipeline_bubble
from trainplan.budgets.prediction import run_time
from trainplan.budgets.situation import Situation
from trainplan.budgets.steptime import no_step, step_parts
from trainplan.budgets.stretches import At, kinds, microbatches_in, run_bubble
from trainplan.budgets.tokens import MeshBudget, TokenBudget, mesh_budget, token_budget
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import blocked, total
from trainplan.search.space import AXES, TENSOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column: TypeAlias = NDArray[Any]
    Mask: TypeAlias = NDArray[Any]

ARENA: Final = 31 * 2**20
"""Bytes that are kept for columns, a little less than glibc keeps at most."""

Models = dict[bytes, ModelBudget]
"""Models of one plan by the tensor degrees to which their vocabulary is padded; no other swept field changes them."""


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Layouts under way: a plan of their words with columns for their numbers, and what tokens and mesh say of them."""

    situation: Situation
    model: ModelBudget
    mesh: MeshBudget
    tokens: TokenBudget

    def of_words(self, plan: Plan, columns: Mapping[str, Any]) -> Chunk:
        """The same columns with other words, which tokens, mesh and model do not look at."""
        return replace(self, situation=Situation(plan, columns))

    def memory(self) -> Peak:
        """Bytes on the worst rank, or blocked."""
        return memory_peak(self.situation, self.model, self.mesh, self.tokens)

    def bubble(self) -> Any:
        """Idle time of the pipeline over ideal step time."""
        return pipeline_bubble(self.situation, self.tokens.microbatches)

    def kinds(self) -> list[int]:
        """Places of the stretches that differ in length or batch, the last one first."""
        return sorted(set(kinds(self.tokens)), reverse=True)

    def ruled(self) -> list[int]:
        """Those in which a broken rule is an error: all stages; of a ramp of batches the last one."""
        return self.kinds() if self.situation.plan.data.stages else self.kinds()[:1]

    def microbatches(self, stretch: int | None = None) -> Any:
        """Microbatches of a step, of the last stretch unless another is asked for."""
        if stretch is None:
            return self.tokens.microbatches
        return microbatches_in(self.situation, self.mesh, self.tokens, stretch)

    def run_bubble(self, of: Callable[[Situation, Any], Any] = pipeline_bubble) -> Any:
        """The same of the whole run, whose stretches may differ in batch."""
        if len(self.kinds()) == 1:
            return of(self.situation, self.tokens.microbatches)
        speed = throughput(self.situation, self.model, self.tokens, self.mesh)
        return run_bubble(self.situation, self.mesh, self.tokens, speed, of)

    def step(self) -> tuple[Any, Any]:
        """Seconds of a predicted step, the mean of the run, and bytes that one accelerator sends in the last; or blocked."""
        last = self.tokens.stretches[-1].situation
        reason = no_step(last, self.model, self.mesh, self.tokens)
        if reason is not None:
            return blocked(reason, "s"), blocked(reason, "bytes")
        speed = throughput(self.situation, self.model, self.tokens, self.mesh)
        at = At(last, speed.flops, self.tokens.microbatches, self.bubble())
        parts, sent = step_parts(self.model, self.mesh, at, conditions(last))
        step = total(**parts)
        mean = run_time(self.situation, self.model, self.mesh, self.tokens, speed, step)[1]
        return mean, total(**bytes_sent(sent))


def chunk(plan: Plan, columns: Mapping[str, Any], models: Models | None = None) -> Chunk:
    """Layouts of one plan's words with columns in place of their numbers; `models` were made for others of them."""
    s = Situation(plan, columns)
    known, key = {} if models is None else models, columns[TENSOR].tobytes()
    if key not in known:
        known[key] = model_budget(s)
    model, mesh = known[key], mesh_budget(s)
    return Chunk(s, model, mesh, token_budget(s, model.active_parameters, mesh.data))


def keep_memory() -> None:
    """Let freed columns be used again by the next, where the C library gives memory back to the system and gets it zeroed anew.

    Half the time of a search went there. glibc keeps as much as the largest array that was ever freed, up to 32 MiB (mallopt(3),
    M_MMAP_THRESHOLD and M_TRIM_THRESHOLD); this one is freed untouched, so it takes no memory. Elsewhere it does nothing.
    """
    import numpy as np

    np.empty(ARENA, dtype=np.uint8)


def along(path: str, values: Any) -> Column:
    """The values of a number as a column of float64 whose own axis is as long as they are, and all others 1."""
    import numpy as np

    shape = [1] * len(AXES)
    shape[AXES.index(path)] = len(values)
    return np.asarray(values, dtype=np.float64).reshape(shape)
