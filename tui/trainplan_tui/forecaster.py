"""The forecast and the published runs, in the background: one question at a time, a late answer dropped.

It waits until nothing was edited for a moment, so that typing never shares the processor with a simulation.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainplan.estimation import Estimate
    from trainplan.forecast import Forecast
    from trainplan.published import Run

PAUSE = 0.35
"""Seconds without an edit before a forecast begins."""

Deliver = Callable[["Estimate", "Forecast", "tuple[Run, ...]"], None]


class Forecaster:
    """Asks for forecasts on a thread; `deliver` is called on the app's loop with the estimate that was asked for."""

    def __init__(self, deliver: Deliver) -> None:
        self._deliver = deliver
        self._asked: Estimate | None = None
        self._timer: threading.Timer | None = None

    def attach(self) -> None:
        """Deliver to the running loop, in the context in which Textual knows its app."""
        self._loop, self._context = asyncio.get_running_loop(), contextvars.copy_context()

    def ask(self, estimate: Estimate) -> None:
        """Forecast an estimate soon; an earlier question that has not begun is forgotten."""
        if self._asked is estimate:
            return
        self._asked = estimate
        self.stop()
        self._timer = threading.Timer(PAUSE, self._run, (estimate,))
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """Forget a question that has not begun."""
        if self._timer is not None:
            self._timer.cancel()

    def _run(self, estimate: Estimate) -> None:
        from trainplan.forecast import forecast
        from trainplan.published import published_runs

        runs, found = published_runs(), forecast(estimate)
        if self._asked is estimate:
            with contextlib.suppress(RuntimeError):  # the app has ended
                self._loop.call_soon_threadsafe(self._deliver, estimate, found, runs, context=self._context)
