"""`diff PLAN PLAN`: what differs, in fields and in numbers. Unmoved numbers are counted, not listed."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from trainplan.estimation import estimate
from trainplan.files.beside import recounted_beside
from trainplan.plan.read import open_plan
from trainplan.views.compare import Difference, differences
from trainplan_tui.cli.running import Options, opened, say, write_json


def run(options: Options) -> int:
    """Print the differences between two plan files."""
    today = dt.date.today()
    before = recounted_beside(
        Path(options.plan), estimate(open_plan(Path(options.plan)).plan, today), dt.datetime.now(dt.UTC)
    )
    after = recounted_beside(
        Path(options.other), estimate(opened(options.other, options.set).plan, today), dt.datetime.now(dt.UTC)
    )
    found = differences(before, after)
    if options.json:
        write_json(_as_json(found))
        return 0
    _print(found, options.plan, options.other)
    return 0


def _as_json(found: Difference) -> dict[str, object]:
    return {
        "format": 1,
        "fields": [{"path": path, "before": before, "after": after} for path, before, after in found.fields],
        "same": [{"path": path, "before": old, "after": new, "is": how} for path, old, new, how in found.same],
        "quantities": {
            move.key: {"before": move.before_value, "after": move.after_value, "unit": move.unit}
            for move in found.moves
        },
        "findings": {"new": list(found.new_findings), "gone": list(found.gone_findings)},
    }


def _print(found: Difference, before: str, after: str) -> None:
    if not found.fields and not found.moves and not found.same:
        say(f"nothing differs between {before} and {after}")
        return
    old, new = Path(before).name, Path(after).name
    heads = (before, after) if old == new else (old, new)
    say(f"fields{'':<34} {heads[0]:>18}  {heads[1]:>18}")
    for path, *values in found.fields:
        say(f"  {path:<38} {values[0]:>18}  {values[1]:>18}")
    for path, *values, how in found.same:
        say(f"  {path:<38} {values[0]:>18}  {values[1]:>18}  {how}")
    say(f"numbers that moved: {len(found.moves)} of {found.counted}")
    for move in found.moves:
        say(f"  {move.label:<28} {move.before:>14} {move.after:>14} {move.moved:>12}  {move.share}")
    for sentence in found.new_findings:
        say(f"new   {sentence}")
    for sentence in found.gone_findings:
        say(f"gone  {sentence}")
