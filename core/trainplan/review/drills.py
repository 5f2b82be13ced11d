"""Read-do cards of the drills that a review rests on: steps in their order, read and done one after the other.

Data from the design notes' pilot ladder (rungs one-node and few-nodes) and readiness item 8; not re-read from a runbook.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Drill:
    """One card: what it shows, and what is done in which order."""

    title: str
    steps: tuple[str, ...]


RESUME: Final = Drill(
    "resume drill: a killed run goes on with the same data position",
    (
        "start from a fixed checkpoint; write loss, consumed samples and a hash of each batch",
        "let it run past two checkpoints, then 60 steps on; keep this log as the reference",
        "start again from the same checkpoint and kill one rank with SIGKILL between two saves",
        "note the time at which the job is seen to be dead, and the time of the first step after the restart",
        "resume on other nodes than before, with the planned number of replicas",
        "hold 10 batches after the resume to the reference: hashes equal, no sample twice, none left out",
        "hold the loss of 50 steps to the reference: at most 3 standard deviations of a step apart",
        "repeat with the other number of replicas, where the plan may change it",
        "attach both logs with their job numbers; set storage.last_restore_drill",
    ),
)

RESTORE: Final = Drill(
    "restore drill: a checkpoint comes back from its remote copy",
    (
        "take the newest checkpoint whose upload has ended; read its checksums from the remote side",
        "copy it to a path that no run uses; never over a local checkpoint",
        "hold every file to its checksum and size; a missing done mark ends the drill as failed",
        "load it on other nodes, optimizer, schedule, random states and loader included",
        "run 10 steps: loss within 3 standard deviations, step number and consumed samples go on",
        "note the time from the request to the first step; compare it with the plan's restart time",
        "attach the log; set storage.last_restore_drill",
    ),
)

OF_ITEM: Final = MappingProxyType({"resume": (RESUME, RESTORE)})
"""The cards of an item."""
OF_RUNG: Final = MappingProxyType({"one-node": (RESUME,), "few-nodes": (RESUME, RESTORE)})
"""The cards of a rung."""
