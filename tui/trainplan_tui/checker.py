"""What lies beside the plan, looked at while Pilot or Readiness shows: the record at once, files and paths on a thread."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from trainplan_tui.background import Background

if TYPE_CHECKING:
    from trainplan.estimation import Estimate
    from trainplan.review.record import Record
    from trainplan_tui.dossier import Dossier
    from trainplan_tui.session import Session

LOOKING = frozenset({"pilot", "ready"})
"""Modules of the panes that show what lies beside the plan."""


class Checker:
    """Keeps the session's dossier: read when such a pane is entered, checked again when record or saved plan changed."""

    def __init__(self, paint: Callable[[], None]) -> None:
        self._paint = paint
        self.background: Background[tuple[Session, Dossier]] = Background(self._take)
        self._shown = ""
        self._checked: tuple[Session, Estimate, Record] | None = None

    def attach(self) -> None:
        """Deliver to the running loop."""
        self.background.attach()

    def look(self, session: Session, module: str) -> None:
        """A pane is drawn: nothing happens but in those that show what lies beside the plan."""
        entered, self._shown = module != self._shown, module
        mirrored = session.dossier is None and bool(session.shown.plan.readiness)
        if module not in LOOKING and not mirrored:
            return
        if entered or session.dossier is None:
            from trainplan_tui.recording import read_record

            read_record(session)
            self._checked = None
        self._ask(session)

    def _ask(self, session: Session) -> None:
        dossier = session.dossier
        if dossier is None or self._is_checked(session, dossier):
            return
        self._checked = session, session.saved, dossier.record
        folder, figures = session.path.parent, session.saved

        def work() -> tuple[Session, Dossier]:
            from trainplan_tui.dossier import checked_dossier

            return session, checked_dossier(folder, figures, dossier, dt.datetime.now(dt.UTC))

        self.background.ask(object(), work)

    def _is_checked(self, session: Session, dossier: Dossier) -> bool:
        known = self._checked
        return known is not None and known[0] is session and known[1] is session.saved and known[2] is dossier.record

    def _take(self, answer: tuple[Session, Dossier]) -> None:
        session, found = answer
        present = session.dossier
        if present is not None:
            session.take_dossier(
                replace(present, broken=found.broken, looked=found.looked, runs=found.runs, at=found.at)
            )
            self._paint()
