"""The forecast in words, for the command line and the report: what a finish, a cost and the two ends of an input are called."""

from __future__ import annotations

import datetime as dt

from trainplan.estimation import Estimate
from trainplan.forecast.finish import Forecast
from trainplan.quantity.figure import Blocked, Quantity
from trainplan.quantity.unit import whole
from trainplan.rows.table import lacking

DAY = 86400.0


def finish_said(value: Quantity, estimate: Estimate) -> str:
    """`22.96 d, 2026-12-29`; without a day where no start is given; what is missing where no finish can be told."""
    if isinstance(value, Blocked):
        return lacking(value.code)
    day = day_said(estimate.plan.schedule.start, float(value))
    return days_said(float(value)) + (f", {day}" if day else "")


def days_said(seconds: float) -> str:
    """`22.96 d`."""
    return f"{seconds / DAY:,.2f} d"


def day_said(start: dt.date | None, seconds: float) -> str:
    """The day on which a run that begins at midnight of `start` has run so many seconds; empty past the calendar."""
    try:
        return "" if start is None else (start + dt.timedelta(seconds=seconds)).isoformat()
    except OverflowError:
        return ""


def cost_said(value: Quantity, estimate: Estimate) -> str:
    """`1,454,642 USD`; what is missing where no cost can be told."""
    if isinstance(value, Blocked):
        return f"cost: {lacking(value.code)}"
    return f"{whole(value)} {estimate.plan.cluster.currency}"


def point_said(estimate: Estimate, found: Forecast) -> str:
    """Where the point estimate lies among the histories; empty where no finish can be told."""
    if found.point_rank is None:
        return ""
    days = float(estimate.money.wall_time) / DAY
    return f"the point estimate, {days:.2f} d, lies at P{100 * found.point_rank:.0f}"


def chance_said(share: float) -> str:
    """`99.8 %`."""
    return f"{100 * share:.1f} %"
