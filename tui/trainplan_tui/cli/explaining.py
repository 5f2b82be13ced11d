"""`explain PLAN KEY`: the tree of one number down to plan fields and catalogue values, each quantity once."""

from __future__ import annotations

from trainplan import asjson
from trainplan.estimation import Estimate
from trainplan.explain import Node, tree
from trainplan.figure import Blocked, Card, Figure
from trainplan.labels import quantity_label
from trainplan.plan.faults import nearest_name
from trainplan_tui.cli.running import Options, Refused, estimated, say, write_json
from trainplan_tui.text.glyphs import ASCII, UNICODE, Glyphs


def run(options: Options) -> int:
    """Print the tree, or one JSON object of it."""
    _, estimate = estimated(options)
    if options.key.startswith("forecast."):
        estimate = _forecast_too(estimate)
    if options.key not in estimate.all_quantities:
        nearest = nearest_name(options.key, estimate.all_quantities)
        raise Refused(f"no quantity {options.key}" + (f". Nearest: {nearest}" if nearest else ""))
    node = tree(estimate, options.key, options.depth)
    if options.json:
        write_json({"format": 1, "key": options.key, "tree": asjson.node(node)})
        return 0
    print_tree(options.key, node, estimate, ASCII if options.ascii or options.plain else UNICODE)
    return 0


def _forecast_too(estimate: Estimate) -> Estimate:
    """The estimate with the forecast's quantities, which take numpy and are made only where they are asked for."""
    from dataclasses import replace

    from trainplan.forecast import forecast

    return replace(estimate, quantities={**estimate.quantities, **forecast(estimate).quantities})


def print_tree(key: str, node: Node, estimate: Estimate, glyphs: Glyphs) -> None:
    """The number with its card, then its inputs as a tree."""
    say(f"{key}   {quantity_label(key)}")
    if isinstance(node.value, Blocked):
        say(f"  cannot be told: {node.value.code}")
        return
    say(f"  {node.shown}   rests on {node.rests_on}")
    if isinstance(node.value, Figure):
        say(f"  exactly {asjson.number(node.value):,} {node.value.unit}")
        if isinstance(node.value.origin, Card):
            from trainplan.cardtext import sentence

            say(f"  = {node.formula}")
            say(f"  = {node.put_in}")
            if sentence(node.value.origin):
                say(f"  {sentence(node.value.origin)}")
    say(f"  source: {node.source}{'' if node.verified else ' (unverified)'}")
    for line in lines(node, glyphs):
        say(f"  {line}")


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
