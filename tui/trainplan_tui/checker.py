"""What takes longer than an edit, on threads: what lies beside the plan, and fixes of findings tried on it.

The record is read at once when Pilot or Readiness shows. A fix that was not tried is no fix yet, and is not shown.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from trainplan_tui.background import Background

if TYPE_CHECKING:
    from trainplan.estimation import Estimate
    from trainplan.finding import Finding
    from trainplan.review.record import Record
    from trainplan_tui.state.dossier import Dossier
    from trainplan_tui.state.session import Session

    Findings: TypeAlias = tuple[Finding, ...]

PAUSE = 0.1
"""Seconds without an edit before fixes are tried: typing never shares the processor with them."""

LOOKING = frozenset({"pilot", "ready"})
"""Modules of the panes that show what lies beside the plan."""


class Checker:
    """Keeps the session's dossier: read when such a pane is entered, checked again when record or saved plan changed."""

    def __init__(self, paint: Callable[[], None]) -> None:
        self._paint = paint
        self.background: Background[tuple[Session, Dossier]] = Background(self._take)
        self.fixes: Background[tuple[Session, Findings, Findings]] = Background(self._take_fixes)
        self._shown = ""
        self._checked: tuple[Session, Estimate, Record] | None = None

    def attach(self) -> None:
        """Deliver to the running loop."""
        self.background.attach()
        self.fixes.attach()

    def look(self, session: Session, module: str) -> None:
        """A pane is drawn: its fixes are tried; the rest happens in panes alone that show what lies beside the plan."""
        self._try_fixes(session)
        entered, self._shown = module != self._shown, module
        unchecked = session.dossier is not None and session.dossier.at is None
        if module not in LOOKING and not unchecked:
            return
        if (entered and module in LOOKING) or session.dossier is None:
            from trainplan_tui.acts.recording import read_record

            read_record(session)
            self._checked = None
        self._ask(session)

    def _try_fixes(self, session: Session) -> None:
        shown = session.shown
        if shown.trying or not any(finding.untried for finding in shown.findings):
            return

        def work() -> tuple[Session, Findings, Findings]:
            from trainplan.checks import tried_fixes

            found = shown.findings
            tried = tried_fixes(shown.estimate, found, shown.runs, lambda: self.fixes.asks(found))
            return session, found, tried

        self.fixes.ask(shown.findings, work, PAUSE)

    def _take_fixes(self, answer: tuple[Session, Findings, Findings]) -> None:
        session, found, tried = answer
        if session.take_fixes(found, tried):
            self._paint()

    def _ask(self, session: Session) -> None:
        dossier = session.dossier
        if dossier is None or self._is_checked(session, dossier):
            return
        self._checked = session, session.saved, dossier.record
        folder, figures = session.path.parent, session.saved

        def work() -> tuple[Session, Dossier]:
            from trainplan_tui.state.dossier import checked_dossier

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
