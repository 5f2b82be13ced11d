"""The forecast and the published runs, in the background.

It waits until nothing was edited for a moment, so that typing never shares the processor with a simulation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from trainplan_tui.background import Background

if TYPE_CHECKING:
    from trainplan.estimation import Estimate
    from trainplan.evidence.published import Run
    from trainplan.forecast.finish import Forecast
    from trainplan_tui.state.shown import Shown

    Answer: TypeAlias = tuple[tuple[tuple[Estimate, Forecast], ...], tuple[Run, ...]]

PAUSE = 0.35
"""Seconds without an edit before a forecast begins."""


class Forecaster:
    """Asks for forecasts on a thread; `deliver` is called on the app's loop with the estimate that was asked for."""

    def __init__(self, deliver: Callable[[Estimate, Forecast, tuple[Run, ...]], None]) -> None:
        self._deliver = deliver
        self.background: Background[Answer] = Background(self._delivered)

    def attach(self) -> None:
        """Deliver to the running loop."""
        self.background.attach()

    def see(self, shown: Shown) -> None:
        """Ask for what a picture still lacks, at every size of the window: the strip is in all of them."""
        if shown.forecast is None and not shown.trying:
            self.ask(shown.estimate, None if shown.saved_forecast else shown.saved)

    def ask(self, estimate: Estimate, saved: Estimate | None) -> None:
        """Forecast an estimate soon, and before it the saved one where it is asked for; an earlier question is forgotten.

        Whoever edits before the first forecast has its movement all the same told from one forecast to the other.
        """
        asked = (estimate,) if saved is None or saved is estimate else (saved, estimate)
        self.background.ask(estimate, lambda: _forecasted(asked), PAUSE)

    def _delivered(self, answer: Answer) -> None:
        found, runs = answer
        for estimate, forecast in found:
            self._deliver(estimate, forecast, runs)

    def stop(self) -> None:
        """Let a forecast that has not begun never begin."""
        self.background.stop()


def _forecasted(estimates: tuple[Estimate, ...]) -> Answer:
    from trainplan.evidence.published import published_runs
    from trainplan.forecast.finish import forecast

    runs = published_runs()
    return tuple((estimate, forecast(estimate)) for estimate in estimates), runs
