"""What happens outside the window: the clipboard, the editor, the shell."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from trainplan.files.folders import state_folder

if TYPE_CHECKING:
    from trainplan_tui.widgets.dispatch import KeyedApp

CLIPBOARD_LIMIT = 60_000
"""Characters that go out as one OSC 52; terminals drop longer ones."""


LONGEST = 57
"""Characters of a path that stand beside a few words in the narrowest window that is drawn for."""


def copied(app: KeyedApp, text: str, name: str) -> str:
    """Send a text to the clipboard and write it into a file; the sentence that says where."""
    path = written(text, name, ".txt")
    if len(text) <= CLIPBOARD_LIMIT:
        app.copy_to_clipboard(text)
        return f"copied, and in {told(path)}" if path else "copied"
    return f"too long to copy; in {told(path)}" if path else "too long for the clipboard"


def told(path: Path) -> str:
    """A path in a message: from home where it is there, without its first folders where it is long."""
    home, text = f"{Path.home()}{os.sep}", str(path)
    text = f"~/{text.removeprefix(home)}" if text.startswith(home) else text
    return text if len(text) <= LONGEST else f"...{text[3 - LONGEST :]}"


def written(text: str, name: str, suffix: str) -> Path | None:
    """Write a text into the state folder; None where it cannot be written."""
    folder = state_folder(os.environ) / "copies"
    path = folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', name)[:80]}{suffix}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError:
        return None
    return path


def in_editor(app: KeyedApp, text: str, line: int) -> tuple[str | None, str]:
    """The text as $VISUAL or $EDITOR leaves it, and a sentence. The copy it edits stays when the result is unusable."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        return None, "no editor: set VISUAL or EDITOR"
    path = written(text, _copy_name(), ".toml")
    if path is None:
        return None, "the state folder cannot be written, so there is no copy to edit"
    status = _run(app, editor, line, path)
    if status:
        return None, status
    try:
        return path.read_text(encoding="utf-8"), ""
    except (OSError, UnicodeDecodeError) as error:
        return None, f"the editor's file cannot be read: {error}"


def _run(app: KeyedApp, editor: str, line: int, path: Path) -> str:
    """Run the editor on the terminal until it ends; what went wrong, empty where nothing did.

    No error may leave the suspension, because nothing would resume the app.
    """
    with _keys_of_another(), app.suspend():
        try:
            done = subprocess.run([*shlex.split(editor), *_line(editor, line), str(path)], check=False)
        except OSError as error:
            return f"the editor did not start: {(error.strerror or 'refused').lower()}. VISUAL or EDITOR names it"
        except ValueError as error:
            return f"the editor did not start: {error}. VISUAL or EDITOR names it"
    return f"the editor ended with status {done.returncode}; nothing was taken" if done.returncode else ""


def _ignored(number: int, frame: FrameType | None) -> None:
    """Not `SIG_IGN`, which an editor would inherit."""


@contextmanager
def _keys_of_another() -> Generator[None]:
    """While an editor has the terminal, `ctrl+c` is its own, and `ctrl+z` stops both, so that `fg` brings both back."""
    meanwhile = {signal.SIGINT: _ignored, signal.SIGTSTP: signal.SIG_DFL, signal.SIGCONT: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in meanwhile.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def editor_copy() -> Path:
    """Where the text that an editor left stays."""
    return state_folder(os.environ) / "copies" / f"{_copy_name()}.toml"


def _copy_name() -> str:
    return f"plan-{os.getpid()}"


def _line(editor: str, line: int) -> list[str]:
    """`+LINE` for editors that know it."""
    name = Path(shlex.split(editor)[0]).name
    return [f"+{line}"] if line > 0 and name in ("vi", "vim", "nvim", "nano", "emacs", "micro", "kak") else []


def suspended(app: KeyedApp) -> str:
    """Stop until the shell resumes the program; a sentence where there is no shell that could."""
    from trainplan_tui.widgets.driver import resumable

    if not resumable():
        return "no shell to come back from: q quits"
    app.action_suspend_process()
    return ""
