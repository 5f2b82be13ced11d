"""Mean and variance of what failures cost, for one failure rate: the closed forms that `forecast.histories` draws from.

Plain seconds in and out. Poisson failures, restarts that are exponential and may fail too, repairs of a fixed length.
"""

from __future__ import annotations

import math

from trainplan.frozen import record

MOST_COUNTED = 60.0
"""Mean nodes in repair up to which the Poisson sum is counted; past it its normal limit is taken."""


@record
class Cost:
    """Of one failure: seconds until work is where it was, their mean and variance."""

    mean: float
    variance: float


@record
class Short:
    """Of nodes in repair past the spares: their mean and variance, and the chance that a failure finds no spare left."""

    mean: float
    variance: float
    bare: float


def failure_cost(cycle: float, detection: float, restart: float, mtbf: float) -> Cost:
    """Work lost inside a cycle (an interval and its save, s), and the time until a restart has ended.

    The first is an exponential time cut at the cycle. A restart takes the detection and an exponential time; a failure in it
    begins another one.
    """
    left = 1.0 / math.expm1(cycle / mtbf)
    lost, lost_variance = mtbf - cycle * left, mtbf * mtbf - cycle * cycle * left * (1.0 + left)
    stays = max(math.exp(-detection / mtbf) / (1.0 + restart / mtbf), 1e-100)
    restored = mtbf * (1.0 - stays) / stays
    passed = math.exp(-detection / mtbf)
    square = 2.0 * mtbf * (mtbf - passed * (detection + mtbf))
    if restart > 0.0:
        tail = mtbf * restart / (mtbf + restart)
        square += 2.0 * passed * tail * (detection + tail)
    restored_variance = square * (1.0 + restored / mtbf) / stays - restored * restored
    return Cost(lost + restored, max(lost_variance, 0.0) + max(restored_variance, 0.0))


def shortage(mean: float, spares: float) -> Short:
    """Nodes in repair past the spares, where those in repair are Poisson with that mean."""
    if mean <= 0.0 or spares > mean + 12.0 * math.sqrt(mean) + 20.0:
        return Short(0.0, 0.0, 0.0)
    return _counted(mean, int(spares)) if mean <= MOST_COUNTED else _in_the_limit(mean, spares)


def _counted(mean: float, spares: int) -> Short:
    chance, below, first, second = math.exp(-mean), 0.0, 0.0, 0.0
    for count in range(spares):
        below += chance
        first += (spares - count) * chance
        second += (spares - count) ** 2 * chance
        chance *= mean / (count + 1)
    over = max(mean - spares + first, 0.0)
    square = max(mean + (mean - spares) ** 2 - second, 0.0)
    return Short(over, max(square - over * over, 0.0), max(1.0 - below, 0.0))


def _in_the_limit(mean: float, spares: float) -> Short:
    width = math.sqrt(mean)
    over = (mean - spares) / width
    bare, density = 0.5 * math.erfc(-over / math.sqrt(2.0)), math.exp(-over * over / 2.0) / math.sqrt(2.0 * math.pi)
    first = width * (density + over * bare)
    square = width * width * ((1.0 + over * over) * bare + over * density)
    return Short(first, max(square - first * first, 0.0), bare)
