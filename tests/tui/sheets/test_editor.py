"""The editor on a real terminal: whatever becomes of it, the window comes back and no text is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

REFUSED = '#!/bin/sh\nsed -i \'s/^nodes = .*/nodes = "many"/\' "$1"\n'
STOPS = "#!/bin/sh\ntrap '' INT\nkill -TSTP 0\nkill -INT 0\nsed -i 's/^nodes = .*/nodes = 64/' \"$1\"\n"


def editor(folder: Path, text: str) -> str:
    """An editor that is a script."""
    path = folder / "editor"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return str(path.resolve())


def test_an_editor_that_is_not_there_gives_the_window_back(start: Callable[..., Any], plan: Path) -> None:
    terminal = start(str(plan), EDITOR=str(plan.parent / "gone"))
    terminal.send("e")
    assert terminal.shows("the editor did not start")
    terminal.press("3")
    assert "[3Compute]" in terminal.screen.text, "keys work again"
    terminal.send("q")
    assert terminal.ended() == 0


def test_a_text_that_was_not_taken_is_not_left_unasked(start: Callable[..., Any], plan: Path, state: Path) -> None:
    terminal = start(str(plan), EDITOR=editor(plan.parent, REFUSED))
    terminal.send("e")
    assert terminal.shows("e opens your text again")
    terminal.press("q")
    assert terminal.shows("the text from the editor was not taken; it stays in")
    assert terminal.ended(0.2) is None
    terminal.press("\rsa")
    assert terminal.ended(0.2) is None
    terminal.send("d")
    assert terminal.ended() == 0
    (kept,) = (state / "copies").iterdir()
    assert 'nodes = "many"' in kept.read_text(encoding="utf-8")


def test_an_editor_that_is_stopped_stops_the_app_too_and_its_ctrl_c_is_its_own(
    start: Callable[..., Any], plan: Path
) -> None:
    terminal = start(str(plan), EDITOR=editor(plan.parent, STOPS), shell=True)
    terminal.send("e")
    terminal.until(b"stopped ")
    terminal.send("fg\n")
    assert terminal.shows("taken from the editor")
    assert "64" in terminal.screen.text


def test_ctrl_z_suspends_from_a_box_and_from_a_sheet_and_nothing_typed_is_lost(
    start: Callable[..., Any], plan: Path
) -> None:
    terminal = start(str(plan), shell=True)
    for keys, seen in (("\r18T", "[18T "), ("\x1b", ""), (":spa", ": spa")):
        terminal.press(keys)
        if not seen:
            continue
        terminal.send("\x1a")
        terminal.until(b"stopped ")
        terminal.send("fg\n")
        assert terminal.shows(seen)
        terminal.quiet()
