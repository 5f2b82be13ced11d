"""The overhead curve and its marks, and published failure rates beside the plan's own."""

from __future__ import annotations

from typing import Any

import pytest

from trainplan.quantity.figure import Figure
from trainplan.views.overhead import overhead_curve, published_rates

HOUR = 3600.0


def number(found: Any, key: str) -> float:
    value = found.figure(key)
    assert isinstance(value, Figure)
    return float(value)


def test_parts_sum_to_the_slowdown(varied: Any) -> None:
    found = varied("cluster.nodes=128")
    curve = overhead_curve(found)
    assert curve is not None
    assert curve.chosen.total == pytest.approx(number(found, "reliability.slowdown") - 1, rel=1e-12)
    for point in curve.points:
        assert point.saving + point.lost == pytest.approx(point.total, rel=1e-12)
    savings, losses = ([getattr(p, part) for p in curve.points] for part in ("saving", "lost"))
    assert savings == sorted(savings, reverse=True)
    assert losses[60:] == sorted(losses[60:])


def test_optimum_is_the_least_of_the_curve(varied: Any) -> None:
    curve = overhead_curve(varied("cluster.nodes=128"), count=401)
    assert curve is not None
    least = min(curve.points, key=lambda point: point.total)
    assert least.interval == pytest.approx(curve.optimum, rel=0.05)
    assert curve.flat[0] < curve.optimum < curve.flat[1]
    assert curve.points[0].interval < curve.chosen.interval < curve.points[-1].interval


def test_the_optimum_is_flat(varied: Any) -> None:
    """Twice off costs about a quarter of what depends on the interval: 2x and 1/2x give (2 + 1/2)/2 of it."""
    curve = overhead_curve(
        varied("cluster.nodes=128", "reliability.detection_time=0s", "reliability.restart_time=0s"), count=5
    )
    assert curve is not None
    best = overhead_curve(
        varied(
            "cluster.nodes=128",
            "reliability.detection_time=0s",
            "reliability.restart_time=0s",
            f"reliability.checkpoint_interval={curve.optimum}s",
        )
    )
    twice = overhead_curve(
        varied(
            "cluster.nodes=128",
            "reliability.detection_time=0s",
            "reliability.restart_time=0s",
            f"reliability.checkpoint_interval={2 * curve.optimum}s",
        )
    )
    assert best is not None
    assert twice is not None
    assert twice.chosen.total / best.chosen.total == pytest.approx(1.25, abs=0.02)


def test_floor_and_limit_are_marked(varied: Any) -> None:
    curve = overhead_curve(varied("storage.upload_bandwidth=1kB/s", "reliability.job_time_limit=2h"))
    assert curve is not None
    assert curve.floor == 3674.496
    assert curve.longest == 2 * HOUR


def test_three_published_rates_from_good_to_bad(varied: Any) -> None:
    good, usual, bad = published_rates(varied("cluster.nodes=2048", "reliability.fixed_failures_per_day=0"))
    assert (good.rate, usual.rate, bad.rate) == (0.0037887, 0.0065, 0.016)
    assert round(usual.mtbf / HOUR, 3) == 1.803
    assert good.goodput > usual.goodput > bad.goodput
    assert good.interval > usual.interval > bad.interval


def test_no_time_is_no_curve(varied: Any) -> None:
    found = varied(left_out=("utilization.value",))
    assert overhead_curve(found) is None
    assert published_rates(found) == ()
