"""First useful paint of the app, with figures on screen, against two floors run in turn with it.

Floors: the smallest Textual app, and the smallest Textual app that has built the plan's pydantic models.
Goals: 1.8 and 1.3 times. Prints medians and the ratios pair by pair.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from terminal import Program

ROOT = Path(__file__).resolve().parents[2]
PATHS = f"import sys; sys.path[:0] = [{str(ROOT / 'core')!r}, {str(ROOT / 'tui')!r}]\n"
SMALLEST = """
from textual.app import App
from textual.widgets import Static
class Floor(App):
    def compose(self):
        yield Static("first paint")
Floor().run()
"""
APP = f"from trainplan_tui.cli import main; main([{str(ROOT / 'plans' / 'llama-3.1-8b.toml')!r}])"
RUNS = {
    "smallest Textual app": (PATHS + SMALLEST, "first paint"),
    "the same with the plan's models built": (PATHS + "import trainplan.plan.plan\n" + SMALLEST, "first paint"),
    "trainplan-tui PLAN": (PATHS + APP, "wall time"),
}


def measured(code: str, text: str) -> float:
    """Seconds until a program has written a text."""
    program = Program([sys.executable, "-c", code])
    try:
        return program.until(text)
    finally:
        program.end()


def main(rounds: int = 15) -> None:
    """Run all in turn, after one round that is not counted."""
    times: dict[str, list[float]] = {name: [] for name in RUNS}
    for number in range(rounds + 1):
        for name, (code, text) in RUNS.items():
            seconds = measured(code, text)
            if number:
                times[name].append(seconds)
    app = times["trainplan-tui PLAN"]
    for name, seconds in times.items():
        ratios = [mine / floor for mine, floor in zip(app, seconds, strict=True)]
        print(
            f"{name:<40} median {statistics.median(seconds) * 1e3:6.0f} ms, least {min(seconds) * 1e3:6.0f} ms; "
            f"app / this: median {statistics.median(ratios):.2f}"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
