"""The resume drill and the dashboards by their logs: steps that go on, samples that rise, equal batches, names that alarms need.

Two logs among the evidence of item resume, in the order of the record: the run before, and the one that resumed. Batch hashes are
compared where both print `batch hash: HEX` beside their step. It refuses to judge numbers of a training.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Final

from trainplan.files.bounded import content
from trainplan.files.looks import Asked, Found, Look

LOGS: Final = (".log", ".out", ".txt")
FILE_LIMIT: Final = 256_000_000  # bytes
_STEP: Final = re.compile(r"\biteration\s+(\d{1,15})\s*/|\bstep:\s*(\d{1,15})\b|\[step=(\d{1,15})/")
_SAMPLES: Final = re.compile(r"consumed samples:\s*(\d{1,18})\b")
_HASH: Final = re.compile(r"batch[ _]hash\W+([0-9a-fA-F]{8,})")
NORM: Final = ("grad norm", "grad_norm", "total grad norm")
SCALE: Final = ("loss scale", "loss_scale")


@dataclass(frozen=True, slots=True)
class Steps:
    """What one log says: its steps in order, samples consumed in order, and batch hashes by step."""

    steps: tuple[int, ...]
    samples: tuple[int, ...]
    hashes: dict[int, str]


def drill_looks(asked: Asked) -> list[Look]:
    """The two logs of the resume drill, the day of the last restore drill, and the names in the dashboards' log."""
    looks, logs = list[Look](), asked.files("resume", *LOGS)
    if len(logs) >= 2:
        before, after = logs[-2:]
        looks.append(Look("resume", f"{before} goes on in {after}", after, lambda: _resumed(asked, before, after)))
    if asked.plan.storage.last_restore_drill is not None and asked.now is not None:
        looks.append(Look("resume", "age of the restore drill", "", lambda: _age(asked)))
    names = asked.files("dashboards", *LOGS)
    return looks + [
        Look("dashboards", f"names in {path}", path, lambda path=path: _names(asked, path)) for path in names
    ]


def steps_of(text: str) -> Steps:
    """The steps of a log of Megatron-LM, torchtitan or OLMo-core."""
    steps, samples, hashes = list[int](), list[int](), dict[int, str]()
    for line in text.splitlines():
        step = _STEP.search(line)
        if step is not None:
            steps.append(int(step[1] or step[2] or step[3]))
            consumed = _SAMPLES.search(line)
            samples += [int(consumed[1])] if consumed else []
        told = _HASH.search(line)
        if told is not None and steps:
            hashes[steps[-1]] = told[1].lower()
    return Steps(tuple(steps), tuple(samples), hashes)


def _read(asked: Asked, path: str) -> str:
    return content(asked.path(path), FILE_LIMIT).decode("utf-8", "replace")


def _resumed(asked: Asked, before: str, after: str) -> Found:
    first, second = steps_of(_read(asked, before)), steps_of(_read(asked, after))
    if not first.steps or not second.steps:
        return "unknown", f"no line of a step in {after if first.steps else before}"
    wrong = _steps_wrong(first, second) or _samples_wrong(first, second)
    if wrong:
        return "failed", wrong
    both = sorted(set(first.hashes) & set(second.hashes))
    other = [step for step in both if first.hashes[step] != second.hashes[step]]
    if other:
        return "failed", f"{len(other)} of {len(both)} batches differ, the first at step {other[0]:,}"
    told = f"step {second.steps[0]:,} after {first.steps[-1]:,}"
    if not both:
        return "unknown", f"{told}; no batch hash is in both, and losses can agree on the wrong data"
    return "passed", f"{told}, {len(both)} batches equal"


def _steps_wrong(first: Steps, second: Steps) -> str:
    start, end = second.steps[0], first.steps[-1]
    if start > end + 1:
        return f"steps {end + 1:,} to {start - 1:,} are in neither log"
    if start <= first.steps[0]:
        return f"the second log begins at step {start:,}: it did not resume"
    falling = [step for step, then in zip(second.steps, second.steps[1:], strict=False) if then < step]
    return f"steps fall after {falling[0]:,}" if falling else ""


def _samples_wrong(first: Steps, second: Steps) -> str:
    for steps in (first, second):
        if any(then < one for one, then in zip(steps.samples, steps.samples[1:], strict=False)):
            return "consumed samples fall"
    if first.samples and second.samples and second.samples[0] <= first.samples[0]:
        return f"consumed samples begin again at {second.samples[0]:,}"
    return ""


def _age(asked: Asked) -> Found | None:
    drill, most = asked.plan.storage.last_restore_drill, int(asked.plan.storage.restore_drill_days)
    if drill is None or asked.now is None:
        return None
    days = (asked.now.date() - drill) // dt.timedelta(days=1)
    if days < 0:
        return "failed", f"storage.last_restore_drill is {drill}, which is in the future"
    return ("passed" if days <= most else "failed"), f"{days} days ago, {most} at most are right"


def _names(asked: Asked, path: str) -> Found:
    text = _read(asked, path).lower()
    if not steps_of(text).steps:
        return "unknown", f"no line of a step in {path}"
    wanted = {"gradient norm": NORM}
    wanted |= {"loss scale": SCALE} if asked.plan.training.precision == "fp16-mixed" else {}
    lacking = [name for name, words in wanted.items() if not any(word in text for word in words)]
    if lacking:
        return "failed", f"{path} has no {' and no '.join(lacking)}"
    return "passed", f"{' and '.join(wanted)} are there"
