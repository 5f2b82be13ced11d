"""`set PLAN PATH=VALUE...`: one edit of the file, comments and layout kept."""

from __future__ import annotations

from pathlib import Path

from trainplan.plan.edit import set_all
from trainplan.plan.read import open_plan
from trainplan.plan.remarks import unrevised
from trainplan_tui.cli.keeping import saved
from trainplan_tui.cli.running import Options, say


def run(options: Options) -> int:
    """Write the file with every assignment made, or nothing at all."""
    plan = open_plan(Path(options.plan))
    edited = set_all(plan.source.text, plan.plan, options.assignments, options.plan)
    if edited.text == plan.source.text:
        say("nothing differs from the file")
        return 0
    notes = saved(options, plan, edited.text)
    changed = _changed(plan.source.text, edited.text)
    say(f"saved {Path(options.plan).name}, {changed} line{'' if changed == 1 else 's'} changed")
    for path, remark in unrevised(plan.source.text, edited.text):
        say(f"the comment beside {path} stays, and may no longer be true: {remark}")
    for note in notes:
        say(note)
    return 0


def _changed(before: str, after: str) -> int:
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return sum(max(b - a, d - c) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")
