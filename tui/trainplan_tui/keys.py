"""The keys as data: what each does, where, its word in the footer, its sentence in help.

The footer, help, the palette and dispatch all read this one table, so none of them can say something else.
It refuses to act: it answers with the id of an action, and who acts is none of its business.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from trainplan.frozen import frozen

Where: TypeAlias = Literal[
    "everywhere",
    "navigate",
    "rows",
    "cells",
    "fields",
    "panes",
    "views",
    "tables",
    "matches",
    "items",
    "mesh",
    "search",
    "logs",
    "launch",
    "ready",
    "waivers",
]

ALL_PLACES: tuple[Where, ...] = get_args(Where)[1:]
"""Every place but `everywhere`, which always holds."""


@frozen
class Key:
    """One action: its stable id, its keys (first is shown), footer word, help sentence, and where it works."""

    id: str
    keys: tuple[str, ...]
    word: str
    sentence: str
    where: Where = "everywhere"


def _panes() -> tuple[Key, ...]:
    return tuple(Key(f"pane.{digit}", (digit,), "pane", f"pane {digit}") for digit in "1234567890")


KEYS: tuple[Key, ...] = (
    *_panes(),
    Key("pane.previous", ("[",), "previous", "previous pane"),
    Key("pane.next", ("]",), "next", "next pane"),
    Key("row.next", ("j", "down"), "down", "next row"),
    Key("row.previous", ("k", "up"), "up", "previous row"),
    Key("cell.previous", ("h", "left"), "left", "previous cell in the row", "cells"),
    Key("cell.next", ("l", "right"), "right", "next cell in the row", "cells"),
    Key("row.first", ("g", "home"), "first", "first row"),
    Key("row.last", ("G", "end"), "last", "last row"),
    Key("page.next", ("ctrl+d", "pgdn"), "page down", "half a page down"),
    Key("page.previous", ("ctrl+u", "pgup"), "page up", "half a page up"),
    Key("row.enter", ("enter",), "edit", "edit the row, or explain a figure; take, in a sheet"),
    Key("back", ("esc", "ctrl+g"), "back", "one level back; never quits"),
    Key("jump.back", ("backspace",), "return", "where the last jump came from", "navigate"),
    Key("field.up", ("+",), "larger", "take the next larger legal value", "fields"),
    Key("field.down", ("-",), "smaller", "take the next smaller legal value", "fields"),
    Key("field.saved", ("=",), "saved", "take the saved value back", "fields"),
    Key("row.explain", ("x",), "explain", "explain: formula, inputs, where each comes from", "rows"),
    Key("pane.view", ("v",), "view", "next view of the pane", "views"),
    Key("pane.zoom", ("z",), "zoom", "the picture alone, and back", "panes"),
    Key("find", ("/",), "find", "find a row or field in any pane"),
    Key("find.next", ("n",), "next", "next match, item or finding", "matches"),
    Key("find.previous", ("N",), "previous", "previous match, item or finding", "matches"),
    Key("finding.next", ("!",), "finding", "next finding"),
    Key("palette", (":", "ctrl+p"), "palette", "fields, numbers and commands in one list"),
    Key("help", ("?",), "help", "help for here"),
    Key("edit.undo", ("u",), "undo", "undo", "navigate"),
    Key("edit.redo", ("ctrl+r", "U"), "redo", "redo", "navigate"),
    Key("file.save", ("w", "ctrl+s"), "save", "save", "navigate"),
    Key("file.save_as", (), "save as", "save as: write under another name", "navigate"),
    Key("file.report", (), "report", "report: write it as Markdown for a review, or as CSV", "navigate"),
    Key("file.editor", ("e",), "editor", "open the plan in $EDITOR", "navigate"),
    Key("file.diff", ("d",), "diff", "what changed since saving", "navigate"),
    Key("file.compare", ("c",), "compare", "compare with another plan", "navigate"),
    Key("row.open", ("o",), "open", "open the source, evidence or line under the cursor", "rows"),
    Key("row.copy", ("y",), "copy", "copy the row, tree or table; also into a file", "rows"),
    Key("pane.plain", ("P",), "plain", "plain text of the pane into a file", "panes"),
    Key("row.add", ("a",), "add", "add a source, stage, batch, task or check; attach evidence in Readiness", "tables"),
    Key("row.remove", ("delete", "D"), "remove", "remove the row", "tables"),
    Key("row.raise", ("K",), "up", "move the source or stage up", "tables"),
    Key("row.lower", ("J",), "down", "move the source or stage down", "tables"),
    Key("weights.normalise", (), "normalise", "divide the weights of the stage by their sum", "tables"),
    Key("sources.read", (), "read", "read a manifest's counts into the sources", "navigate"),
    Key("sources.add", (), "source", "add a source of training text", "navigate"),
    Key("stages.add", (), "stage", "add a stage of the run", "navigate"),
    Key("stages.weights", (), "mixture", "add a mixture: give a stage weights of its own", "navigate"),
    Key("batches.add", (), "batch", "add an entry to the batch schedule", "navigate"),
    Key("tasks.add", (), "task", "add an evaluation task", "navigate"),
    Key("checks.add", (), "check", "add a check to a rung of the pilot", "navigate"),
    Key("rungs.add", (), "rung", "add a rung of one's own to the pilot", "navigate"),
    Key("evidence.add", (), "evidence", "add evidence: attach a file to a readiness item", "navigate"),
    Key("quit", ("q",), "quit", "quit, asks when unsaved", "navigate"),
    Key("suspend", ("ctrl+z",), "suspend", "suspend, where a shell can resume"),
    Key("cancel", ("ctrl+c",), "cancel", "as quit in navigate, as back elsewhere"),
    Key("redraw", ("ctrl+l",), "redraw", "draw again"),
    Key("mesh.search", ("F",), "find", "find layouts", "mesh"),
    Key("search.order", ("O",), "order", "order by the next column", "search"),
    Key(
        "search.forks",
        ("F",),
        "forks",
        "with schedules and shardings that only forks of the framework have, or without",
        "search",
    ),
    Key("pilot.log", ("L",), "log", "take a log", "logs"),
    Key("pilot.command", ("C",), "command", "launch line", "launch"),
    Key("ready.sign", ("S",), "sign", "sign the item", "ready"),
    Key("ready.waive", ("W",), "waive", "waive, with a reason", "waivers"),
    Key("ready.walk", (), "walk", "walk the readiness items as challenge and response", "ready"),
    Key("ready.summary", (), "summary", "copy the review as text", "ready"),
    Key("ready.one_person", (), "mode", "switch one-person mode of the sign-offs", "ready"),
    Key("toggle", ("space",), "tick", "tick, fold or cycle", "items"),
)
"""Section 7 of the drawings, in its order."""

ADDED: tuple[str, ...] = tuple(
    key.id for key in KEYS if (key.id.endswith(".add") and key.id != "row.add") or key.id == "stages.weights"
)
"""Commands that add an entry to a list of the plan, or a mixture to a stage."""

LEADING: tuple[str, ...] = ("pane.previous", "pane.next", "find", "finding.next", "palette")
"""What leads to another place from everywhere, beside the digits: over a sheet that is read too."""

ELSEWHERE = frozenset({*(key.id for key in _panes()), *LEADING})
"""The same, with the digits."""

_TWINS = {"ctrl+h": "backspace", "ctrl+i": "tab", "ctrl+m": "enter", "ctrl+j": "enter"}
_SPELLINGS = {
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "del": "delete",
    "return": "enter",
    "↓": "down",
    "↑": "up",
    "←": "left",
    "→": "right",
    " ": "space",
}
NAMED = frozenset(
    {"enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "home", "end"}
    | {"pgup", "pgdn", "space", "backspace", "delete", "insert"}
)


def key_name(key: str, character: str | None = None) -> str:
    """The name of a key as it is written here, from Textual's name and the character it typed.

    A key that types a character is that character (`?`, `+`, `G`); others are `esc`, `pgdn`, `ctrl+s`, ...
    """
    if character and len(character) == 1 and character.isprintable() and character != " " and "+" not in key[1:]:
        return character
    return canonical(key)


def canonical(key: str) -> str:
    """The one spelling of a key: `esc` for `escape`, `backspace` for `ctrl+h`, ..."""
    name = _SPELLINGS.get(key, key)
    return _TWINS.get(name, name)


@dataclass(frozen=True, slots=True)
class Keymap:
    """The table in force: the keys of a session and what its key file said wrongly."""

    keys: tuple[Key, ...] = KEYS
    problems: tuple[str, ...] = ()
    _by_key: dict[str, tuple[Key, ...]] = field(default_factory=dict[str, tuple[Key, ...]], compare=False, repr=False)

    def __post_init__(self) -> None:
        for key in self.keys:
            for name in key.keys:
                self._by_key[name] = (*self._by_key.get(name, ()), key)

    def action(self, name: str, places: Iterable[str]) -> str | None:
        """The id of what a key does where these places hold (`everywhere` always does), or None."""
        held = {"everywhere", *places}
        return next((key.id for key in self._by_key.get(name, ()) if key.where in held), None)

    def of(self, id_: str) -> Key:
        """The action with this id. KeyError when there is none: ids are the program's own words."""
        return next(key for key in self.keys if key.id == id_) if id_ in IDS else _unknown(id_)

    def shown(self, id_: str) -> str:
        """The key to show for an action; empty when it is switched off."""
        return next(iter(self.of(id_).keys), "")


IDS = frozenset(key.id for key in KEYS)


def _unknown(id_: str) -> Key:
    raise KeyError(id_)
