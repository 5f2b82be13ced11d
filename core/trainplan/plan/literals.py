"""TOML source text of values, keys and paths, and equality of parsed values without Python's leniency.

It exists so that text which goes into a plan file is spelled in one place. It refuses values that TOML cannot say.
"""

import datetime as dt
import re
from collections.abc import Mapping, Sequence

from trainplan.plan.places import ValuePath

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# What TOML forbids raw (C0, DEL), and what would not be seen: C1, zero width, bidi controls, separators, BOM.
ESCAPED = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]')
SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def literal_of(value: object) -> str:
    """TOML source of a str, bool, int, float, date, time, date-time, list or dict (written inline).

    Raises TypeError for any other type, and ValueError for text with a lone surrogate or an offset with seconds.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, dt.date | dt.time):  # a datetime is a date
        return _moment(value)
    return _collection(value)


def _collection(value: object) -> str:
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{key_text(str(key))} = {literal_of(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return f"[{', '.join(map(literal_of, value))}]"
    raise TypeError(
        f"TOML has no {type(value).__name__}. Text, numbers, true, false, dates, lists and tables can be written"
    )


def _moment(value: dt.date | dt.time) -> str:
    offset = value.utcoffset() if isinstance(value, dt.datetime) else None
    if offset is not None and offset.total_seconds() % 60:
        raise ValueError(f"{value} has an offset with seconds, which TOML cannot say")
    return value.isoformat()


def _quoted(text: str) -> str:
    return f'"{ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if "\ud800" <= character <= "\udfff":
        raise ValueError("text with a lone surrogate cannot be written as UTF-8")
    return SHORT_ESCAPES.get(character) or f"\\u{ord(character):04X}"


def key_text(name: str) -> str:
    """One key part as TOML source: bare where that is allowed, else quoted."""
    return name if BARE_KEY.fullmatch(name) else _quoted(name)


def dotted_key(path: ValuePath) -> str:
    """The names of `path` as a dotted key or header; the numbers of entries are not written."""
    return ".".join(key_text(part) for part in path if isinstance(part, str))


def path_text(path: ValuePath) -> str:
    """`path` for people: names with dots, entries from 0 in brackets, as in `data.sources[0].weight`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{key_text(part)}" for part in path)
    return text.removeprefix(".") or "the file"


def same(one: object, other: object) -> bool:
    """Whether two parsed values are one: types count (1 is not 1.0 or true), nan is nan, order of keys does not."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(item, other[key]) for key, item in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return repr(one) == repr(other)
