"""One's own failure rate from sacct: states, steps, times, and text that is not its output."""

from __future__ import annotations

from math import exp, log

import pytest

from trainplan.interop.sacct import SacctError, own_rate, poisson_range

TEXT = """\
JobID|JobName|State|Start|End|NNodes|ElapsedRaw
101|train|COMPLETED|2026-11-01T00:00:00|2026-11-03T00:00:00|100|172800
101.batch|batch|COMPLETED|2026-11-01T00:00:00|2026-11-03T00:00:00|1|172800
101.0|python|FAILED|2026-11-01T00:00:00|2026-11-03T00:00:00|100|172800
102|train|NODE_FAIL|2026-11-03T00:00:00|2026-11-04T00:00:00|100|86400
103|train|FAILED|2026-11-04T00:00:00|2026-11-05T00:00:00|100|86400
104|train|CANCELLED by 1000|2026-11-05T00:00:00|2026-11-06T00:00:00|100|86400
105|train|TIMEOUT|2026-11-06T00:00:00|2026-11-07T00:00:00|100|86400
106|train|PENDING|Unknown|Unknown|100|0
"""


def test_failures_over_node_days() -> None:
    found = own_rate(TEXT)
    assert found.node_days == 600
    assert found.failures == 2
    assert found.rate == pytest.approx(2 / 600)
    assert found.low < found.rate < found.high
    assert found.skipped == 1
    assert found.states == {"COMPLETED": 1, "NODE_FAIL": 1, "FAILED": 1, "CANCELLED": 1, "TIMEOUT": 1}


def test_start_and_end_stand_for_a_missing_elapsed() -> None:
    without = "\n".join(line.rpartition("|")[0] for line in TEXT.splitlines())
    assert own_rate(without).node_days == 600


def test_range_of_a_count() -> None:
    """Exact for none, one and two in closed form: e^-m = 0.025, 1 - e^-m = 0.025, 1 - (1 + m) e^-m = 0.025; 3 and 10 by Garwood."""
    assert poisson_range(0) == (0.0, pytest.approx(-log(0.025), rel=1e-6))
    assert poisson_range(1)[0] == pytest.approx(-log(0.975), rel=1e-6)
    low = poisson_range(2)[0]
    assert 1.0 - (1.0 + low) * exp(-low) == pytest.approx(0.025, rel=1e-6)
    assert poisson_range(3) == (pytest.approx(0.6187, abs=1e-4), pytest.approx(8.7673, abs=1e-4))
    assert poisson_range(10) == (pytest.approx(4.7954, abs=1e-4), pytest.approx(18.3904, abs=1e-4))


def test_range_of_many_goes_on_from_the_exact_one() -> None:
    assert poisson_range(1_000) == (pytest.approx(938.97, abs=0.01), pytest.approx(1063.95, abs=0.01))
    (low, high), (lower, higher) = poisson_range(1_001), poisson_range(1_000)
    assert 0.9 < low - lower < 1.1
    assert 0.9 < high - higher < 1.1


def test_no_failure_leaves_a_rate_that_may_be() -> None:
    text = "\n".join(line for line in TEXT.splitlines() if "FAIL" not in line)
    found = own_rate(text)
    assert (found.failures, found.rate, found.low) == (0, 0.0, 0.0)
    assert found.high > 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JobID"),
        ("JobID State NNodes\n1 COMPLETED 2", "no JobID"),
        ("JobID|State|NNodes\n", "no job has nodes"),
        ("JobID|State|NNodes|ElapsedRaw\n1|FAILED|many|10", "no job has nodes"),
        (f"JobID|State|NNodes|ElapsedRaw\n1|FAILED|{'9' * 5000}|10", "no job has nodes"),
        (f"JobID|State|NNodes|ElapsedRaw\n1|FAILED|2|{'9' * 400}", "no job has nodes"),
    ],
)
def test_other_text_is_refused_with_what_would_be_right(text: str, said: str) -> None:
    with pytest.raises(SacctError) as caught:
        own_rate(text)
    assert said in str(caught.value)
    assert "is right" in str(caught.value)
