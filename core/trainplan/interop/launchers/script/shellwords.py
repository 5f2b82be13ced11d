"""One word of a shell script as segments: quotes, escapes and expansions, each with the character at which it stands."""

from __future__ import annotations

import re
from typing import Final

from trainplan.frozen import frozen

NAME: Final = re.compile(r"[A-Za-z_]\w*")
_ENDS: Final = frozenset(" \t\r\n;&|()<>")
_ESCAPES_IN_QUOTES: Final = frozenset('$`"\\\n')
_BRACED: Final = re.compile(r"\{(!?#?)([A-Za-z_]\w*|[0-9@*#?$!-])(\[[@*]\])?(:?[-=]|\})?")
MOST_DEPTH: Final = 40
MOST_DEFAULT: Final = 2_000
"""Characters of the default of a variable that are read."""

_SPECIAL: Final = "0123456789@*#?$!-"


class ShellError(ValueError):
    """What of a script cannot be told apart, and the character at which it begins."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


@frozen
class Segment:
    """A part of a word: `text` as it is, `variable` to be expanded, `sum` of arithmetic, or `unknown`, which has no value.

    `default` is the word of `${NAME:-word}`; `every` is `${NAME[@]}`.
    """

    kind: str
    text: str
    offset: int
    quoted: bool
    default: tuple[Segment, ...] | None = None
    every: bool = False


Word = tuple[Segment, ...]


def word_at(text: str, at: int) -> tuple[Word, int]:
    """The word that begins at a character, and where it ends. Raises ShellError where a quote is never closed."""
    found: list[Segment] = []
    while at < len(text) and text[at] not in _ENDS:
        one = text[at]
        if one == "'":
            at = _single(text, at, found)
        elif one == '"':
            at = _double(text, at, found)
        elif one == "\\":
            if not text.startswith("\\\n", at):
                found.append(Segment("text", text[at + 1 : at + 2], at + 1, quoted=True))
            at += 2
        elif one in "$`":
            at = _expansion(text, at, found, quoted=False)
        else:
            end = at
            while end < len(text) and text[end] not in _ENDS and text[end] not in "'\"\\$`":
                end += 1
            found.append(Segment("text", text[at:end], at, quoted=False))
            at = end
    return tuple(found), min(at, len(text))


def quoted_segments(text: str, begin: int, end: int) -> Word:
    """The segments of text between two characters as inside double quotes."""
    found: list[Segment] = []
    _inside(text, begin, end, found, stop="")
    return tuple(found)


def _single(text: str, at: int, found: list[Segment]) -> int:
    end = text.find("'", at + 1)
    if end < 0:
        raise ShellError(at, "this quote is never closed")
    found.append(Segment("text", text[at + 1 : end], at + 1, quoted=True))
    return end + 1


def _double(text: str, at: int, found: list[Segment]) -> int:
    found.append(Segment("text", "", at + 1, quoted=True))
    end = _inside(text, at + 1, len(text), found, stop='"')
    if end >= len(text):
        raise ShellError(at, "this quote is never closed")
    return end + 1


def _inside(text: str, at: int, last: int, found: list[Segment], stop: str) -> int:
    begin = at
    while at < last and text[at] != stop:
        if text[at] == "\\" and text[at + 1 : at + 2] in _ESCAPES_IN_QUOTES and at + 1 < last:
            found.append(Segment("text", text[begin:at], begin, quoted=True))
            kept = "" if text[at + 1] == "\n" else text[at + 1]
            found.append(Segment("text", kept, at + 1, quoted=True))
            at += 2
            begin = at
        elif text[at] in "$`":
            found.append(Segment("text", text[begin:at], begin, quoted=True))
            at = begin = _expansion(text, at, found, quoted=True)
        else:
            at += 1
    found.append(Segment("text", text[begin : min(at, last)], begin, quoted=True))
    return at


def _expansion(text: str, at: int, found: list[Segment], *, quoted: bool) -> int:
    """What a dollar sign or a backtick begins."""
    if text[at] == "`":
        end = text.find("`", at + 1)
        if end < 0:
            raise ShellError(at, "this backtick is never closed")
        found.append(Segment("unknown", text[at : end + 1], at, quoted))
        return end + 1
    if text.startswith("$((", at):
        end = _closing(text, at + 1)
        found.append(Segment("sum", text[at + 3 : end - 2], at + 3, quoted))
        return end
    if text.startswith("$(", at):
        end = _closing(text, at + 1)
        found.append(Segment("unknown", text[at:end], at, quoted))
        return end
    if text.startswith("${", at):
        return _braced(text, at, found, quoted=quoted)
    name = NAME.match(text, at + 1)
    if name:
        found.append(Segment("variable", name[0], at, quoted))
        return name.end()
    if text[at + 1 : at + 2] and text[at + 1] in _SPECIAL:
        found.append(Segment("unknown", text[at : at + 2], at, quoted))
        return at + 2
    found.append(Segment("text", "$", at, quoted=True))
    return at + 1


def _closing(text: str, at: int) -> int:
    """Behind the bracket that closes the one at a character; brackets in quotes do not count."""
    depth, begin = 0, at
    while at < len(text):
        one = text[at]
        if one == "\\":
            at += 1
        elif one == "'":
            at = max(text.find("'", at + 1), at)
        elif one in "({":
            depth += 1
            if depth > MOST_DEPTH:
                raise ShellError(begin, f"brackets are nested more than {MOST_DEPTH} deep")
        elif one in ")}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    raise ShellError(begin, "this bracket is never closed")


def _braced(text: str, at: int, found: list[Segment], *, quoted: bool) -> int:
    end = _closing(text, at + 1)
    match = _BRACED.match(text, at + 1)
    whole = text[at:end]
    if end - at > MOST_DEFAULT:
        found.append(Segment("unknown", f"{text[at : at + 40]}...", at, quoted))
        return end
    if match is None or match[1] or match[4] is None or match[2][0] in _SPECIAL:
        word = match[4] if match and match[4] in (":-", "-") and match[2][0] in _SPECIAL else ""
        default = _default(text, match.end(), end - 1) if match and word else None
        called = f"${match[2]}" if match and default is not None else whole
        found.append(Segment("unknown" if default is None else "variable", called, at, quoted, default))
        return end
    default = None if match[4] == "}" else _default(text, match.end(), end - 1)
    found.append(Segment("variable", match[2], at, quoted, default, every=match[3] is not None))
    return end


def _default(text: str, begin: int, end: int) -> Word:
    """The word after `:-`, its quotes taken off."""
    found: list[Segment] = []
    while begin < end:
        word, stop = word_at(text[:end], begin)
        found.extend(word)
        if stop < end:
            found.append(Segment("text", text[stop], stop, quoted=False))
            stop += 1
        begin = stop
    return tuple(found)
