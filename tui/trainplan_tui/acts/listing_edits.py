"""Removing and moving sources and stages, and dividing weights by their sum: each one edit, each undone by one `u`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from trainplan.labels.series import series
from trainplan.plan.edit import Edited
from trainplan.plan.entries import (
    moved_entry,
    normalised,
    stage_of,
    with_fields,
    without_entry,
)
from trainplan.plan.literals import literal_of
from trainplan.plan.read import UnknownPath, Unusable
from trainplan.quantity.unit import numbered
from trainplan_tui.sheets.sheet import Host

CLAIM = tuple(f"utilization.{field}" for field in ("value", "evidence", "source", "date", "low", "high"))
"""Fields that one piece of evidence sets or takes out together: a range of another measurement would lie."""
SOURCES, STAGES, BATCHES, TASKS = "data.sources.", "data.stages.", "batch.schedule.", "evaluation.tasks."


def remove(host: Host) -> None:
    """Take the source, stage or task under the cursor out; `u` brings it back."""
    row = host.row()
    task = row is not None and row.id.startswith(TASKS) and row.kind == "figure"
    path = ".".join(row.id.split(".")[:3]) if row is not None and task else _entry_under(host)
    if path is None:
        return
    now, file = host.session.history.now, host.session.path.name
    committed(host, lambda: without_entry(now.text, now.plan, path, file), f"removed {path}")


def raise_row(host: Host) -> None:
    """Move the entry up."""
    _shift(host, -1)


def lower_row(host: Host) -> None:
    """Move the entry down."""
    _shift(host, 1)


def _shift(host: Host, step: int) -> None:
    path = _entry_under(host)
    if path is None:
        return
    if path.startswith(BATCHES):
        host.message = "entries of the batch schedule stand in the order of their tokens"
        return
    now, file = host.session.history.now, host.session.path.name
    committed(host, lambda: moved_entry(now.text, now.plan, path, step, file), f"moved {path}")


def normalise(host: Host) -> None:
    """Divide the weights of the stage under the cursor by their sum."""
    box, now = host.box(), host.session.history.now
    try:
        stage = stage_of(box.path, now.plan) if box is not None else None
    except UnknownPath:
        stage = None
    file = host.session.path.name
    committed(host, lambda: normalised(now.text, now.plan, stage, file), "weights divided by their sum")


def read_manifest(host: Host) -> None:
    """Ask for a manifest and write its counts into the sources that it names, or as new ones; one edit."""
    from trainplan_tui.sheets.asking import PathSheet

    note = "Megatron .idx, MosaicML index.json, a table of tokens as CSV or TOML; tab completes"
    begin = f"{host.session.path.parent}/"
    host.open_sheet(
        PathSheet(host, "read", "read a manifest into the sources", note, begin, lambda path: _read(host, path))
    )


def _read(host: Host, manifest: Path) -> bool:
    from trainplan.interop.manifests.counts import ManifestError
    from trainplan.interop.manifests.sourced import beside, counted, unfit, written
    from trainplan.plan.tree import SpliceError

    now = host.session.history.now
    try:
        counts = counted([manifest], host.session.path.parent)
        refusal = unfit(now.plan, counts)
        text = "" if refusal else written(now.text, beside(now.plan, counts))
        if text == now.text:
            refusal = f"{manifest.name} counts what the plan says"
        if not refusal:
            moved = host.session.take_text(text, f"read {manifest.name}")
            told = series(one.name for one in counts[:3]) + (" and more" if len(counts) > 3 else "")
            host.message = f"{told} from {manifest.name}: {numbered(moved, 'number')} moved; u takes it back"
    except (ManifestError, SpliceError, Unusable) as error:
        refusal = error.errors[0].message if isinstance(error, Unusable) else str(error)
        refusal = refusal.replace(str(manifest), manifest.name)
    host.message = refusal or host.message
    return not refusal


def take_layout(host: Host, fields: Mapping[str, object]) -> None:
    """Set the fields of a layout as one edit."""
    if not fields:
        host.message = "the plan has this layout already"
        return
    now, file = host.session.history.now, host.session.path.name
    set_ = {path: literal_of(value) for path, value in fields.items() if value is not None}
    gone = [path for path, value in fields.items() if value is None]
    count = f"{len(fields)} field{'' if len(fields) == 1 else 's'}"
    committed(host, lambda: with_fields(now.text, now.plan, set_, file, gone), f"layout: {count}")


def take_proposal(host: Host) -> None:
    """Set what the decision walk proposes as one edit, or say why it proposes nothing."""
    from trainplan_tui.panes.mesh import proposal, untaken

    plan = host.session.shown.plan
    fields = proposal(plan)
    if fields:
        take_layout(host, fields)
    else:
        host.message = f"{untaken(plan)}; enter sets nothing"


def take_claim(host: Host) -> None:
    """Set utilization from the run or the prediction under the cursor, with its evidence, as one edit."""
    from trainplan_tui.panes.claims import claim_of

    row, plan = host.row(), host.session.shown.plan
    claim = claim_of(row.id, host.session.shown) if row is not None else {}
    gone = [path for path in CLAIM if path not in claim and path.split(".")[1] in plan.utilization.model_fields_set]
    now, file = host.session.history.now, host.session.path.name
    set_ = {path: literal_of(value) for path, value in claim.items()}
    left = " and ".join(path.split(".")[1] for path in gone)
    done = f"utilization {claim['utilization.value']:.4g}" + (f", {left} of the old claim out" if left else "")
    committed(host, lambda: with_fields(now.text, now.plan, set_, file, gone), done)


def _entry_under(host: Host) -> str | None:
    row = host.row()
    if row is not None and row.id.startswith((SOURCES, STAGES, BATCHES)):
        return row.id
    host.message = "no source, stage, batch or task under the cursor"
    return None


def committed(host: Host, make: Callable[[], Edited | None], done: str) -> bool:
    """Make an edit and say what it moved; False and the reason where it was refused."""
    try:
        attempt = make()
    except (Unusable, UnknownPath) as error:
        host.message = error.errors[0].message if isinstance(error, Unusable) else str(error)
        return False
    if attempt is None:
        host.message = "at the end of its list"
        return False
    moved = host.session.commit(attempt, done)
    host.message = f"{done}: {numbered(moved, 'number')} moved; u takes it back"
    return True
