"""CPU of one estimate, and of one edit from typed text to findings, against tomllib reading the same plan."""

from __future__ import annotations

import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "core"), str(ROOT / "tui")]

from trainplan.checks import findings
from trainplan.estimation import estimate
from trainplan.plan.edit import edited
from trainplan.plan.read import open_plan


def cpu(work: Callable[[], object], times: int = 100) -> float:
    """Milliseconds of CPU of one call: the median of ten batches."""
    work()
    batches: list[float] = []
    for _ in range(10):
        begin = time.process_time()
        for _ in range(times // 10):
            work()
        batches.append((time.process_time() - begin) / (times // 10) * 1e3)
    return sorted(batches)[5]


def main() -> None:
    """Print every example plan."""
    print(f"{'plan':<22}{'tomllib':>10}{'estimate':>10}{'ratio':>8}{'findings':>10}{'edit':>10}   ms of CPU")
    for path in sorted((ROOT / "plans").glob("*.toml")):
        plan = open_plan(path)
        text = plan.source.text
        reading = cpu(lambda text=text: tomllib.loads(text))
        estimating = cpu(lambda plan=plan: estimate(plan.plan))
        figures = estimate(plan.plan)
        checking = cpu(lambda figures=figures: findings(figures))
        editing = cpu(lambda text=text, plan=plan: edited(text, plan.plan, "data.train_tokens", "20T"))
        print(
            f"{path.stem:<22}{reading:>10.2f}{estimating:>10.2f}{estimating / reading:>8.2f}{checking:>10.2f}{editing:>10.2f}"
        )


if __name__ == "__main__":
    main()
