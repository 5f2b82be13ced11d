"""How many nodes and accelerators a launch has, as torchrun, the DeepSpeed launcher, srun, accelerate or #SBATCH lines say it.

PyTorch torch/distributed/run.py, DeepSpeed launcher/runner.py, Slurm's sbatch and srun manuals. A scheduler and a launcher that
say different numbers are two sources that differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from trainplan.interop.launchers.options import Option, Token
from trainplan.interop.launchers.telling import Telling

_NODES: Final = ("nnodes", "num_nodes", "nodes", "N", "num_machines")
_DEVICES: Final = ("nproc_per_node", "num_gpus", "gpus_per_node")
_PROCESSES: Final = ("num_processes",)
_TASKS: Final = ("ntasks_per_node",)
"""Tasks are accelerators where there are several on a node: such a launch has one process for each."""
_GRES: Final = re.compile(r"(?:^|,)(?:gres/)?gpu(?::([A-Za-z][\w.-]*))?:(\d+)(?=$|,|\()")
_TIME: Final = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")


def devices(options: Iterable[Option], *, scheduler: bool) -> Telling:
    """Nodes, accelerators of a node, and a scheduler's time limit; every other option of it is without a bearing."""
    t = Telling()
    for option in options:
        token = option.values[0] if option.values else None
        if option.name in (*_NODES, *_DEVICES, *_PROCESSES, *_TASKS):
            _count(t, option, token)
        elif option.name in ("gres", "gpus_per_task") and token is not None and not token.unknown:
            _gres(t, option, token)
        elif scheduler and option.name == "time" and token is not None:
            _limit(t, option, token)
        elif scheduler or option.spelled.startswith("--"):
            t.silent.append(option.spelled)
    return t


def _count(t: Telling, option: Option, token: Token | None) -> None:
    path = "cluster.nodes" if option.name in _NODES else "cluster.accelerators_per_node"
    path = "run.world_size" if option.name in _PROCESSES else path
    path = "run.tasks_per_node" if option.name in _TASKS else path
    if token is None or token.text in ("gpu", "auto"):
        return
    if token.unknown:
        t.notes.append(f"{token.place}: {option.spelled}: {token.unknown}; {path} is left out")
        return
    text = token.text.partition(":")[2] or token.text if option.name == "gpus_per_node" else token.text
    if re.fullmatch(r"\d+:\d+|\d+-\d+", text):
        t.notes.append(f"{token.place}: {option.words} is a range; {path} is left out")
        return
    if not text.isdigit() or not 1 <= int(text[:12]) <= 10**7:
        t.problems.append(f"{token.place}: {option.spelled} is {token.text[:40]!r}. A whole number from 1 is right")
        return
    if token.fallback:
        t.notes.append(
            f"{token.place}: {option.spelled} {text} is what the file takes where ${token.fallback.lstrip('$')} is not set"
        )
    _once(t, path, int(text), option, token)


def _once(t: Telling, path: str, value: int, option: Option, token: Token) -> None:
    before, words = t.said.get(path), f"{option.spelled} {token.text}"
    if before is not None and before.value != value:
        t.problems.append(f"{token.place}: {words}, and {before.words} at {before.place}. Both have to say the same")
        return
    t.say(path, value, token.place, words)


def _gres(t: Telling, option: Option, token: Token) -> None:
    match = _GRES.search(token.text)
    if match is None:
        t.silent.append(option.spelled)
        return
    _once(t, "cluster.accelerators_per_node", int(match[2]), option, token)
    if match[1]:
        t.notes.append(
            f"{token.place}: {option.words} says {match[1]}, which names no entry of the catalogue; set cluster.accelerator"
        )


def _limit(t: Telling, option: Option, token: Token) -> None:
    """`minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours` and so on: sbatch, --time."""
    match = _TIME.fullmatch(token.text)
    if match is None:
        if not token.unknown and token.text not in ("UNLIMITED", "infinite"):
            t.problems.append(f"{token.place}: {option.words}. MINUTES, HH:MM:SS or D-HH:MM:SS is right")
        return
    days, parts = int(match[1] or 0), [int(part) for part in match.groups()[1:] if part is not None]
    if match[1] is not None:
        hours, minutes, seconds = (*parts, 0, 0)[:3]
    elif len(parts) == 3:
        hours, minutes, seconds = parts
    else:
        hours, minutes, seconds = 0, parts[0], (*parts, 0)[1]
    whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if whole:
        t.say("reliability.job_time_limit", spelled_time(whole), token.place, option.words)


def spelled_time(seconds: int) -> str:
    """A time as a plan spells it: `4d 4h`."""
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, rest = divmod(rest, 60)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (rest, "s"))
    return " ".join(f"{number}{unit}" for number, unit in parts if number)
