"""A user's key file: ids moved to other keys or switched off.

What the file says wrongly is told in words, and the rest of it still counts: a typo never takes the keys away.
It refuses to invent ids and to guess keys; the nearest known one is named instead.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from trainplan_tui.keys import IDS, KEYS, NAMED, Key, Keymap, canonical
from trainplan_tui.text.printable import printable


def key_file(environment: Mapping[str, str], home: Path) -> Path:
    """Where a user's key file is looked for. A relative $XDG_CONFIG_HOME is ignored, as its specification says."""
    configured = environment.get("XDG_CONFIG_HOME", "")
    folder = Path(configured) if configured.startswith("/") else home / ".config"
    return folder / "trainplan-tui" / "keys.toml"


def keymap(path: Path) -> Keymap:
    """The table with a user's file applied; the plain table when there is no file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Keymap()
    except (OSError, UnicodeDecodeError) as error:
        return Keymap(problems=(printable(f"{path}: not read: {_reason(error)}. The keys are as built in"),))
    try:
        entries = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Keymap(problems=(printable(f"{path}: not TOML: {error}. The keys are as built in"),))
    return remapped(_flat(entries), printable(path.name))


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or "unreadable").lower() if isinstance(error, OSError) else "not UTF-8 text"


def _flat(entries: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Ids with their dots: `row.next = "j"` is a table to TOML, `"row.next" = "j"` is not; both are taken."""
    flat: dict[str, object] = {}
    for name, value in entries.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def remapped(entries: Mapping[str, object], name: str = "keys.toml") -> Keymap:
    """The table with ids moved to other keys: a key, several between blanks, a list, or "" for off."""
    keys = {key.id: key for key in KEYS}
    problems: list[str] = []
    for id_, value in entries.items():
        wanted = _wanted(value)
        fault = _fault(id_, value, wanted)
        if fault:
            problems.append(printable(f"{name}: {fault}"))
        else:
            keys[id_] = replace(keys[id_], keys=tuple(wanted or ()))
    problems += [f"{name}: {clash}" for clash in _clashes(keys.values())]
    return Keymap(tuple(keys.values()), tuple(problems))


def _wanted(value: object) -> list[str] | None:
    """The keys that an entry names, or None when it is neither text nor a list of texts."""
    if isinstance(value, str):
        return [canonical(name) for name in value.split()]
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return [canonical(str(name)) for name in value]
    return None


def _fault(id_: str, value: object, wanted: list[str] | None) -> str:
    if id_ not in IDS:
        nearest = get_close_matches(id_, IDS, 1)
        return f'unknown id "{id_}".' + (f" Nearest: {nearest[0]}" if nearest else " Help lists them")
    if wanted is None:
        return f'{id_} is {value!r}. A key such as "j", several between blanks, or "" to switch it off'
    bad = next((key for key in wanted if not _known(key)), None)
    if bad is None:
        return ""
    nearest = get_close_matches(bad, NAMED, 1)
    return f'{id_} is "{bad}". One character, a name such as pgdn, or ctrl+letter' + (
        f"; nearest: {nearest[0]}" if nearest else ""
    )


def _known(key: str) -> bool:
    if len(key) == 1:
        return printable(key) == key and key != " "
    letter = key.removeprefix("ctrl+")
    return key in NAMED or (letter != key and len(letter) == 1 and letter.isascii() and letter.islower())


def _clashes(keys: Iterable[Key]) -> list[str]:
    """Keys that two actions of one place both have: the first in the table acts."""
    held: dict[str, list[Key]] = {}
    clashes: list[str] = []
    for key in keys:
        for name in key.keys:
            others = held.setdefault(name, [])
            other = next((other for other in others if _share_a_place(other, key)), None)
            if other:
                clashes.append(f'"{name}" is both {other.id} and {key.id}; it does {other.id}')
            others.append(key)
    return clashes


def _share_a_place(one: Key, other: Key) -> bool:
    return one.where == other.where or "everywhere" in (one.where, other.where)
