"""`show PLAN`: the tables, in columns, as plain sentences, or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

from trainplan.estimation import Estimate
from trainplan.finding import Finding, counted
from trainplan.labels.rows import SENTENCES
from trainplan.plan.canonical import plan_hash
from trainplan.plan.faults import nearest_name
from trainplan.plan.read import Opened
from trainplan.quantity.figure import Card, Choice, Figure
from trainplan.rows.ledgers import TABLES
from trainplan.rows.table import FieldRow, FigureRow, RuleRow, Table, cells
from trainplan.views import asjson
from trainplan.views.listings import Listing, listings_of
from trainplan.views.mixing import mixture_of
from trainplan_tui.cli.checking import all_findings, claims_of, print_finding
from trainplan_tui.cli.running import Options, Refused, estimated, name_of, room, say, write_json
from trainplan_tui.plain import budgets_of, plain_table
from trainplan_tui.text.glyphs import ASCII, UNICODE, Glyphs


def run(options: Options) -> int:
    """Print one budget or all of them."""
    plan, estimate = estimated(options)
    tables = _tables(options.budget)
    if options.json:
        write_json(as_json(plan, estimate) if options.budget is None else _of_budget(tables[0], plan, estimate))
        return 0
    claimed = claims_of(Path(plan.source.path), estimate)
    for table in tables:
        if options.help_rows:
            _print_help(table, estimate)
        elif options.plain:
            _print_plain(table, estimate, claimed)
        else:
            _print_columns(table, estimate, ASCII if options.ascii else UNICODE)
            for listing in (*mixture_of(table.budget, estimate), *listings_of(table.budget, estimate)):
                _print_listing(listing)
    _print_state(plan, estimate, with_findings=not options.plain)
    return 0


def as_json(plan: Opened, estimate: Estimate) -> dict[str, object]:
    """The contract of `show --json`, the forecast's quantities among them."""
    from trainplan.forecast.finish import forecast

    quantities = {**estimate.all_quantities, **forecast(estimate).quantities}
    return {
        "format": asjson.FORMAT,
        "plan": {"name": name_of(plan), "path": str(plan.source.path), "hash": plan_hash(plan.plan)},
        "quantities": {key: asjson.quantity(key, value, estimate) for key, value in quantities.items()},
        "findings": [asjson.finding(item) for item in all_findings(Path(plan.source.path), estimate)],
    }


def _of_budget(table: Table, plan: Opened, estimate: Estimate) -> dict[str, object]:
    """The same of one budget: every quantity of its own, those that its rows show of others, and its findings."""
    whole = as_json(plan, estimate)
    quantities = cast("dict[str, object]", whole["quantities"])
    shown, own = {row.key for row in table.rows if isinstance(row, FigureRow)}, budgets_of(table.budget)
    told = [
        item
        for item in cast("list[dict[str, object]]", whole["findings"])
        if item["budget"] in own or table.budget == "overview"
    ]
    kept = {key: one for key, one in quantities.items() if key in shown or key.partition(".")[0] in own}
    return {**whole, "quantities": kept, "findings": told}


def _tables(budget: str | None) -> list[Table]:
    if budget is None:
        return list(TABLES.values())
    if budget not in TABLES:
        nearest = nearest_name(budget, TABLES)
        end = f"; nearest: {nearest}" if nearest else ""
        raise Refused(f'no budget "{budget}". One of {", ".join(TABLES)}{end}')
    return [TABLES[budget]]


VALUE: Final = 17
"""Characters of the column of values; a longer text is cut here on a terminal, and whole with --plain, --json and in a pipe."""


def _print_columns(table: Table, estimate: Estimate, glyphs: Glyphs) -> None:
    rule, whole = glyphs.rule, room() is None
    say(f"{table.title:<26}{'value':>17}  unit          rests on")
    for row in table.rows:
        if isinstance(row, RuleRow):
            say(f"{rule * 2} {row.title} {rule * (74 - len(row.title))}" if row.title else rule * 78)
            continue
        shown = cells(row, estimate)
        value = shown.value if len(shown.value) <= VALUE or whole else shown.value[: VALUE - 1] + glyphs.more
        say(f"{shown.label:<26}{value:>{VALUE}}  {shown.unit:<12}  {shown.rests_on}".rstrip())
    say()


def _print_listing(listing: Listing) -> None:
    say(listing.title)
    rows = (listing.heads, *listing.rows)
    widths = [max(len(row[place]) for row in rows) for place in range(len(listing.heads) - 1)]
    for row in rows:
        told = [text.ljust(room) for text, room in zip(row, widths, strict=False)]
        say("  ".join(["", *told, row[-1]]).rstrip())
    say()


def _print_plain(table: Table, estimate: Estimate, claimed: Sequence[Finding]) -> None:
    for line in plain_table(table, estimate, None, claimed):
        say(line)
    say()


def _print_help(table: Table, estimate: Estimate) -> None:
    from trainplan.plan.describe import sentence_of
    from trainplan_tui.cli.explaining import quantity_label

    say(table.title)
    for row in table.rows:
        if isinstance(row, FieldRow):
            say(f"  {cells(row, estimate).label}: {sentence_of(row.path)}")
        elif isinstance(row, FigureRow):
            say(f"  {row.label or quantity_label(row.key)}: {_card_sentence(estimate, row.key)}")
    say()


def _card_sentence(estimate: Estimate, key: str) -> str:
    """What a row counts: its own sentence, that of its formula, or the sum that it is."""
    from trainplan.quantity.cardtext import sentence

    value = estimate.quantities[key]
    if key in SENTENCES:
        return SENTENCES[key]
    if isinstance(value, Figure) and isinstance(value.origin, Card):
        return sentence(value.origin) or _parts(value.origin)
    return value.source if isinstance(value, Choice) else value.origin.source if isinstance(value, Figure) else UNTOLD


UNTOLD: Final = "cannot be told for this plan"


def _parts(card: Card) -> str:
    *first, last = [name.replace("_", " ") for name in card.names]
    told = f"{', '.join(first)} and {last}" if first else last
    return f"{'Sum' if card.name == 'total' else 'Largest'} of {told}."


def _print_state(plan: Opened, estimate: Estimate, *, with_findings: bool) -> None:
    found = all_findings(Path(plan.source.path), estimate)
    say(f"{name_of(plan)}, {plan_hash(plan.plan)[:12]}: {counted(found)}")
    for item in found if with_findings else ():
        print_finding(item)
