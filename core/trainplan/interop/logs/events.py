"""What one line of a training log can say, whatever framework printed it: in seconds, bytes and tokens a second of one device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Step:
    """One printed step: its number, its time, its sequences and their length, or tokens a second of one device.

    None where it does not say. `mean` where time or rate is the mean of all steps since the line before. `flops` are FLOP/s of one
    device as the framework counts them, which tell of the model that ran and are no measure of anything else.
    """

    number: int
    seconds: float | None = None
    sequences: float | None = None
    rate: float | None = None
    skipped: bool = False
    length: float | None = None
    mean: bool = False
    flops: float | None = None

    @property
    def sound(self) -> bool:
        """Whether its numbers can be a step's: none below zero, no time under a microsecond or over thirty years."""
        counts = (self.sequences, self.length, self.rate)
        return all(value is None or 0.0 < value < 1e15 for value in counts) and (
            self.seconds is None or 1e-6 <= self.seconds <= 1e9
        )


@dataclass(frozen=True, slots=True)
class Begin:
    """Training starts, anew or again: the step printed next is a first one, whatever its number."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Training stood still this long for a checkpoint."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Peak:
    """The most memory of one device so far; `reserved` by the allocator, else allocated."""

    bytes: float
    reserved: bool


@dataclass(frozen=True, slots=True)
class Retries:
    """How often the allocator had to free its cache to serve a request, so far."""

    count: int


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting that the log prints: world, sequence (tokens), batch (sequences), or layers, hidden and parameters of the model."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Interruption:
    """A checkpoint or an evaluation: the step printed next is not an ordinary one."""

    kind: str


@dataclass(frozen=True, slots=True)
class Unread:
    """A line of a step that is cut or holds no number where one belongs."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A line of steps that is known and cannot be measured from; `why`, and what would do."""

    why: str


@dataclass(frozen=True, slots=True)
class Framework:
    """Which framework prints such lines."""

    name: str


Event: TypeAlias = "Step | Begin | Stall | Peak | Retries | Setting | Interruption | Unread | Foreign | Framework"
