"""What logs measured: the record that one run comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ENOUGH, STEADY = 20, 0.05
"""Steps below which, and variation above which, a measurement is doubted: C7."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What logs measured. Rates are tokens a second of one device; `peak` bytes; `stall` s; None where no line said it.

    `variation` is that of lines, None of one line; a line is mostly the mean of `steps_a_line` steps, of 1 where it is a step.
    `assumed` are the settings that were lent to work out a rate, `disturbed` is set where every line follows a checkpoint or an
    evaluation. `retries` of the allocator, 0 where no line said so. `model` has what the log prints of layers, hidden and
    parameters, and `token_flops` are its own FLOP/s over its tokens a second: what a token costs by whatever convention it prints.
    """

    framework: str
    rate: float
    rate_low: float
    rate_high: float
    variation: float | None
    steps_used: int
    steps_seen: int
    dropped: dict[str, int]
    world: float | None
    sequence: float | None
    batch: float | None
    peak: float | None
    peak_reserved: bool
    stall: float | None
    saves: int
    date: str | None
    retries: int = 0
    steps_a_line: float = 1.0
    assumed: tuple[str, ...] = ()
    disturbed: bool = False
    model: Mapping[str, float] = field(default_factory=dict[str, float])
    token_flops: float | None = None

    @property
    def of_means(self) -> bool:
        """Whether lines are means of several steps: their variation is not that of steps."""
        return self.steps_a_line > 1.0

    def counted(self) -> str:
        """The steps that were used, in words."""
        return f"{self.steps_used} step{'' if self.steps_used == 1 else 's'}"

    def spread(self) -> str:
        """The variation in words, and of what it is."""
        if self.variation is None:
            return "variation unknown of one line"
        told = f"variation {100 * self.variation:.1f} %"
        return f"{told} of means of {self.steps_a_line:.3g} steps" if self.of_means else told
