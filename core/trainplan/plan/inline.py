"""Edits inside brackets: elements of arrays and pairs of inline tables, on one line or over many.

It exists beside splice because commas and comments between elements follow other rules than lines. It refuses to look
outside of the one array or inline table it is given.
"""

import re

from trainplan.plan.blocks import Change, changed, indent, line_end, line_start, newline
from trainplan.plan.places import FILLER, Member, Places, Span, ValuePath

REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\n]*)?\r?\n")


def with_member(text: str, places: Places, container: ValuePath, item: str) -> str:
    """`text` with `item` as the last element or pair of the array or inline table at `container`."""
    members = places.members[container]
    if not members:
        return _first_member(text, places.values[container], item)
    last = members[-1].span
    if text[line_start(text, last.start) : last.start].strip(" \t"):
        return changed(text, [Change(Span(last.end, last.end), f", {item}")])
    return _on_own_line(text, last, places.values[container].end - 1, item)


def _first_member(text: str, container: Span, item: str) -> str:
    inside = Span(container.start + 1, container.end - 1)
    if text[container.start] == "{":
        return changed(text, [Change(inside, f" {item} ")])
    blank = not inside.of(text).strip(" \t")
    return changed(text, [Change(inside if blank else Span(inside.start, inside.start), item)])


def _on_own_line(text: str, last: Span, closing: int, item: str) -> str:
    comma = _comma(text, last.end)
    end = line_end(text, last.end if comma is None else comma)
    if end >= closing:
        return changed(text, [Change(Span(last.end, last.end), f", {item}")])
    added = newline(text) + indent(text, last.start) + item
    if comma is not None:
        return changed(text, [Change(Span(end, end), f"{added},")])
    return changed(text, [Change(Span(last.end, last.end), ","), Change(Span(end, end), added)])


def without_member(text: str, places: Places, container: ValuePath, number: int) -> str:
    """`text` without element or pair `number` of `container`, its comma, and its line where it has one of its own."""
    members = places.members[container]
    span = members[number].span
    comma = _comma(text, span.end)
    removed = Change(_extent(text, span, comma), "")
    if comma is not None or not number:
        return changed(text, [removed])
    before = _comma(text, members[number - 1].span.end)
    assert before is not None  # two members have a comma between them
    if not text[before + 1 : removed.span.start].strip(" \t"):
        return changed(text, [Change(Span(before, removed.span.end), "")])
    return changed(text, [Change(Span(before, before + 1), ""), removed])


def _extent(text: str, span: Span, comma: int | None) -> Span:
    end = span.end if comma is None else comma + 1
    start = line_start(text, span.start)
    rest = REST_OF_LINE.match(text, end)
    if rest and not text[start : span.start].strip(" \t"):
        return Span(start, rest.end())
    blanks = 0 if comma is None else len(text[end:]) - len(text[end:].lstrip(" \t"))
    return Span(span.start, end + blanks)


def _comma(text: str, position: int) -> int | None:
    filler = FILLER.match(text, position)
    comma = filler.end() if filler else position
    return comma if text.startswith(",", comma) else None


def with_order(text: str, members: list[Member], order: list[int]) -> str:
    """`text` with the elements written in the given order of their numbers; commas and comments stay in their lines."""
    moves = zip(members, order, strict=True)
    return changed(text, [Change(member.span, members[number].span.of(text)) for member, number in moves])
