"""Unsaved edits survive: each committed edit goes into the journal of the user's state folder, with host and time."""

from __future__ import annotations

import datetime as dt
import os
import socket
from pathlib import Path

from trainplan.files.recovery import Journal, Session, process_mark, recovery_folder


def now() -> str:
    """The time for a journal, UTC."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def host_name() -> str:
    """This machine, as journals name it."""
    return socket.gethostname()


def journal_for(plan: Path) -> Journal:
    """The journal of this process on a plan; its file appears with the first edit."""
    pid = os.getpid()
    try:
        tty = os.ttyname(0)
    except OSError:
        tty = ""
    return Journal(recovery_folder(os.environ), plan, Session(host_name(), tty, now(), pid, process_mark(pid)))
