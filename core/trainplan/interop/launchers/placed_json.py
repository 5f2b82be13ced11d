"""JSON whose values know where they stand. A key that stands twice is refused, as DeepSpeed refuses it."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from trainplan.frozen import frozen
from trainplan.interop.launchers.places import Page

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"')
_WORDS: Final = {"true": True, "false": False, "null": None}
MOST_DEPTH: Final = 40
MOST_DIGITS: Final = 300


class JsonError(ValueError):
    """What is no JSON, with its place."""


@frozen
class Node:
    """A value and the character at which it stands; members of an object are nodes by key."""

    value: Any
    offset: int


def placed(page: Page) -> Node:
    """The value of a page. Raises JsonError."""
    node, at = _value(page, _past(page.text, 0), 0)
    at = _past(page.text, at)
    if at < len(page.text):
        raise JsonError(f"{page.place(at)}: not JSON: something stands behind its end")
    return node


def _past(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _wrong(page: Page, at: int, right: str) -> JsonError:
    return JsonError(f"{page.place(at)}: not JSON: {right}")


def _value(page: Page, at: int, depth: int) -> tuple[Node, int]:
    text = page.text
    if depth > MOST_DEPTH:
        raise _wrong(page, at, f"nested more than {MOST_DEPTH} deep")
    if text.startswith("{", at):
        return _object(page, at, depth)
    if text.startswith("[", at):
        return _array(page, at, depth)
    if text.startswith('"', at):
        word, end = _string(page, at)
        return Node(word, at), end
    for word, value in _WORDS.items():
        if text.startswith(word, at):
            return Node(value, at), at + len(word)
    number = _NUMBER.match(text, at)
    if number is None or len(number[0]) > MOST_DIGITS:
        raise _wrong(page, at, "a value is right here")
    return Node(json.loads(number[0]), at), number.end()


def _string(page: Page, at: int) -> tuple[str, int]:
    if not page.text.startswith('"', at):
        raise _wrong(page, at, 'a key in " is right here')
    match = _STRING.match(page.text, at)
    try:
        return str(json.loads(match[0] if match else "")), match.end() if match else at
    except ValueError:
        raise _wrong(page, at, "this text is never closed, or has a control character") from None


def _object(page: Page, at: int, depth: int) -> tuple[Node, int]:
    begin, found = at, dict[str, Node]()
    at = _past(page.text, at + 1)
    while not page.text.startswith("}", at):
        key, end = _string(page, at)
        if key in found:
            raise JsonError(f"{page.place(at)}: {key[:60]!r} stands twice in one object. One of them is right")
        colon = _past(page.text, end)
        if not page.text.startswith(":", colon):
            raise _wrong(page, colon, ": is right here")
        node, at = _value(page, _past(page.text, colon + 1), depth + 1)
        found[key] = node
        at = _comma(page, at, "}")
    return Node(found, begin), at + 1


def _array(page: Page, at: int, depth: int) -> tuple[Node, int]:
    begin, found = at, list[Node]()
    at = _past(page.text, at + 1)
    while not page.text.startswith("]", at):
        node, at = _value(page, at, depth + 1)
        found.append(node)
        at = _comma(page, at, "]")
    return Node(found, begin), at + 1


def _comma(page: Page, at: int, end: str) -> int:
    at = _past(page.text, at)
    if page.text.startswith(end, at):
        return at
    if not page.text.startswith(",", at):
        raise _wrong(page, at, f", or {end} is right here")
    after = _past(page.text, at + 1)
    if page.text.startswith(end, after):
        raise _wrong(page, at, f"a comma before {end}")
    return after
