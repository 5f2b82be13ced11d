"""Unsaved edits survive: each committed edit goes into the journal of the user's state folder, with host and time."""

from __future__ import annotations

import datetime as dt
import os
import socket
from collections.abc import Mapping
from pathlib import Path

from trainplan.compare import field_differences
from trainplan.files.recovery import Journal, Session, process_mark, recovery_folder
from trainplan.plan.edit import UnknownPath, literal_for, resolve
from trainplan.plan.plan import Plan

Edits = Mapping[tuple[str | int, ...], str | None]


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


def edits_between(saved: Plan, plan: Plan) -> dict[tuple[str | int, ...], str | None]:
    """Fields that differ, as keys and TOML source; None where the field was left out."""
    found: dict[tuple[str | int, ...], str | None] = {}
    for path, _, after in field_differences(saved, plan):
        try:
            keys = resolve(path, plan if after != "-" else saved)
        except UnknownPath:
            continue
        found[keys] = None if after == "-" else literal_for(path, after)
    return found
