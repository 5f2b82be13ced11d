"""A search on a thread of its own: what is known so far, ten times a second, until it ends or is stopped."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainplan.plan.plan import Plan
    from trainplan.search.searching import Search

PAUSE = 0.1
"""Seconds between two pictures of a search under way."""


class Searcher:
    """Searches the layouts of one plan; `deliver` is called on the thread, with whether that was the last."""

    def __init__(self, plan: Plan, deliver: Callable[[Search, bool], None]) -> None:
        self._plan, self._deliver = plan, deliver
        self._ended = threading.Event()

    def start(self) -> None:
        """Begin."""
        threading.Thread(target=self._run, daemon=True).start()

    def stop(self) -> None:
        """End at the next chunk."""
        self._ended.set()

    @property
    def ended(self) -> bool:
        """Whether it is done or stopped."""
        return self._ended.is_set()

    def _run(self) -> None:
        from trainplan.search.searching import searching

        told, last = 0.0, None
        with contextlib.suppress(RuntimeError):  # the app has ended
            for state in searching(self._plan):
                last = state
                if self.ended:
                    break
                if time.monotonic() - told > PAUSE:
                    self._deliver(state, False)
                    told = time.monotonic()
            self._ended.set()
            if last is not None:
                self._deliver(last, True)
