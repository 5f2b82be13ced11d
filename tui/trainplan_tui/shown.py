"""What panes are shown: one plan with its estimate, and what it is compared with. Panes are shown, never asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.frozen import record
from trainplan.plan.plan import Plan

if TYPE_CHECKING:
    from trainplan.forecast import Forecast


@record
class Shown:
    """One state of the plan. `valid` is false while text is typed that is no value: figures are the last valid ones."""

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

    @property
    def unsaved(self) -> bool:
        """Whether the text differs from the file's."""
        return self.edits > 0

    def finding_of(self, path: str) -> Finding | None:
        """The worst finding that this field decides, if any."""
        return next((finding for finding in self.findings if finding.paths and finding.paths[0] == path), None)
