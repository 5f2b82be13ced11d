"""Days and money in a few letters, as the strip and the forecast write them. Nothing here knows what they are of."""

from __future__ import annotations

import datetime as dt

from trainplan.quantity.unit import significant

SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}
DAY = 86400.0


def day(start: dt.date | None, seconds: float) -> dt.date | None:
    """The day on which a run that begins at midnight of `start` has run so many seconds; None past the calendar."""
    if start is None:
        return None
    try:
        return (dt.datetime.combine(start, dt.time()) + dt.timedelta(seconds=seconds)).date()
    except OverflowError:
        return None


def finish_of(start: dt.date | None, seconds: float, year: bool, today: dt.date | None = None) -> str:
    """`31 Dec 2026`; without a year where the end is near the start and that is near today; `24.1 d` where no start is given."""
    end = day(start, seconds)
    if start is None or (end is None and seconds < 0):
        return f"{significant(seconds / DAY, 3)} d"
    if end is None:
        return "after 9999"
    near = _near(start, end) and (today is None or _near(today, start))
    return f"{end.day} {end:%b}" if near and not year else f"{end.day} {end:%b %Y}"


def _near(first: dt.date, second: dt.date) -> bool:
    """Whether a day is in the same year or in the next month of another one: said without a year, it is that day."""
    months = (second.year - first.year) * 12 + second.month - first.month
    return second.year == first.year or 0 <= months <= 1


def money(value: float, currency: str, digits: int) -> str:
    """`$1.48M`: an amount of money in some significant digits."""
    sign = SIGNS.get(currency, f"{currency} " if currency else "")
    for factor, prefix in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{sign}{significant(value / factor, digits)}{prefix}"
    return f"{sign}{significant(value, digits)}"
