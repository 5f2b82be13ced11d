"""The search of Megatron-1T on 4,096 A100 with batch 4,096: time, rate and memory, beside the rates of other tools.

Their rates were measured in one process of the same kind of machine, or read where said; ours is the median of five searches
in a process of its own. `models` is the rate through the memory and time models alone, on legal layouts. A plan's name with
`+` is searched with every schedule, whatever the released code of its framework has.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "core")]

import numpy as np

from trainplan.plan.plan import Plan
from trainplan.plan.read import open_plan, plan_of_text
from trainplan.search.columns import Models, chunk, keep_memory
from trainplan.search.searching import legal_pieces, searched

MEGATRON_1T = """format = 1
[model]
num_hidden_layers = 128
hidden_size = 25600
intermediate_size = 102400
num_attention_heads = 160
gated_mlp = false
vocab_size = 51200
[data]
train_tokens = "450B"
sequence_length = 2048
sampler = "megatron-blended"
[batch]
global_batch_sequences = 4096
[cluster]
accelerator = "a100-sxm-80"
nodes = 512
accelerators_per_node = 8
[utilization]
value = 0.4
evidence = "published"
"""

PEERS = (
    ("calculon, megatron-1T 4096 4096 -m -c 1: 7,276,848 configurations, stopped after 12 min", 173.0),
    ("calculon, one feasible configuration after the other", 73.0),
    ("transformer-perf-estimates 1D, 1T on 512 A100", 350.0),
    ("SimuMax, llama-3-8B tp1 pp2", 14.7),
    ("llm-analysis, latency and memory of one layout", 4148.0),
)
"""Layouts a second of other tools on two cores, CPU only."""


def cpu(work: object, times: int = 5) -> float:
    """Seconds of CPU of one call: the median of several."""
    found: list[float] = []
    for _ in range(times):
        begin = time.process_time()
        work()  # type: ignore[operator]
        found.append(time.process_time() - begin)
    return sorted(found)[len(found) // 2]


def models_rate(plan: Plan, *, forks: bool) -> tuple[float, int]:
    """Legal layouts a second through memory and time models, and how many there are."""
    pieces, models = list(legal_pieces(plan, {}, forks=forks)), Models()
    keep_memory()
    legal = sum(int(piece.alive.sum()) for _, piece in pieces)

    def through() -> None:
        with np.errstate(all="ignore"):
            for words, piece in pieces:
                here = chunk(words, piece.columns(), models)
                here.memory()
                here.step()

    return legal / cpu(through), legal


def main() -> None:
    """Print the searches and the peers."""
    plans = {"Megatron-1T, 4,096 A100": plan_of_text(MEGATRON_1T, "megatron-1t.toml")}
    plans |= {path.stem: open_plan(path).plan for path in sorted((ROOT / "plans").glob("*.toml"))}
    print(f"{'plan':<26}{'considered':>14}{'legal':>11}{'fit':>9}{'CPU s':>8}{'considered/s':>15}{'models/s':>12}")
    best = 0.0
    for name, plan in plans.items():
        for forks in (True, False):
            seconds, found = (
                cpu(lambda plan=plan, forks=forks: searched(plan, forks=forks)),
                searched(plan, forks=forks),
            )
            rate, _ = models_rate(plan, forks=forks)
            best, whole = best or rate, found.considered / seconds
            told = f"{name}{' +' if forks else ''}"
            print(
                f"{told:<26}{found.considered:>14,}{found.legal:>11,}{found.fitting:>9,}{seconds:>8.2f}{whole:>15,.0f}{rate:>12,.0f}"
            )
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
    for name, peer in PEERS:
        print(f"{best / peer:>12,.0f} x  {name}: {peer:,.0f}/s")


if __name__ == "__main__":
    main()
