"""`explain PLAN KEY`: the tree of one number down to plan fields and catalogue values, each quantity once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trainplan.estimation import Estimate
from trainplan.labels.names import quantity_label
from trainplan.plan.describe import sentence_of
from trainplan.plan.edit import resolve
from trainplan.plan.faults import known_fields, known_tables, nearest_name
from trainplan.plan.read import UnknownPath
from trainplan.quantity.figure import Blocked, Card, Figure
from trainplan.rows.fields import field_row
from trainplan.rows.table import cells, short_row
from trainplan.views import asjson
from trainplan.views.explain import Node, meaning, tree
from trainplan.views.moves import JUDGES, dependents
from trainplan_tui.cli.running import Options, Refused, estimated, say, write_json
from trainplan_tui.text.glyphs import ASCII, UNICODE, Glyphs


def run(options: Options) -> int:
    """Print the tree, or one JSON object of it."""
    _, estimate = estimated(options)
    if options.key.startswith("forecast."):
        estimate = _forecast_too(estimate)
    if options.key not in estimate.all_quantities:
        path = _field(options.key, estimate)
        if path is None:
            nearest = nearest_name(options.key, (*_fields(), *estimate.all_quantities))
            raise Refused(f"no quantity or field {options.key}" + (f". Nearest: {nearest}" if nearest else ""))
        _explain_field(path, estimate, as_json=options.json)
        return 0
    if options.depth < 0:
        raise Refused(f"--depth is {options.depth}. 0 or more is right")
    node = tree(estimate, options.key, options.depth)
    if options.json:
        write_json({"format": 1, "key": options.key, "tree": asjson.node(node, estimate)})
        return 0
    print_tree(options.key, node, estimate, ASCII if options.ascii or options.plain else UNICODE)
    return 0


def _forecast_too(estimate: Estimate) -> Estimate:
    """The estimate with the forecast's quantities, which take numpy and are made only where they are asked for."""
    from trainplan.forecast.finish import forecast

    return replace(estimate, quantities={**estimate.quantities, **forecast(estimate).quantities})


def _fields() -> list[str]:
    """Paths of the fields that stand in a table of the plan."""
    return [f"{table}.{field}" for table in known_tables() for field in known_fields((table,))]


def _field(key: str, estimate: Estimate) -> str | None:
    """The path of a plan field; None where the key names none, or a whole table."""
    try:
        resolve(key, estimate.plan)
    except UnknownPath:
        return None
    return None if known_fields(tuple(key.split("."))) else key


def _explain_field(path: str, estimate: Estimate, *, as_json: bool) -> None:
    """What a field is, what it says and since when, and the figures that rest on it."""
    told, moved = cells(field_row(path, estimate), estimate), dependents(estimate, path)
    if not told.value and (text := _written(path, estimate)) != "":
        told = replace(told, value=text, raw=text, rests_on="file")
    if as_json:
        value = {"value": told.raw or None, "shown": told.value, "rests_on": told.rests_on.removesuffix(" ?")}
        about = {"label": told.label, "sentence": sentence_of(path), **value, "moves": list(moved)}
        write_json({"format": 1, "key": path, "field": about})
        return
    say(f"{path}   {told.label}")
    say(f"  {told.value or 'empty'} {told.unit}".rstrip() + (f"   rests on {told.rests_on}" if told.rests_on else ""))
    say(f"  {sentence_of(path)}")
    if (here := meaning(path, estimate.plan)) != "":
        say(f"  {here}")
    if (source := _source_of(path, estimate)) != "":
        say(f"  source: {source}")
    if not moved and path in JUDGES:
        say(f"  moves no figure: {JUDGES[path]}")
        return
    if not moved and not told.value:
        say("  empty: no figure rests on it")
        return
    if not moved and not isinstance(estimate.situation.value(path), int | float):
        say(f"  no number: what another value moves is told by diff PLAN PLAN --set {path}=OTHER")
        return
    say(f"  moves {len(moved)} figure{'' if len(moved) == 1 else 's'}{':' if moved else ''}")
    for key in moved:
        row = cells(short_row(key, estimate), estimate)
        say(f"    {row.label:<28} {row.value:>14}  {row.unit:<10}  {key}")


def _written(path: str, estimate: Estimate) -> str:
    """A field of a list's entry as the plan has it; empty where it is not written."""
    value: Any = estimate.plan
    for key in resolve(path, estimate.plan):
        value = value.get(key) if isinstance(value, Mapping) else _inside(value, key)
    return "" if value is None else getattr(value, "text", "") or str(value)


def _inside(value: Any, key: str | int) -> Any:
    return value[key] if isinstance(key, int) else getattr(value, key, None)


def _source_of(path: str, estimate: Estimate) -> str:
    """Where a field's value was read, as its figure says it; empty for words and for what is not given."""
    value = estimate.situation[path] if isinstance(estimate.situation.value(path), int | float) else None
    return value.origin.source if isinstance(value, Figure) else ""


def print_tree(key: str, node: Node, estimate: Estimate, glyphs: Glyphs) -> None:
    """The number with its card, then its inputs as a tree."""
    say(f"{key}   {quantity_label(key)}")
    if isinstance(node.value, Blocked):
        for line in _untold(node.value.code, estimate):
            say(f"  {line}")
        return
    say(f"  {node.shown}   rests on {node.rests_on}")
    if isinstance(node.value, Figure):
        unit = asjson.unit(node.value.unit, estimate) if node.value.unit != "1" else ""
        say(f"  exactly {asjson.number(node.value):,} {unit}".rstrip())
        if isinstance(node.value.origin, Card):
            from trainplan.quantity.cardtext import sentence

            say(f"  = {node.formula}")
            say(f"  = {node.put_in}")
            if sentence(node.value.origin):
                say(f"  {sentence(node.value.origin)}")
    say(f"  source: {node.source}{'' if node.verified else ' (unverified)'}")
    for line in lines(node, glyphs):
        say(f"  {line}")


def _untold(code: str, estimate: Estimate) -> list[str]:
    """Why a number cannot be told, and the field that decides it."""
    if code == "none":
        return ["does not apply"]
    from trainplan.checks import findings_at_once

    why = next((one for one in findings_at_once(estimate) if one.code == code), None)
    if why is None:
        return [f"cannot be told: {code}"]
    return [f"cannot be told: {code}", why.message, *([f"decided by {why.paths[0]}"] if why.paths else [])]


def lines(node: Node, glyphs: Glyphs, stem: str = "") -> list[str]:
    """The inputs of a node, one a line, with the branches of a tree before them."""
    found: list[str] = []
    for position, child in enumerate(node.children):
        last = position == len(node.children) - 1
        branch, below = (glyphs.corner, " ") if last else (glyphs.branch, glyphs.wall)
        found.append(f"{stem}{branch} {_line(child)}")
        found.extend(lines(child, glyphs, f"{stem}{below} "))
    return found


def _line(child: Node) -> str:
    head = f"{child.name.replace('_', ' ')}  {child.shown}"
    if child.is_field:
        return f"{head}  [{child.key}] {child.rests_on}"
    if not child.formula:
        return f"{head}  {child.source}{'' if child.verified else ' (unverified)'}"
    return f"{head}  see above" if child.seen else f"{head}  = {child.formula}"
