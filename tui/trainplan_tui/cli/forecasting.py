"""`forecast PLAN`: the finish and the cost as P10, P50 and P90, the chances, and what moves the date."""

from __future__ import annotations

import datetime as dt
import math

from trainplan.estimation import Estimate
from trainplan.forecast.finish import HALF_DAY, Bin, Forecast, forecast
from trainplan.forecast.spread import Driver
from trainplan.forecast.words import chance_said, cost_said, day_said, days_said, finish_said, point_said
from trainplan.plan.canonical import plan_hash
from trainplan.plan.read import Opened
from trainplan.quantity.figure import Figure
from trainplan.views import asjson
from trainplan_tui.cli.running import Options, Refused, estimated, name_of, say, write_json

LEAST_DRAWS, MOST_DRAWS = 100, 1_000_000
BAR = 32


def run(options: Options) -> int:
    """Print the forecast, or write it as JSON."""
    if not LEAST_DRAWS <= options.draws <= MOST_DRAWS:
        raise Refused(f"--draws is {options.draws}. From {LEAST_DRAWS} to {MOST_DRAWS:,} is right")
    if options.seed < 0:
        raise Refused(f"--seed is {options.seed}. 0 or more is right")
    plan, estimate = estimated(options)
    found = forecast(estimate, options.draws, options.seed)
    if options.json:
        write_json(as_json(plan, estimate, found))
    else:
        _print(plan, estimate, found, "#" if options.ascii else "█")
    return 0


def as_json(plan: Opened, estimate: Estimate, found: Forecast) -> dict[str, object]:
    """One object: the quantities of `show --json`, the histogram, the drivers, the assumptions."""
    return {
        "format": asjson.FORMAT,
        "plan": {"name": name_of(plan), "path": str(plan.source.path), "hash": plan_hash(plan.plan)},
        "draws": found.draws,
        "seed": found.seed,
        "quantities": {key: asjson.quantity(key, value, estimate) for key, value in found.quantities.items()},
        "point_rank": found.point_rank,
        "histogram": [{"begin": one.begin, "share": one.share} for one in found.histogram],
        "drivers": [_driver(one) for one in found.drivers],
        "assumptions": list(found.assumptions),
    }


def _driver(one: Driver) -> dict[str, object]:
    ends = ((one.low, one.low_finish), (one.high, one.high_finish))
    low, high = ({"value": text, "finish": time if math.isfinite(time) else None} for text, time in ends)
    return {"name": one.name, "path": one.path, "low": low, "high": high}


def _print(plan: Opened, estimate: Estimate, found: Forecast, block: str) -> None:
    say(f"{name_of(plan)}: {found.draws:,} histories, seed {found.seed}")
    for name in ("p10", "p50", "p90"):
        finish, cost = found.quantities[f"forecast.finish.{name}"], found.quantities[f"forecast.cost.{name}"]
        say(f"{name.upper():<6}{finish_said(finish, estimate):<30}{cost_said(cost, estimate)}")
    if point := point_said(estimate, found):
        say(point)
    for key, asked in (("deadline", "chance of the deadline"), ("budget", "chance of the budget")):
        chance = found.quantities[f"forecast.chance_{key}"]
        if isinstance(chance, Figure):
            say(f"{asked:<24}{chance_said(chance)}")
    for line in _histogram(found.histogram, estimate.plan.schedule.start, block):
        say(line)
    if found.drivers:
        say("one input at both ends of its range, and the finish there: early, late")
    for driver in found.drivers:
        say(f"{driver.name:<24}{_ends(driver)}")
    for sentence in found.assumptions:
        say(f"- {sentence}")


def _histogram(bins: tuple[Bin, ...], start: dt.date | None, block: str) -> list[str]:
    most = max((one.share for one in bins), default=0.0)
    return [f"{_half(one, start):<16}{100 * one.share:5.1f} %  {block * round(BAR * one.share / most)}" for one in bins]


def _half(one: Bin, start: dt.date | None) -> str:
    day = day_said(start, one.begin)
    if not day:
        return f"day {one.begin / 86400:,.1f}"
    return f"{day} {'am' if one.begin / HALF_DAY % 2 < 1 else 'pm'}"


def _ends(driver: Driver) -> str:
    ends = ((driver.low, driver.low_finish), (driver.high, driver.high_finish))
    return "   ".join(f"{text} {days_said(time)}" for text, time in ends)
