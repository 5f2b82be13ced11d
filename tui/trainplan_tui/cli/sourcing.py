"""`sources PLAN MANIFEST...`: what manifests count, beside what the plan says; `--write` puts the counts into the plan."""

from __future__ import annotations

from pathlib import Path

from trainplan.interop.manifests.counts import ManifestError
from trainplan.interop.manifests.sourced import Beside, beside, counted, unfit, written
from trainplan.plan.read import Opened
from trainplan_tui.cli import keeping
from trainplan_tui.cli.running import Options, Refused, name_of, opened, say, write_json


def run(options: Options) -> int:
    """Print both, source by source; nothing is written where a manifest cannot be used or does not fit the vocabulary."""
    plan = opened(options.plan, options.set)
    try:
        counts = counted([Path(manifest) for manifest in options.manifests], Path(options.plan).parent)
    except ManifestError as error:
        raise Refused(str(error)) from None
    refusal = unfit(plan.plan, counts)
    if refusal:
        raise Refused(refusal)
    found = beside(plan.plan, counts)
    notes = keeping.written(options, plan, lambda text: written(text, found)) if options.write else []
    if options.json:
        write_json({"format": 1, "sources": [_as_json(one) for one in found], "written": bool(options.write)})
        return 0
    _print(plan, found)
    for note in notes:
        say(note)
    return 0


def _print(plan: Opened, found: tuple[Beside, ...]) -> None:
    say(f"{name_of(plan)}{'source':>{max(1, 26 - len(name_of(plan)))}}  {'field':<22}{'plan':>22}{'manifest':>22}")
    for one in found:
        for field in ("unique_tokens", "documents", "mean_document_tokens"):
            counted, planned = one.counted[field], one.planned[field]
            if counted is None and planned is None:
                continue
            mark = "*" if field in one.changes else " "
            say(f"{mark} {one.counts.name:<24}  {field:<22}{_shown(planned):>22}{_shown(counted):>22}")
        say(f"    from {one.counts.manifest}" + (f"; {one.counts.note}" if one.counts.note else ""))


def _shown(value: float | str | None) -> str:
    return (
        "-" if value is None else value if isinstance(value, str) else f"{value:,.6g}" if value % 1 else f"{value:,.0f}"
    )


def _as_json(one: Beside) -> dict[str, object]:
    return {
        "name": one.counts.name,
        "plan": one.planned,
        "manifest": {**one.counted, "bytes_per_token": one.counts.bytes_per_token, "note": one.counts.note},
        "changes": sorted(one.changes),
    }
