"""Comments that stand beside values that were changed: they stay as a person wrote them, and may no longer be true.

It reads comments and never writes them: what a remark says is its author's. Only one at the end of the value's own line counts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Final

from trainplan.plan.leaves import NAMED, field_differences
from trainplan.plan.places import Span, ValuePath, scan
from trainplan.plan.plan import Plan

REMARK: Final = re.compile(r"[ \t]*,?[ \t]*(#[^\n]*)")
"""A comment behind a value, or behind the comma after it where it stands in a list of several lines."""


def unrevised(before: str, after: str) -> tuple[tuple[str, str], ...]:
    """Fields whose value differs between two TOML texts while the comment beside it does not, as (path, comment).

    Entries of lists go by their name, and are compared with the entry of that name.
    """
    if "#" not in after or before == after:
        return ()
    old, new = remarked(before), remarked(after)
    changed = {
        path for path in old.keys() & new.keys() if old[path][0] != new[path][0] and old[path][1] == new[path][1]
    }
    inmost = [path for path in new if path in changed and not any(one.startswith(f"{path}.") for one in changed)]
    return tuple((path, new[path][1]) for path in inmost)


def remarked(text: str) -> dict[str, tuple[str, str]]:
    """Each field that has a comment on its line, in file order: its value as it is spelled, and the comment."""
    spans, found = scan(text).values, dict[str, tuple[str, str]]()
    for path, span in spans.items():
        around = (spans.get(path[:length]) for length in range(len(path), 0, -1))
        match = next((one for place in around if place is not None and (one := REMARK.match(text, place.end))), None)
        if match is not None:
            found[_by_name(text, spans, path)] = span.of(text), match[1].rstrip()
    return found


def standing_remarks(text: str, before: Plan, now: Plan) -> dict[str, str]:
    """The comment beside each field that has one, without its sign; none beside fields in which two plans differ.

    `text` is that of one of them. Entries of lists go by their name.
    """
    found = {path: remark.lstrip("# \t") for path, (_, remark) in remarked(text).items()} if "#" in text else {}
    moved = {path for path, _, _ in field_differences(before, now)} if before is not now else set[str]()
    return {path: remark for path, remark in found.items() if remark and path not in moved}


def _by_name(text: str, spans: Mapping[ValuePath, Span], path: ValuePath) -> str:
    parts: list[str] = []
    for length, part in enumerate(path):
        name = spans.get((*path[: length + 1], NAMED.get(str(path[length - 1]), ""))) if isinstance(part, int) else None
        parts.append(str(part) if name is None else _unquoted(name.of(text)))
    return ".".join(parts)


def _unquoted(spelled: str) -> str:
    """A name as its TOML says it."""
    return str(tomllib.loads(f"name = {spelled}")["name"]) if "\\" in spelled else spelled.strip("\"'")
