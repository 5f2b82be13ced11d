"""`catalog [KIND] [NAME]`: what the program knows, where each value was read, and what was not read again."""

from __future__ import annotations

from trainplan.catalogue import KINDS, Entry, Fact, entry, names
from trainplan.plan.faults import nearest_name
from trainplan_tui.cli.running import Options, Refused, say


def run(options: Options) -> int:
    """Print kinds, names or one entry."""
    if options.kind is None:
        for kind in KINDS:
            say(f"{kind:<14}{len(names(kind)):>4} entries")
        if options.unverified:
            _unverified(KINDS)
        return 0
    if options.kind not in KINDS:
        raise Refused(f'no kind "{options.kind}". One of {", ".join(KINDS)}' + _near(options.kind, KINDS))
    if options.name is not None:
        _print_entry(_entry(options.kind, options.name), options.unverified)
    elif options.unverified:
        _unverified((options.kind,))
    else:
        for name in names(options.kind):
            _print_line(options.kind, name)
    return 0


def _near(found: str, known: tuple[str, ...]) -> str:
    nearest = nearest_name(found, known)
    return f". Nearest: {nearest}" if nearest else ""


def _entry(kind: str, name: str) -> Entry:
    found = entry(kind, name)
    if found is None:
        raise Refused(f'no entry "{name}" in {kind}' + _near(name, names(kind)))
    return found


def _print_line(kind: str, name: str) -> None:
    found = _entry(kind, name)
    doubts = sum(not fact.verified for fact in found.facts.values())
    say(f"{name:<26}{found.title:<40}  {f'{doubts} unverified' if doubts else 'verified'}")


def _unverified(kinds: tuple[str, ...]) -> None:
    for kind in kinds:
        for name in names(kind):
            for key, fact in _entry(kind, name).facts.items():
                if not fact.verified:
                    say(f"{kind}/{name}  {key} = {_value(fact)}  {fact.source}")


def _print_entry(found: Entry, only_unverified: bool) -> None:
    say(f"{found.name}: {found.title}")
    if found.note:
        say(f"  {found.note}")
    for key, fact in found.facts.items():
        if fact.verified and only_unverified:
            continue
        mark = "verified" if fact.verified else "unverified"
        say(f"  {key:<34} {_value(fact):<24} {mark}, {fact.date}: {fact.source}")
    for fact in (found.get("row"),) if not only_unverified else ():
        for row in fact.value if fact is not None else ():
            rate = row.get("tokens_per_second")
            shown = f"{rate:>12,.1f} tokens/s each" if rate else ""
            say(f"    {row['id']:<72} {row['gpus']:>6} {row['accelerator']:<16}{shown}")


def _value(fact: Fact) -> str:
    if isinstance(fact.value, list) and fact.value and isinstance(fact.value[0], dict):
        return f"{len(fact.value)} rows"
    value = (
        f"{fact.value:,.12g}"
        if isinstance(fact.value, int | float) and not isinstance(fact.value, bool)
        else str(fact.value)
    )
    return f"{value} {fact.unit}" if fact.unit not in ("1", "") else value
