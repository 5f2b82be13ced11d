"""First useful paint of the app, with figures on screen, against two floors run in turn with it.

Floors: the smallest Textual app, and the smallest Textual app that has built the plan's pydantic models.
Goals: 1.8 and 1.3 times. Prints medians and the ratios pair by pair; those of processor time depend least on what else runs.
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


def measured(code: str, text: str) -> tuple[float, float, float]:
    """Seconds until a program has written a text, seconds of processor until then, MiB that it holds then."""
    program = Program([sys.executable, "-c", code])
    try:
        return program.until(text), *program.spent()
    finally:
        program.end()


def main(rounds: int = 15) -> None:
    """Run all in turn, after one round that is not counted."""
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in RUNS}
    for number in range(rounds + 1):
        for name, (code, text) in RUNS.items():
            one = measured(code, text)
            if number:
                found[name].append(one)
    app = found["trainplan-tui PLAN"]
    for name, ran in found.items():
        seconds, _, held = zip(*ran, strict=True)
        wall, processor = (
            statistics.median(mine[i] / floor[i] for mine, floor in zip(app, ran, strict=True)) for i in (0, 1)
        )
        print(
            f"{name:<40} median {statistics.median(seconds) * 1e3:6.0f} ms, least {min(seconds) * 1e3:6.0f} ms, "
            f"{statistics.median(held):5.1f} MiB; app / this: median {wall:.2f}, of processor time {processor:.2f}"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
