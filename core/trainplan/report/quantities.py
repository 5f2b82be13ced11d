"""All quantities of a plan as CSV: what `show --json` says, one row each, exact.

RFC 4180: rows end in CRLF, a cell with a comma or a quote is quoted. A spreadsheet runs a cell that begins with = + - or @ as a
formula; a text that does, or that begins with an apostrophe already, gets an apostrophe in front, by which spreadsheets take it
as text (OWASP, CSV Injection; OWASP ASVS 5.0, 1.2.10). Numbers stay as they are: a negative one is no formula.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any, Final

from trainplan.estimation import Estimate
from trainplan.forecast.finish import Forecast
from trainplan.views import asjson

COLUMNS: Final = (
    "key",
    "value",
    "unit",
    "rests_on",
    "verified",
    "blocked_by",
    "label",
    "formula",
    "inputs",
    "source",
)
"""`value` is a number in base units, or a word; empty where `blocked_by` says why. `inputs` is a JSON object: name to key."""

_RUN: Final = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "'")
"""What a text may not begin with: also the full-width forms, which spreadsheets read alike, and the guard itself."""


def as_csv(estimate: Estimate, forecast: Forecast, clean: Callable[[str], str]) -> str:
    """The table with a line of heads. `clean` makes of any text one that only draws."""
    told = io.StringIO(newline="")
    rows = csv.writer(told)
    rows.writerow(COLUMNS)
    for key, value in {**estimate.all_quantities, **forecast.quantities}.items():
        found = {"key": key, "blocked_by": "", **asjson.quantity(key, value, estimate)}
        rows.writerow([_cell(found[name], clean) for name in COLUMNS])
    return told.getvalue()


def _cell(value: Any, clean: Callable[[str], str]) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return json.dumps(value)
    return guarded(clean(value)) if isinstance(value, str) else repr(value)


def guarded(text: str) -> str:
    """A text that no spreadsheet runs."""
    return f"'{text}" if text.lstrip().startswith(_RUN) else text
