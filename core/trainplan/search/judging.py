"""Legal layouts through memory and time, a chunk at a time, and what is kept of them.

Pruned in order: states alone over usable memory, memory over usable, then time. Nothing here knows a rule of the layout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from trainplan.budgets.situation import Situation
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Blocked, Figure
from trainplan.search.columns import Models, chunk, keep_memory
from trainplan.search.pieces import NUMBERS, Piece
from trainplan.search.ranking import Rows, enters, no_rows, not_beaten
from trainplan.search.space import CONTEXT, MICRO

if TYPE_CHECKING:
    from trainplan.search.columns import Column, Mask

GIB: Final = 2.0**30
MISSING, UNDEFINED = " is missing", "not defined: "
"""How a reason ends or begins where nothing can be told of a layout."""

KEPT: Final = 1000
"""Layouts kept of each order."""


@dataclass(slots=True, eq=False)
class Judge:
    """Limits of memory in bytes, the plans of the words seen so far, counts, and the best layouts seen so far.

    `own` are the plan's context ranks and micro batch.
    """

    usable: float
    target: float
    tally: dict[str, int]
    own: tuple[int, int]
    fitting: int = 0
    legal: int = 0
    models: Models = field(default_factory=Models)
    groups: list[Plan] = field(default_factory=list[Plan])
    fastest: Rows = field(default_factory=no_rows)
    leanest: Rows = field(default_factory=no_rows)
    front: Rows = field(default_factory=no_rows)
    nearest: Rows = field(default_factory=no_rows)

    def judge(self, plan: Plan, piece: Piece) -> None:
        """Take the layouts of one piece, all of one plan's words."""
        import numpy as np

        with np.errstate(all="ignore"):
            here, mask = chunk(plan, piece.columns(), self.models), piece.alive
            rows = int(mask.sum())
            self.legal += rows
            memory = here.memory()
            if isinstance(memory.total, Blocked):
                return self._count(_unknown(memory.total.code), rows)
            total, states = np.broadcast_to(memory.total, mask.shape), np.broadcast_to(memory.states, mask.shape)
            fits = self._within(mask, total, states)
            if fits.any():
                self._take(plan, piece, fits, total, *here.step())
            elif not self.fitting:
                self._remember(plan, piece, mask, total)
        return None

    def _within(self, mask: Mask, total: Column, states: Column) -> Mask:
        """Rows whose memory is within what is usable; the others are counted."""
        alone = mask & (states > self.usable)
        fits = mask & (total <= self.usable)
        heavy, over = int(alone.sum()), int(mask.sum()) - int(fits.sum())
        self._count(f"weights and optimizer states alone above usable {self.usable / GIB:.1f} GiB", heavy)
        self._count(f"memory above usable {self.usable / GIB:.1f} GiB", over - heavy)
        return fits

    def _count(self, reason: str, rows: int) -> None:
        if rows:
            self.tally[reason] = self.tally.get(reason, 0) + rows

    def _take(self, plan: Plan, piece: Piece, fits: Mask, total: Column, step: Any, sent: Any) -> None:
        import numpy as np

        count = int(fits.sum())
        if isinstance(step, Blocked):
            return self._count(_unknown(step.code), count)
        self.fitting += count
        steps, memory = np.broadcast_to(step, fits.shape)[fits], total[fits]
        above = memory > self.target
        wanted = not_beaten(self.front, steps, memory)
        wanted |= enters(self.fastest, "time", KEPT, steps, memory, above)
        wanted |= enters(self.leanest, "memory", KEPT, steps, memory, above)
        wanted[wanted] = ~self._split_again(piece.at(np.flatnonzero(fits)[wanted]))
        if wanted.any():
            where = np.flatnonzero(fits)[wanted]
            bytes_sent = np.broadcast_to(sent, fits.shape).reshape(-1)[where]
            self._keep(self._rows(plan, piece, where, steps[wanted], bytes_sent, memory[wanted]))
        return None

    def _split_again(self, numbers: Column) -> Mask:
        """Layouts whose context ranks split what a smaller micro batch would not have joined; the plan's own stay.

        Fewer of both leave the same tokens, microbatches and groups of gradients, hold the same and send less.
        """
        import numpy as np

        context, micro = (numbers[:, NUMBERS.index(path)].astype(np.int64) for path in (CONTEXT, MICRO))
        return (np.gcd(context, micro) > 1) & ~((context == self.own[0]) & (micro == self.own[1]))

    def _rows(self, plan: Plan, piece: Piece, where: Any, step: Column, sent: Column, memory: Column) -> Rows:
        """Layouts at flat places of a piece."""
        import numpy as np

        if not self.groups or self.groups[-1] is not plan:
            self.groups.append(plan)
        group = np.full(len(where), len(self.groups) - 1)
        return Rows(step, sent, memory, memory > self.target, group, piece.at(where))

    def _keep(self, rows: Rows) -> None:
        self.fastest = self.fastest.joined(rows).best("time", KEPT)
        self.leanest = self.leanest.joined(rows).best("memory", KEPT)
        self.front = self.front.joined(rows).front()

    def _remember(self, plan: Plan, piece: Piece, mask: Mask, total: Column) -> None:
        """The legal layout that needs least memory, as long as none fits."""
        import numpy as np

        flat = np.where(mask, total, np.inf).reshape(-1)
        where = np.array([int(flat.argmin())])
        none = np.array([np.nan])
        rows = self._rows(plan, piece, where, none, none, flat[where])
        self.nearest = self.nearest.joined(rows).best("memory", 1)


def judge_of(plan: Plan, tally: dict[str, int]) -> Judge:
    """What memory a plan may use. Without a known device nothing is too large."""
    keep_memory()
    s = Situation(plan)
    usable, share = s["cluster.memory_per_accelerator"], s["memory.target_fraction"]
    most = float(usable) if isinstance(usable, Figure) else math.inf
    own = int(plan.parallelism.context), int(plan.batch.micro_batch_sequences or 0)
    return Judge(most, most * float(share), tally, own)


def _unknown(code: str) -> str:
    """The reason of layouts of which nothing can be told."""
    return f"{code.removeprefix('missing:')}{MISSING}" if code.startswith("missing:") else f"{UNDEFINED}{code}"
