"""Work on a thread whose answer comes back to the app: one question at a time, a late answer dropped.

It refuses to touch what it was asked about: a question is frozen, an answer is delivered on the app's loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """Asks one question at a time; `deliver` is called on the app's loop with the answer to the question asked last.

    `failed` is called there with what work raised, so that nobody waits for an answer that never comes.
    """

    def __init__(self, deliver: Callable[[T], None], failed: Callable[[Exception], None] | None = None) -> None:
        self._deliver = deliver
        self._failed = failed
        self._asked: object = None
        self._timer: threading.Timer | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._context: contextvars.Context | None = None

    def attach(self) -> None:
        """Deliver to the running loop, in the context in which Textual knows its app."""
        self._loop, self._context = asyncio.get_running_loop(), contextvars.copy_context()

    def ask(self, question: object, work: Callable[[], T], pause: float = 0.0) -> None:
        """Begin `work` after a pause (s); the same question twice is asked once, an earlier one is forgotten."""
        if self._asked is question:
            return
        self.forget()
        self._asked = question
        self._timer = threading.Timer(pause, self._run, (question, work))
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """Let a question that has not begun never begin."""
        if self._timer is not None:
            self._timer.cancel()

    def forget(self) -> None:
        """Drop the question: what has not begun never begins, what runs is not delivered."""
        self._asked = None
        self.stop()

    def asks(self, question: object) -> bool:
        """Whether this is the question whose answer would be delivered; work that takes long looks here."""
        return self._asked is question

    def tell(self, question: object, work: Callable[[], None]) -> None:
        """Do something small on the app's loop on the way, such as a count of what was done."""
        self._on_loop(lambda: work() if self._asked is question else None)

    def _run(self, question: object, work: Callable[[], T]) -> None:
        try:
            answer = work()
        except Exception as error:
            failed, raised = self._failed, error
            if failed is None:
                raise
            self._on_loop(lambda: failed(raised) if self._asked is question else None)
            return
        self._on_loop(lambda: self._deliver(answer) if self._asked is question else None)

    def _on_loop(self, call: Callable[[], None]) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the app has ended
                self._loop.call_soon_threadsafe(call, context=self._context)
