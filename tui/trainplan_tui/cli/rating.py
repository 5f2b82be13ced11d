"""`calibrate PLAN SACCT`: one's own failure rate from sacct output, beside the plan's; `--write` puts it into the plan."""

from __future__ import annotations

from pathlib import Path

from trainplan.estimation import Estimate
from trainplan.interop.sacct import OwnRate, SacctError, own_rate
from trainplan.plan.edit import set_all
from trainplan.plan.read import Opened
from trainplan.plan.source import unread
from trainplan.quantity.figure import Figure
from trainplan_tui.cli import keeping
from trainplan_tui.cli.running import Options, Refused, estimated, name_of, say, write_json

PATH = "reliability.failures_per_node_day"
FIXED = "reliability.fixed_failures_per_day"
"""Set to 0 beside a measured rate, which has every failure in it: both would count twice."""


def run(options: Options) -> int:
    """Print the counts and the rate with its range; nothing is written where an output cannot be used."""
    plan, estimate = estimated(options)
    try:
        text = "\n".join(_text(log, headless=place > 0) for place, log in enumerate(options.logs))
        found = own_rate(text)
    except SacctError as error:
        raise Refused(f"{', '.join(options.logs)}: {error}") from None
    before, fixed, nodes = (_plain(estimate, path) for path in (PATH, FIXED, "cluster.nodes"))
    notes = keeping.written(options, plan, lambda text: _changed(text, options, plan, found)) if options.write else []
    if options.json:
        write_json(_as_json(found, before, fixed, written=bool(options.write)))
        return 0
    _print(plan, found, before, fixed, nodes)
    for note in notes:
        say(note)
    return 0


def _text(file: str, *, headless: bool) -> str:
    try:
        text = Path(file).read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise Refused(unread(Path(file), error)) from None
    return "\n".join(text.splitlines()[1:]) if headless else text


def _plain(estimate: Estimate, path: str) -> float | None:
    value = estimate.situation[path]
    return float(value) if isinstance(value, Figure) else None


def _print(plan: Opened, found: OwnRate, before: float | None, fixed: float | None, nodes: float | None) -> None:
    say(
        f"{name_of(plan)}: {found.failures} failure{'' if found.failures == 1 else 's'} in {found.node_days:,.1f} node-days"
    )
    say(f"{'':<26}{'plan':>16}{'measured':>16}   95 % range")
    planned = "-" if before is None else f"{before:.4g}"
    say(f"{'failures/node-day':<26}{planned:>16}{found.rate:>16.4g}   {found.low:.4g} to {found.high:.4g}")
    if nodes and before is not None and fixed is not None:
        every, own, low, high = (rate * nodes for rate in (before + fixed / nodes, found.rate, found.low, found.high))
        say(f"{'failures/day, fixed too':<26}{every:>16.4g}{own:>16.4g}   {low:.4g} to {high:.4g}")
    say("jobs by state: " + ", ".join(f"{state} {count}" for state, count in sorted(found.states.items())))
    if found.skipped:
        say(f"skipped {found.skipped}: jobs without nodes or a time")
    if found.states.get("FAILED"):
        say("! FAILED counts as a failure; a mistake of a user ends a job in the same way")
    if found.failures:
        say(f"* {PATH} = {found.rate:.4g}")
        say(f"* {FIXED} = 0: the rate has every failure in it, those that come whatever the number of nodes too")


def _changed(text: str, options: Options, plan: Opened, found: OwnRate) -> str:
    if found.failures == 0:
        raise Refused(
            f"{', '.join(options.logs)}: no failure in {found.node_days:,.1f} node-days: "
            f"the rate is below {found.high:.3g}, which no plan can state"
        )
    return set_all(text, plan.plan, [f"{PATH}={found.rate:.4g}", f"{FIXED}=0"], options.plan).text


def _as_json(found: OwnRate, before: float | None, fixed: float | None, *, written: bool) -> dict[str, object]:
    return {
        "format": 1,
        "plan": {"failures_per_node_day": before, "fixed_failures_per_day": fixed},
        "measured": {
            "failures_per_node_day": found.rate,
            "low": found.low,
            "high": found.high,
            "failures": found.failures,
            "node_days": found.node_days,
            "states": dict(found.states),
            "skipped": found.skipped,
        },
        "written": written,
    }
