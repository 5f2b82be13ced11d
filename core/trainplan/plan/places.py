"""Where each value of a TOML text stands, so that an error can point at it and an edit can replace just it.

It exists because tomllib keeps no positions and tomlkit costs ten times as much. It reads only text that tomllib has
accepted, and refuses to judge: on any other text its answer means nothing. It never changes text (see splice) and
never builds values (see source).
"""

import re
import tomllib
from bisect import bisect_right

from trainplan.frozen import frozen

ValuePath = tuple[str | int, ...]

KEY_PART = re.compile(r'"(?:[^"\\\n]|\\.)*+"|\'[^\'\n]*+\'|[A-Za-z0-9_-]++')
DOT = re.compile(r"[ \t]*+\.[ \t]*+")
FILLER = re.compile(r"(?:[ \t\r\n]|#[^\n]*+)*+")
SCALAR = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*+"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*+'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'[^'\n]*+'"
    r"|\d{4}-\d\d-\d\d \d\d:[^\s,\]}#]*+"
    r"|[^\s,\]}#]++",
    re.DOTALL,
)


@frozen
class Span:
    """A piece of text: character offsets, `end` not included."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The characters of this piece."""
        return text[self.start : self.end]


@frozen
class Place:
    """A line and a column, both from 1; a column counts characters."""

    line: int
    column: int


@frozen
class Member:
    """One `key = value` of a table, or one element of an array: its path and its text from key to end of value."""

    path: ValuePath
    span: Span


@frozen
class Block:
    """One header with the statements under it, up to the next header; the text before the first one has path ()."""

    path: ValuePath
    header: Span
    members: list[Member]


@frozen
class Places:
    """All places of one text, made by `scan`."""

    values: dict[ValuePath, Span]
    keys: dict[ValuePath, Span]
    headers: dict[ValuePath, Span]
    members: dict[ValuePath, list[Member]]
    blocks: tuple[Block, ...]
    line_starts: tuple[int, ...]

    def value(self, path: ValuePath) -> Span | None:
        """The value written at `path`; None for a table that has only headers or dotted keys, and for absent paths."""
        return self.values.get(path)

    def key(self, path: ValuePath) -> Span | None:
        """The last part of the key at `path`: where it is defined, or else where a longer key first names it."""
        return self.keys.get(path)

    def header(self, path: ValuePath) -> Span | None:
        """The header of the table or entry that `path` is or belongs to, with its brackets; None at the top level."""
        nearest = (path[:length] for length in range(len(path), 0, -1))
        return next((self.headers[above] for above in nearest if above in self.headers), None)

    def place(self, span: Span) -> Place:
        """Line and column of the first character of `span`."""
        line = bisect_right(self.line_starts, span.start)
        return Place(line, span.start - self.line_starts[line - 1] + 1)

    @property
    def paths(self) -> tuple[ValuePath, ...]:
        """Every path that has a value, in file order; arrays and inline tables come before what is in them."""
        return tuple(self.values)


def scan(text: str) -> Places:
    """The places of `text`, which tomllib must have accepted; linear in its length."""
    return _Scan(text).run(len(text))


def scan_until(text: str, end: int) -> Places:
    """The places of the statements that begin before offset `end`.

    A statement or header that repeats an earlier path overwrites its span; `blocks` keeps both. Raises ValueError or
    IndexError where the last statement is not well formed.
    """
    return _Scan(text).run(end)


def line_starts(text: str) -> tuple[int, ...]:
    """Offsets at which lines begin."""
    return (0, *(match.end() for match in re.finditer("\n", text)))


def key_parts(text: str, position: int) -> tuple[list[tuple[str, Span]], int]:
    """The parts of the dotted key at `position`, decoded and placed, and the offset after the last one."""
    parts: list[tuple[str, Span]] = []
    while match := KEY_PART.match(text, position):
        parts.append((_key_name(match[0]), Span(*match.span())))
        dot = DOT.match(text, match.end())
        if dot is None:
            break
        position = dot.end()
    return parts, parts[-1][1].end


def _key_name(raw: str) -> str:
    if raw[0] not in "\"'":
        return raw
    return raw[1:-1] if raw[0] == "'" or "\\" not in raw else tomllib.loads("x=" + raw)["x"]


class _Scan:
    """One pass over one text. `counts` holds how many entries each array of tables has so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.counts: dict[ValuePath, int] = {}
        self.values: dict[ValuePath, Span] = {}
        self.keys: dict[ValuePath, Span] = {}
        self.headers: dict[ValuePath, Span] = {}
        self.members: dict[ValuePath, list[Member]] = {}
        self.blocks = [Block((), Span(0, 0), [])]

    def run(self, end: int) -> Places:
        position = self.filler(0)
        while position < end:
            position = self.filler(self.header(position) if self.text[position] == "[" else self.statement(position))
        return Places(self.values, self.keys, self.headers, self.members, tuple(self.blocks), line_starts(self.text))

    def filler(self, position: int) -> int:
        match = FILLER.match(self.text, position)
        return match.end() if match else position

    def header(self, start: int) -> int:
        brackets = 2 if self.text.startswith("[[", start) else 1
        parts, position = key_parts(self.text, self.filler(start + brackets))
        end = self.filler(position) + brackets
        path = self.entry(parts) if brackets == 2 else self.table(parts)
        self.keys[path] = parts[-1][1]
        self.headers[path] = Span(start, end)
        self.blocks.append(Block(path, Span(start, end), []))
        return end

    def table(self, parts: list[tuple[str, Span]]) -> ValuePath:
        path: ValuePath = ()
        for name, span in parts:
            self.keys.setdefault((*path, name), span)
            path = self.current((*path, name))
            self.keys.setdefault(path, span)
        return path

    def entry(self, parts: list[tuple[str, Span]]) -> ValuePath:
        name, span = parts[-1]
        array = (*self.table(parts[:-1]), name)
        self.counts[array] = self.counts.get(array, 0) + 1
        self.keys.setdefault(array, span)
        return self.current(array)

    def current(self, path: ValuePath) -> ValuePath:
        count = self.counts.get(path, 0)
        return (*path, count - 1) if count else path

    def statement(self, start: int) -> int:
        block = self.blocks[-1]
        return self.pair(block.path, start, block.members)

    def pair(self, base: ValuePath, start: int, members: list[Member]) -> int:
        parts, position = key_parts(self.text, start)
        path = base
        for name, span in parts:
            path = (*path, name)
            self.keys.setdefault(path, span)
        self.keys[path] = parts[-1][1]
        end = self.item(path, self.filler(self.filler(position) + 1))
        members.append(Member(path, Span(start, end)))
        return end

    def item(self, path: ValuePath, start: int) -> int:
        self.values[path] = Span(start, start)  # holds the place in file order; the end is known below
        opening = self.text[start]
        end = self.sequence(path, start) if opening in "[{" else self.scalar(start)
        self.values[path] = Span(start, end)
        return end

    def scalar(self, start: int) -> int:
        match = SCALAR.match(self.text, start)
        if match is None:
            raise ValueError(f"no value at {start}")  # never in text that tomllib accepted
        return match.end()

    def sequence(self, path: ValuePath, start: int) -> int:
        """Reads an array or an inline table from its bracket at `start`; returns the offset after the closing one."""
        closing = "]" if self.text[start] == "[" else "}"
        members = self.members.setdefault(path, [])
        position = self.filler(start + 1)
        while self.text[position] != closing:
            position = self.filler(self.member(path, position, members))
            if self.text[position] == ",":
                position = self.filler(position + 1)
        return position + 1

    def member(self, path: ValuePath, start: int, members: list[Member]) -> int:
        if self.text[self.values[path].start] == "{":
            return self.pair(path, start, members)
        element = (*path, len(members))
        end = self.item(element, start)
        members.append(Member(element, Span(start, end)))
        return end
