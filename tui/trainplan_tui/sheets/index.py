"""Everything that can be gone to or done, in one list: fields, numbers, commands. Find and palette search it."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from trainplan.estimation import Estimate
from trainplan.labels.names import field_label, quantity_label
from trainplan.plan.faults import known_fields, known_tables
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Figure
from trainplan.rows.table import FieldRow, FigureRow, cells, field_text
from trainplan_tui.panes.sources import PASSED
from trainplan_tui.panes.specs import PANES
from trainplan_tui.sheets.sheet import Host


@dataclass(frozen=True, slots=True)
class Item:
    """One thing: what it is called, where it is, its id, its value, and whether it is a command."""

    label: str
    home: str
    id: str
    value: str
    command: bool = False


def items(host: Host) -> list[Item]:
    """Rows of the panes first, then fields that no pane shows, then commands."""
    estimate = host.session.shown.estimate
    rows = _rows(estimate)
    rows += _entries(host)
    seen = {item.id for item in rows}
    fields = [_field(path, estimate) for path in field_paths() if path not in seen]
    return [*rows, *fields, *commands(host)]


def _rows(estimate: Estimate) -> list[Item]:
    found: dict[str, Item] = {}
    for pane in PANES:
        home = f"{pane.name.digit} {pane.name.short}"
        for row in pane.table.rows:
            if isinstance(row, FieldRow | FigureRow):
                told = cells(row, estimate)
                found.setdefault(told.id, Item(told.label, home, told.id, f"{told.value} {told.unit}".strip()))
    return list(found.values())


def field_paths() -> list[str]:
    """Paths of the plan's fields outside lists."""
    paths: list[str] = []
    for table in known_tables():
        if table in ("pilot", "readiness"):
            continue
        for field in known_fields((table,)):
            inner = known_fields((table, field))
            if not inner:
                paths.append(f"{table}.{field}")
            elif table == "model":
                paths += [f"{table}.{field}.{one}" for one in inner]
    return ["name", "description", *paths]


def _entries(host: Host) -> list[Item]:
    """Sources with their passes, or the row that adds the first, and stages."""
    shown = host.session.shown
    plan = shown.plan
    found = [] if plan.data.sources else [Item("sources", "2 Tokens", "data.sources", "none")]
    found += [] if plan.data.stages or plan.batch.schedule else [Item("stages", "2 Tokens", "data.stages", "none")]
    if not plan.data.stages and not plan.batch.schedule:
        found.append(Item("batch schedule", "2 Tokens", "batch.schedule", "none"))
    found += [] if plan.evaluation.tasks else [Item("evaluation tasks", "8 Eval", "evaluation.tasks", "none")]
    for source in shown.estimate.mixture.rows:
        passes = f"{PASSED.text(source.passes)} passes" if isinstance(source.passes, Figure) else "?"
        found.append(Item(source.name, "2 Tokens", f"data.sources.{source.name}", passes))
    for index, stage in enumerate(shown.plan.data.stages):
        name = stage.name or str(index)
        found.append(Item(f"stage {name}", "2 Tokens", f"data.stages.{name}", ""))
    for index, entry in enumerate(plan.batch.schedule):
        begin = "" if entry.from_tokens is None else entry.from_tokens.text or f"{int(entry.from_tokens)}"
        found.append(Item(f"batch from {begin}", "2 Tokens", f"batch.schedule.{index}", ""))
    return [*found, *_inner(plan), *_standing(host)]


def _inner(plan: Plan) -> list[Item]:
    """Fields of the entries of lists: what a source, a stage or a task says of itself; a weight stands under its stage."""
    from trainplan.plan.leaves import typed_at

    lists = (
        ("data.sources", [one.name for one in plan.data.sources]),
        ("data.stages", [one.name for one in plan.data.stages]),
        ("evaluation.tasks", [one.task for one in plan.evaluation.tasks]),
    )
    return [
        Item(f"{name or place} {field.replace('_', ' ')}", "field", path, typed_at(plan, path))
        for list_, names in lists
        for place, name in enumerate(names)
        for field in known_fields(tuple(list_.split(".")))
        if field != "weights"
        for path in [f"{list_}.{name or place}.{field}"]
    ]


def _standing(host: Host) -> list[Item]:
    """Readiness items and checks of the ladder, with their state."""
    from trainplan_tui.panes.pilot import state_of
    from trainplan_tui.panes.ready import word

    reviewed = host.session.shown.reviewed
    items = [
        Item(one.item.name, "0 Ready", f"readiness.{one.item.name}", word(one, reviewed)) for one in reviewed.now.items
    ]
    checks = [
        Item(
            f"{one.rung.name}: {check.metric.replace('_', ' ')}",
            "9 Pilot",
            f"pilot.{one.rung.name}.checks.{check.metric}",
            state_of(one, check),
        )
        for one in reviewed.now.rungs
        for check in one.rung.checks
    ]
    return [*items, *checks]


def _field(path: str, estimate: Estimate) -> Item:
    return Item(field_label(path), "field", path, field_text(FieldRow(path), estimate)[0])


def commands(host: Host) -> list[Item]:
    """Actions of the key table that something does in this version."""
    known = host.actions()
    return [
        Item(key.sentence, "command", key.id, "  ".join(key.keys), True)
        for key in host.keymap.keys
        if key.id in known and not key.id.startswith(("row.", "cell.", "page.", "back", "cancel"))
    ]


def matching(found: list[Item], needle: str, here: Container[str] = ()) -> list[Item]:
    """Items that have every word typed: those whose label begins with it first, and of them those of the pane that shows.

    `here` has the ids of that pane's rows.
    """
    words, typed = needle.lower().split(), needle.lower().strip()
    hits = [item for item in found if all(word in f"{item.label} {item.id}".lower() for word in words)]
    if not typed:
        return hits
    return sorted(hits, key=lambda item: (not item.label.lower().startswith(typed), item.id not in here))


def label_of(id_: str) -> str:
    """What a row is called."""
    return quantity_label(id_) if "." in id_ else id_
