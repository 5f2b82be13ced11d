"""What happens outside the window: the clipboard, the editor, the shell."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from trainplan.files.folders import state_folder

if TYPE_CHECKING:
    from trainplan_tui.widgets.dispatch import KeyedApp

CLIPBOARD_LIMIT = 60_000
"""Characters that go out as one OSC 52; terminals drop longer ones."""


def copied(app: KeyedApp, text: str, name: str) -> str:
    """Send a text to the clipboard and write it into a file; the sentence that says where."""
    path = written(text, name, ".txt")
    if len(text) <= CLIPBOARD_LIMIT:
        app.copy_to_clipboard(text)
        return f"copied, and written to {path}" if path else "copied"
    return f"too long for the clipboard; written to {path}" if path else "too long for the clipboard"


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
    path = written(text, f"plan-{os.getpid()}", ".toml")
    if path is None:
        return None, "the state folder cannot be written, so there is no copy to edit"
    try:
        with app.suspend():
            done = subprocess.run([*shlex.split(editor), *_line(editor, line), str(path)], check=False)
    except (OSError, ValueError) as error:
        return None, f"the editor did not start: {error}"
    if done.returncode != 0:
        return None, f"the editor ended with status {done.returncode}; nothing was taken"
    try:
        return path.read_text(encoding="utf-8"), ""
    except (OSError, UnicodeDecodeError) as error:
        return None, f"the editor's file cannot be read: {error}"


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
