"""What panes are shown: one plan with its estimate, and what it is compared with. Panes are shown, never asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.frozen import record
from trainplan.plan.plan import Plan

if TYPE_CHECKING:
    from trainplan.evidence.published import Run
    from trainplan.forecast.finish import Forecast
    from trainplan_tui.state.dossier import Dossier, Reviewed


@record
class Shown:
    """One state of the plan. `valid` is false while text is typed that is no value: figures are the last valid ones.

    `pending` is true while nobody has looked for findings yet, which a picture may not show as none.
    """

    name: str
    file: str
    text: str
    plan: Plan
    estimate: Estimate
    findings: tuple[Finding, ...]
    saved: Estimate
    edits: int
    valid: bool = True
    trying: bool = False
    forecast: Forecast | None = None
    saved_forecast: Forecast | None = None
    dossier: Dossier | None = None
    runs: tuple[Run, ...] = ()
    pending: bool = False

    @property
    def reviewed(self) -> Reviewed:
        """Pilot and readiness against what lies beside the plan; of an empty record until it was read."""
        from trainplan_tui.state.dossier import NOTHING, reviewed

        return reviewed(self.estimate, self.saved, self.dossier or NOTHING)

    @property
    def review_findings(self) -> tuple[Finding, ...]:
        """Findings of pilot and readiness; none until their record was read."""
        return self.reviewed.findings if self.dossier is not None else ()

    @property
    def claimed(self) -> tuple[Finding, ...]:
        """What the plan claims and its record has not; nothing until that was read."""
        if self.dossier is None:
            return ()
        from trainplan.review.findings import claims

        return claims(self.reviewed.now)

    @property
    def counted(self) -> tuple[Finding, ...]:
        """Findings as they are counted everywhere: those of the plan and what it claims, errors first."""
        claimed = self.claimed
        if not claimed:
            return self.findings
        from trainplan.finding import ORDER

        return tuple(sorted((*claimed, *self.findings), key=lambda item: ORDER[item.severity]))

    @property
    def unsaved(self) -> bool:
        """Whether the text differs from the file's."""
        return self.edits > 0

    def finding_at(self, row: str) -> Finding | None:
        """The finding that a row shows, by the row's id."""
        for item in (*self.findings, *self.review_findings):
            if row == f"finding {item.code} {item.paths[0] if item.paths else ''}":
                return item
        return None

    def why(self, code: str) -> Finding | None:
        """The finding that says why a value is blocked by its code; its first path is the field that leads out of it."""
        return next((finding for finding in self.findings if finding.code == code), None)

    def finding_of(self, path: str) -> Finding | None:
        """The worst finding that this field decides, if any."""
        return next((finding for finding in self.findings if finding.paths and finding.paths[0] == path), None)
