"""CPU of one estimate, and of one edit from typed text to findings, against tomllib reading the same plan.

The least and the median of many; on a busy machine the least is the one to compare. Goals: 2 ms, and 3 ms for the plan of
sixty sources in two stages. Garbage is collected as the app has it.
"""

from __future__ import annotations

import gc
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "core"), str(ROOT / "tui")]

from many_sources import many_sources

from trainplan.checks import findings
from trainplan.estimation import estimate
from trainplan.plan.edit import edited
from trainplan.plan.read import plan_of_text
from trainplan_tui.starting import YOUNG


def cpu(work: Callable[[], object], times: int = 100) -> str:
    """Milliseconds of CPU of one call: the least and the median."""
    work()
    spent: list[float] = []
    for _ in range(times):
        begin = time.process_time()
        work()
        spent.append((time.process_time() - begin) * 1e3)
    spent.sort()
    return f"{spent[0]:>9.2f} {spent[times // 2]:>6.2f}"


def texts() -> dict[str, str]:
    """Every example plan, and one of sixty sources."""
    found = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "plans").glob("*.toml"))}
    return found | {"sixty sources": many_sources()}


def main() -> None:
    """Print every plan."""
    gc.freeze()
    gc.set_threshold(YOUNG)
    print(f"{'plan':<18}{'tomllib':>16}{'estimate':>16}{'findings':>16}{'edit':>16}   ms of CPU, least and median")
    for name, text in texts().items():
        plan = plan_of_text(text, name)
        figures = estimate(plan)
        reading = cpu(lambda text=text: tomllib.loads(text))
        estimating = cpu(lambda plan=plan: estimate(plan))
        checking = cpu(lambda figures=figures: findings(figures))
        editing = cpu(lambda text=text, plan=plan: edited(text, plan, "data.train_tokens", "20T"))
        print(f"{name:<18}{reading}{estimating}{checking}{editing}")


if __name__ == "__main__":
    main()
