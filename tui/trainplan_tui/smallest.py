"""A window below the least: one screen in words. What it says works is all that works, whatever is open behind it.

Boxes and sheets stay as they are, unseen; it refuses to type into what nobody sees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from trainplan_tui.keys import Keymap
from trainplan_tui.sheets.quitting import QuitSheet
from trainplan_tui.sheets.sheet import Sheet
from trainplan_tui.state.session import Session
from trainplan_tui.widgets.frame import Entry


class Window(Protocol):
    """What is asked of the app."""

    opened: Session | None
    sheets: list[Sheet]
    keymap: Keymap
    message: str

    def do(self, id_: str) -> None:
        """Do what a key of the table does."""

    def leave(self) -> None:
        """End the app without a question."""


HERE = ("file.save", "quit", "cancel")


def keys(app: Window) -> list[Entry]:
    """What works: saving and quitting, or the answers to the question whether to quit."""
    goes_on = Entry("larger window:", "goes on")
    if app.opened is None:
        return [Entry(app.keymap.shown("quit"), "quit"), goes_on]
    asked = _asked(app)
    if asked is not None:
        return [one for one in asked.footer() if one.key in ("s", "d", "esc")]
    return [Entry(app.keymap.shown(id_), id_.rpartition(".")[2]) for id_ in HERE[:2]] + [goes_on]


def take(app: Window, name: str, character: str | None) -> None:
    """A key: an answer, save, or quit."""
    asked, id_ = _asked(app), app.keymap.action(name, ("navigate",))
    if app.opened is None:
        app.leave() if id_ in HERE[1:] else None
    elif asked is not None:
        answer = "esc" if name in ("ctrl+g", "ctrl+c") else name
        if any(one.key == answer for one in keys(app)):
            _seen(app, lambda: asked.take(answer, character))
    elif id_ == "file.save":
        _seen(app, lambda: app.do("file.save"))
    elif id_ in HERE:
        app.do(id_)


def _asked(app: Window) -> QuitSheet | None:
    sheet = app.sheets[-1] if app.sheets else None
    return sheet if isinstance(sheet, QuitSheet) else None


def _seen(app: Window, act: Callable[[], None]) -> None:
    """Act; what would have to be asked before a save waits for a window that shows it."""
    before = list(app.sheets)
    act()
    if app.sheets and app.sheets[-1] not in before:
        app.sheets.pop()
        app.message = "not saved: the file changed on disk; save in a larger window asks what to keep"
