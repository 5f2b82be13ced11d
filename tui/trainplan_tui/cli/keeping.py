"""A plan's text back into its file, for every command that writes: checked, whole, and not over what changed meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from trainplan.files.save import ChangedOnDisk, SaveError, save
from trainplan.plan.read import Opened, plan_of_text
from trainplan.plan.tree import SpliceError
from trainplan_tui.cli.running import Options, Refused


def written(options: Options, plan: Opened, change: Callable[[str], str]) -> list[str]:
    """What `--write` says once the file holds the changed text. Raises Refused beside `--set`, which is for one call alone."""
    if options.set:
        raise Refused(
            "--set is for one call, --write for the file. Set the fields first: trainplan-tui set PLAN PATH=VALUE"
        )
    before = plan.source.text
    try:
        after = change(before)
    except SpliceError as error:
        raise Refused(f"{options.plan}: {error}") from None
    if after == before:
        return ["nothing differs from the file"]
    plan_of_text(after, options.plan)
    return [f"saved {Path(options.plan).name}", *saved(options, plan, after)]


def saved(options: Options, plan: Opened, text: str) -> list[str]:
    """Notes of the save. Raises Refused where the file cannot be written, or is no longer the one that was read."""
    try:
        done = save(Path(options.plan), text, expected_sha256=plan.source.sha256, had_bom=plan.source.had_bom)
    except (SaveError, ChangedOnDisk) as error:
        raise Refused(str(error)) from None
    return list(done.notes)
