"""Where this program keeps its state: unsaved edits, recent plans, copies. Small, because it is asked before the first picture."""

import os
from collections.abc import Mapping
from pathlib import Path


def state_folder(environment: Mapping[str, str]) -> Path:
    """The folder for this program's state: $XDG_STATE_HOME/trainplan-tui, or ~/.local/state/trainplan-tui.

    A relative XDG_STATE_HOME is ignored, as the XDG base directory specification asks.
    """
    given = environment.get("XDG_STATE_HOME", "")
    home = Path(environment.get("HOME") or os.path.expanduser("~"))
    return (Path(given) if os.path.isabs(given) else home / ".local" / "state") / "trainplan-tui"


def recovery_folder(environment: Mapping[str, str]) -> Path:
    """The folder of journals."""
    return state_folder(environment) / "recover"
