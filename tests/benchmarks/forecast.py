"""CPU of a forecast of 10,000 histories of every example plan, numpy imported before; the promise is 300 ms."""

from __future__ import annotations

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "core"), str(ROOT / "tui")]

import numpy as np

from trainplan.estimation import estimate
from trainplan.forecast.finish import forecast
from trainplan.plan.read import open_plan


def main() -> None:
    """Print the median of five for every example plan."""
    print(f"{'plan':<22}{'failures':>10}{'forecast':>10}   ms of CPU, numpy {np.__version__}")
    for path in sorted((ROOT / "plans").glob("*.toml")):
        found = estimate(open_plan(path).plan)
        times: list[float] = []
        for _ in range(6):
            begin = time.process_time()
            forecast(found)
            times.append((time.process_time() - begin) * 1e3)
        failures = float(found.quantities["reliability.expected_failures"])  # type: ignore[arg-type]
        print(f"{path.stem:<22}{failures:>10.1f}{sorted(times[1:])[2]:>10.0f}")


if __name__ == "__main__":
    main()
