"""Pictures of the app for the README: `python -m trainplan_tui.pictures FOLDER [PLAN]`.

Runs the real app without a terminal, types keys, and writes what it shows as SVG; size, theme and day are pinned, so that the
same code gives the same pictures.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from trainplan_tui.staging import staged

if TYPE_CHECKING:
    from trainplan_tui.app import PlanApp

DAY: Final = dt.date(2026, 11, 29)

NOON: Final = dt.datetime(2026, 11, 29, 12, 0, tzinfo=dt.UTC)

SHOTS: Final = (
    ("overview", "80x24", "enter 1 6 T enter"),
    ("overview-wide", "160x45", "enter 1 6 T enter"),
    ("tokens", "80x24", "2"),
    ("tokens-wide", "160x45", "2"),
    ("compute", "80x24", "3"),
    ("compute-wide", "160x45", "3"),
    ("memory", "80x24", "4"),
    ("memory-wide", "160x45", "4"),
    ("parallelism", "80x24", "5"),
    ("parallelism-wide", "160x45", "5"),
    ("walk", "80x24", "5 v v"),
    ("layouts", "80x24", "5 F"),
    ("storage", "80x24", "6"),
    ("reliability", "80x24", "7"),
    ("reliability-wide", "160x45", "7"),
    ("evaluation", "80x24", "8"),
    ("pilot", "80x24", "9"),
    ("readiness", "80x24", "enter 1 6 T enter 0"),
    ("readiness-wide", "160x45", "enter 1 6 T enter 0 j j j j j j j j j"),
    ("readiness-walk", "80x24", "0 G k k k enter"),
    ("explain", "80x24", "/ c o s t enter x"),
    ("difference", "80x24", "enter 1 6 T enter d"),
    ("palette", "80x24", ": s p"),
    ("help", "80x24", "?"),
)
"""Name, size of the window, and keys, as a person would type them."""


def main(words: list[str]) -> int:
    """Draw every picture into a folder."""
    folder = Path(words[0] if words else "screenshots")
    plan = Path(words[1] if len(words) > 1 else "plans/llama-3.1-8b.toml")
    folder.mkdir(exist_ok=True)
    os.environ.pop("NO_COLOR", None)
    os.environ["COLORTERM"] = "truecolor"
    os.environ["XDG_CONFIG_HOME"] = os.devnull
    with TemporaryDirectory() as scratch:
        _draw_all(folder, plan, Path(scratch))
    return 0


def _draw_all(folder: Path, plan: Path, scratch: Path) -> None:
    for name, size, keys in SHOTS:
        told = staged(plan, scratch) if name.startswith(("pilot", "readiness")) else plan
        picture = asyncio.run(_drawn(told, size, keys.split()))
        (folder / f"{name}.svg").write_text(picture, encoding="utf-8")
        print(folder / f"{name}.svg")


async def _drawn(plan: Path, size: str, keys: list[str]) -> str:
    from trainplan_tui.text.colours import prepare_environment
    from trainplan_tui.text.glyphs import UNICODE

    palette = prepare_environment(os.environ, "dark")
    from textual.events import Key

    from trainplan.plan.read import open_plan
    from trainplan_tui.app import PlanApp
    from trainplan_tui.keys import Keymap
    from trainplan_tui.state.session import Session

    width, height = map(int, size.split("x"))
    app = PlanApp(palette, UNICODE, Keymap(), Session(open_plan(plan), DAY))
    async with app.run_test(size=(width, height)) as pilot:
        await pilot.pause()
        for key in keys:
            await app.on_event(Key(key, key if len(key) == 1 else None))
        await _forecasted(app)
        await _checked(app)
        await _searched(app)
        _tried(app)
        await pilot.pause()
        return without_fonts(app.export_screenshot(title=f"trainplan-tui {plan.name}"))


async def _forecasted(app: PlanApp) -> None:
    """Wait for the forecast, so that a picture never depends on the speed of the machine that drew it."""
    while app.session.shown.forecast is None:
        await asyncio.sleep(0.05)


async def _checked(app: PlanApp) -> None:
    """Wait for the files beside the plan, where a pane asks for them; the hour of the check is pinned."""
    from dataclasses import replace

    while app.session.dossier is not None and app.session.dossier.at is None:
        await asyncio.sleep(0.05)
    if app.session.dossier is not None:
        app.session.take_dossier(replace(app.session.dossier, at=NOON))
        app.paint()


def _tried(app: PlanApp) -> None:
    """Fixes as they stand once they were tried."""
    app.session.try_fixes()
    app.paint()


async def _searched(app: PlanApp) -> None:
    """Wait for a search, for the same reason."""
    from trainplan_tui.sheets.layouts import LayoutsSheet

    while any(isinstance(sheet, LayoutsSheet) and not sheet.ended for sheet in app.sheets):
        await asyncio.sleep(0.05)


def without_fonts(picture: str) -> str:
    """The picture without fonts that a browser would fetch: a reader's own monospace font draws it."""
    return re.sub(r"@font-face \{.*?\n    \}\n", "", picture, flags=re.S)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
