"""What is wrong with a text that is not TOML, in our words and at the place where a person would look.

It exists because tomllib 3.11 says "Cannot overwrite a value (at end of document)" of a key that is written twice. It
finds the statement from tomllib's position, and refuses to guess a repair: it says what is so and what would be right.
"""

import re
import tomllib
from collections.abc import Callable
from typing import Any, TypeAlias

from trainplan.frozen import frozen
from trainplan.plan.caps import excess, opened, quote_at
from trainplan.plan.literals import path_text
from trainplan.plan.places import Block, Member, Place, Places, ValuePath, line_starts, scan_until

WHERE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
BARE_VALUE = re.compile(r"""[=,\[][ \t]*([^\s#\[\]{},"'=]+(?:(?<=[A-Za-z])[ \t]+[^\s#\[\]{},"'=]+)*)""")
DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}")
UNDERSCORES = re.compile(r"[+-]?(?=[0-9_.]*(?:__|_\Z|\.\Z|\A_|\A\.|_\.|\._))[0-9_.]+")
LEADING_ZERO = re.compile(r"[+-]?0[0-9_]+")


@frozen
class Mistake:
    """An offset in the text, what is wrong there and what would be right ("" if that is open)."""

    offset: int
    message: str
    fix: str = ""


Explanation: TypeAlias = Callable[[str, int], Mistake]


def place_at(text: str, offset: int) -> Place:
    """Line and column of `offset`, from 1."""
    line = text.count("\n", 0, offset) + 1
    return Place(line, offset - (text.rfind("\n", 0, offset) + 1) + 1)


def parsed(text: str) -> dict[str, Any] | Mistake:
    """The values of `text`, or why there are none; within the caps of this project, so that no text takes long."""
    if over := excess(text):
        return Mistake(over.offset, over.message)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return _explained(text, str(error))
    except RecursionError:
        return Mistake(0, "brackets are nested too deep to read")
    except ValueError as error:
        return Mistake(0, f"a value cannot be read: {error}")


def _explained(text: str, message: str) -> Mistake:
    body = text.replace("\r\n", "\n")
    offset = _offset(body, message)
    what = WHERE.sub("", message)
    explain = next((known for start, known in EXPLANATIONS.items() if what.startswith(start)), None)
    mistake = explain(body, offset) if explain else Mistake(offset, what[:1].lower() + what[1:])
    return Mistake(_with_carriage_returns(text, body, mistake.offset), mistake.message, mistake.fix)


def _offset(body: str, message: str) -> int:
    """The offset that tomllib means; it counts in text whose line ends are one character."""
    where = WHERE.search(message)
    if where is None or where[1] is None:
        return len(body)
    return min(line_starts(body)[int(where[1]) - 1] + int(where[2]) - 1, len(body))


def _with_carriage_returns(text: str, body: str, offset: int) -> int:
    if len(text) == len(body):
        return offset
    place = place_at(body, offset)
    return min(line_starts(text)[place.line - 1] + place.column - 1, len(text))


def _line(body: str, offset: int) -> int:
    return place_at(body, offset).line


def _repeated(body: str, offset: int) -> Mistake:
    """A key or table that cannot be where it is, because of something written before."""
    last = _last(body, offset)
    if last is None:
        return Mistake(offset, "this is written twice")
    start, path, earlier = last
    name = path_text(path)
    if (same := _first(earlier, lambda p: p == path)) is not None:
        return _twice(body, start, path, _line(body, earlier[same][1]))
    if (inside := _first(earlier, lambda p: p[: len(path)] == path)) is not None:
        line = _line(body, earlier[inside][1])
        return Mistake(start, f"{name} cannot be written here: line {line} made it a table")
    if (above := _first(earlier, lambda p: path[: len(p)] == p)) is not None:
        whole, at = earlier[above]
        return Mistake(start, f"{name} cannot be added here: {path_text(whole)} is whole on line {_line(body, at)}")
    return Mistake(start, f"{name} cannot be written here: it is closed by what stands above")


def _twice(body: str, start: int, path: ValuePath, line: int) -> Mistake:
    if path and isinstance(path[-1], int):
        name = path_text(path[:-1])
        return Mistake(start, f"{name} is an entry, [[{name}]], on line {line} and a table, [{name}], here", "One kind")
    return Mistake(start, f"{path_text(path)} is written twice, first on line {line}", "One of the two")


Earlier: TypeAlias = list[tuple[ValuePath, int]]


def _last(body: str, offset: int) -> tuple[int, ValuePath, Earlier] | None:
    """The statement or header that ends at `offset`: its start, its path, and the paths before it, placed."""
    places = _places(body, offset)
    written = _written(places) if places else []
    if not written:
        return None
    path, start = written[-1]
    return start, path, written[:-1]


def _places(body: str, offset: int) -> Places | None:
    try:
        return scan_until(body, offset)
    except (IndexError, ValueError):  # the text ends or breaks inside its last statement
        return None


def _written(places: Places) -> Earlier:
    return [item for block in places.blocks for item in (*_own(block), *map(_start, block.members))]


def _own(block: Block) -> Earlier:
    return [(block.path, block.header.start)] if block.path else []


def _start(member: Member) -> tuple[ValuePath, int]:
    return member.path, member.span.start


def _first(earlier: Earlier, holds: Callable[[ValuePath], bool]) -> int | None:
    return next((number for number, (path, _) in enumerate(earlier) if holds(path)), None)


def _twice_inside(body: str, offset: int) -> Mistake:
    return Mistake(offset, "a key is written twice in one inline table", "One of the two")


def _not_a_value(body: str, offset: int) -> Mistake:
    """A value that is not TOML, or something after a value; text without quotes is the usual case."""
    if body.startswith("\r", offset):
        return Mistake(offset, "a carriage return without a line feed", "Lines end in a line feed")
    if bare := _bare_value(body, offset):
        return bare
    return _open_bracket(body, offset) if opened(body, offset) else _missing_value(body, offset)


def _bare_value(body: str, offset: int) -> Mistake | None:
    start, end = _line_around(body, offset)
    for bare in BARE_VALUE.finditer(body, start, end):
        if bare.start(1) <= offset < bare.end(1):
            return Mistake(bare.start(1), f"{short(bare[1])} is not a TOML value", _bare_fix(short(bare[1])))
    return None


def _line_around(body: str, offset: int) -> tuple[int, int]:
    end = body.find("\n", offset)
    return body.rfind("\n", 0, offset) + 1, end if end >= 0 else len(body)


def _missing_value(body: str, offset: int) -> Mistake:
    start, end = _line_around(body, offset)
    if body[start:offset].rstrip().endswith("="):
        return Mistake(offset, "a value is missing after =")
    rest = body[offset:end].strip()
    return Mistake(offset, f"{rest} is left over on this line", "A new line, or # before a comment")


def short(text: str) -> str:
    """Text of a file in a sentence, cut to what a line holds."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def _bare_fix(value: str) -> str:
    if value in ("True", "False"):
        return f"{value.lower()}, in small letters"
    if DATE.fullmatch(value):
        return "A date is written 2026-12-07, and has to exist"
    if UNDERSCORES.fullmatch(value):
        return "A number has digits on both sides of each . and _"
    if LEADING_ZERO.fullmatch(value):
        return "A number has no leading zero"
    return f'Text is written in quotes: "{value}"'


def _open_bracket(body: str, offset: int) -> Mistake:
    if bare := _bare_value(body, offset):
        return bare
    brackets = opened(body, offset)
    if not brackets:
        return Mistake(offset, "a bracket is not closed")
    kind, closing = ("array", "]") if body[brackets[-1]] == "[" else ("inline table", "}")
    return Mistake(brackets[-1], f"the {kind} that begins here is not closed", f"A {closing}, or a comma before more")


def _open_text(body: str, offset: int) -> Mistake:
    quote = quote_at(body, offset)
    return Mistake(offset if quote is None else quote, "the text that begins here has no closing quote")


def _open_single_quote(body: str, offset: int) -> Mistake:
    return _open_text(body, body.rfind("'") + 1)  # there is none after the one that opens


def _character(body: str, offset: int) -> Mistake:
    if offset >= len(body):
        return Mistake(offset, "the text ends too early")
    if body[offset] == "\n":
        return _open_text(body, offset)
    return Mistake(offset, f"the character U+{ord(body[offset]):04X} is not allowed here", "Inside text, its escape")


def _key(body: str, offset: int) -> Mistake:
    return Mistake(offset, "this is not a key", "A-Z a-z 0-9 - _, or text in quotes, then = and a value")


def _no_equals(body: str, offset: int) -> Mistake:
    return Mistake(offset, "a key without = and a value", "key = value, or [table]")


def _header(body: str, offset: int) -> Mistake:
    return Mistake(offset, "the header has no closing bracket", "[table] or [[table]]")


def _escape(body: str, offset: int) -> Mistake:
    fix = r"\\ is a backslash; text in single quotes needs no escapes"
    return Mistake(offset, "the escape is not one of TOML's", fix)


def _date(body: str, offset: int) -> Mistake:
    return Mistake(offset, "this date or time does not exist", "A date such as 2026-12-07")


EXPLANATIONS: dict[str, Explanation] = {
    "Cannot overwrite": _repeated,
    "Cannot declare": _repeated,
    "Cannot mutate": _repeated,
    "Cannot redefine": _repeated,
    "Duplicate inline table key": _twice_inside,
    "Invalid value": _not_a_value,
    "Expected newline or end of document after a statement": _not_a_value,
    "Unclosed array": _open_bracket,
    "Unclosed inline table": _open_bracket,
    "Unterminated string": _open_text,
    "Expected \"'": _open_single_quote,
    "Expected '\"": _open_text,
    "Illegal character": _character,
    "Found invalid character": _character,
    "Invalid statement": _key,
    "Invalid initial character for a key part": _key,
    "Expected '=' after a key": _no_equals,
    "Expected ']": _header,
    "Unescaped '\\'": _escape,
    "Invalid hex value": _escape,
    "Escaped character is not": _escape,
    "Invalid date or datetime": _date,
}
