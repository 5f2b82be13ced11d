"""What a report is made of. It refuses to read files and a clock: plan, standing and time were asked before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainplan import __version__
from trainplan.checks import findings
from trainplan.estimation import Estimate
from trainplan.evidence.published import published_runs
from trainplan.files.standing import Standing
from trainplan.finding import ORDER, Finding
from trainplan.forecast.finish import Forecast, forecast
from trainplan.review.findings import claims


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """One plan as a report tells it. The estimate's `today` dates it.

    `remarks` are the plan file's own comments by the field beside which they stand; `changed` is what was set for this report
    alone, and is not in the file; `version` is the program's.
    """

    name: str
    file: str
    version: str
    estimate: Estimate
    forecast: Forecast
    findings: tuple[Finding, ...]
    standing: Standing
    remarks: Mapping[str, str] = field(default_factory=dict[str, str])
    changed: tuple[str, ...] = ()


def facts_of(
    name: str,
    file: str,
    estimate: Estimate,
    standing: Standing,
    remarks: Mapping[str, str] | None = None,
    changed: tuple[str, ...] = (),
) -> Facts:
    """The facts of a plan whose estimate and standing are at hand: with its findings, each fix tried, and its forecast."""
    told = (*claims(standing.review), *findings(estimate, published_runs()))
    found = tuple(sorted(told, key=lambda finding: ORDER[finding.severity]))
    return Facts(name, file, __version__, estimate, forecast(estimate), found, standing, remarks or {}, changed)
