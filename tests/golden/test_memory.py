"""The ledger against published peaks and against what ran: the bounds that the figures must keep, by source."""

from __future__ import annotations

import statistics

import pytest
from memory_table import MEASURES, Comparison, compared, doubled, feasibility, ninth
from readme import row_of


@pytest.fixture(scope="module")
def measured() -> dict[tuple[str, str], list[Comparison]]:
    return {(source, reading): compared(source, reading, field) for source, reading, field in MEASURES}


@pytest.mark.parametrize(
    ("key", "median", "ninety", "most"),
    [
        (("simumax", "allocated"), 0.015, 0.03, 0.04),
        (("simumax", "reserved"), 0.025, 0.05, 0.05),
        (("torchtitan", "reserved"), 0.08, 0.15, 0.15),
        (("bloom", "total"), 0.05, 0.10, 0.20),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_measured_peaks(
    measured: dict[tuple[str, str], list[Comparison]], key: tuple[str, str], median: float, ninety: float, most: float
) -> None:
    errors = [abs(one.error) for one in measured[key]]
    assert statistics.median(errors) <= median
    assert ninth(errors) <= ninety
    assert max(errors) <= most


def test_the_band_holds(measured: dict[tuple[str, str], list[Comparison]]) -> None:
    """At least 80 % of the measured rows lie between low and high."""
    rows = [one for key, found in measured.items() if key != ("simumax", "allocated") for one in found]
    assert sum(one.inside for one in rows) >= 0.80 * len(rows)


def test_what_ran_fits_and_what_did_not_does_not() -> None:
    """98 % of the facts, and at most one wrong among those that ran out of memory."""
    facts = feasibility()
    assert sum(fits == row["fits"] for row, fits, _ in facts) >= 0.98 * len(facts)
    assert sum(fits for row, fits, _ in facts if not row["fits"]) <= 1
    assert sum(not row["fits"] for row, _, _ in facts) == 5
    right = sum(fits == row["fits"] for row, fits, _ in facts)
    assert f"{len(facts)} layouts that ran or ran out of memory | {right} right" in row_of("fits or not")


def test_readme_says_how_far_peaks_are(measured: dict[tuple[str, str], list[Comparison]]) -> None:
    told = [measured[key] for key in (("simumax", "allocated"), ("torchtitan", "reserved"), ("bloom", "total"))]
    medians = [f"{100 * statistics.median(abs(one.error) for one in rows):.1f}" for rows in told]
    assert f"| {sum(map(len, told))} measured peaks" in row_of("memory")
    assert f"| median {', '.join(medians[:2])} and {medians[2]} % |" in row_of("memory")


def test_the_verdict_is_sharp() -> None:
    """Twice the largest microbatch that ran is too much on 80 % of the cells: `always fits` would fail here."""
    too_much = doubled()
    assert sum(too_much) >= 0.80 * len(too_much)
    assert len(too_much) > 90
