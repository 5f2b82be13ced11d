"""An sbatch script of a run: nodes, time limit, signal before the limit, requeue, one task a node, torchrun.

It is text: nothing here submits it. The training program and what a plan does not say come from the environment of the job,
and the script stops with a sentence where they are missing.
"""

from __future__ import annotations

import math
import re
from typing import Final

from trainplan.budgets.reliability import job_time, jobs
from trainplan.estimation import Estimate
from trainplan.formulas import reliability as f
from trainplan.interop.export.megatron import FUSED_MLP, SAID, argument_lines, fuses, megatron_arguments
from trainplan.interop.export.run import ExportError, Run, heading, not_said, whole, whole_run, why
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import numbered

MOST_GRACE: Final = 65_535  # s, the most that --signal of sbatch takes
ARRAY_LIMIT: Final = 1_000  # jobs; Slurm's default MaxArraySize is 1001


def sbatch_script(estimate: Estimate) -> str:
    """The script of a plan's full run with its line end. Raises ExportError where the plan cannot say what Slurm needs."""
    return slurm_text(whole_run(estimate))


def slurm_text(run: Run) -> str:
    """The script of a run with its line end. Raises ExportError where the plan cannot say what Slurm needs."""
    estimate = run.estimate
    accelerator = estimate.plan.cluster.accelerator or ""
    if accelerator.startswith(("tpu", "trn", "gaudi")):
        raise ExportError(f"cluster.accelerator is {accelerator}; Slurm scripts are written for GPUs")
    lines = [
        "#!/bin/bash",
        *_options(run),
        "",
        *_heading(run),
        "",
        *_environment(estimate),
        *_launch(run),
    ]
    return "\n".join(lines) + "\n"


def grace(estimate: Estimate) -> int:
    """Seconds between the signal and the limit: two steps and two checkpoint stalls, one minute at least."""
    step, stall = _longest_step(estimate), _known(estimate, "storage.checkpoint_stall")
    found = math.ceil(f.grace(step, stall))
    if found > MOST_GRACE:
        raise ExportError(f"two steps and two saves take {found:,} s; Slurm signals {MOST_GRACE:,} s ahead at most")
    return found


def segments(estimate: Estimate) -> int:
    """Jobs that the run takes under its time limit, each losing the grace and one restart; 1 without a limit.

    What lies between them, waits and planned downtime, is none of theirs.
    """
    if estimate.plan.reliability.job_time_limit is None:
        return 1
    step, stall = _longest_step(estimate), _known(estimate, "storage.checkpoint_stall")
    if job_time(estimate.situation, step, stall) <= 0.0:
        raise ExportError("reliability.job_time_limit is shorter than the restart and the grace before the limit")
    parts = (
        _known(estimate, key) for key in ("compute.compute_time", "reliability.slowdown", "evaluation.blocking_time")
    )
    return int(jobs(estimate.situation, f.busy_time(*parts), step, stall))


def _longest_step(estimate: Estimate) -> Figure:
    """Time of a step in the stage where it is longest; raises ExportError where one is blocked."""
    _known(estimate, "compute.step_time")
    value = estimate.speed.longest_step
    if not isinstance(value, Figure):
        raise ExportError(f"the time of a step of a stage cannot be told: {why(estimate, value)}")
    return value


def _known(estimate: Estimate, key: str) -> Figure:
    value = estimate.quantities[key]
    if not isinstance(value, Figure):
        raise ExportError(f"{key} cannot be told: {why(estimate, value)}")
    return value


def _options(run: Run) -> list[str]:
    estimate = run.estimate
    limit, jobs = estimate.plan.reliability.job_time_limit, 1 if run.rung else segments(estimate)
    if jobs > ARRAY_LIMIT:
        raise ExportError(f"the time limit cuts the run into {jobs:,} jobs; {ARRAY_LIMIT:,} are written at most")
    options = [
        f"--job-name={_slug(' '.join(word for word in (run.plan.name or 'trainplan', run.rung) if word))}",
        f"--nodes={whole(estimate, 'cluster.nodes')}",
        "--ntasks-per-node=1",
        f"--gres=gpu:{whole(estimate, 'cluster.accelerators_per_node')}",
        *(["--exclusive"] if whole(estimate, "parallelism.world_size") > 1 else []),
        "--hint=nomultithread",
        *([f"--time={_clock(float(limit))}"] if limit else []),
        f"--signal={'TERM' if _megatron(estimate) else 'USR1'}@{grace(estimate)}",
        "--requeue",
        "--open-mode=append",
        *([f"--array=1-{jobs}%1"] if jobs > 1 else []),
        f"--output={'%x-%A_%a' if jobs > 1 else '%x-%j'}.out",
    ]
    return [f"#SBATCH {option}" for option in options]


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.")[:60] or "trainplan"


def _clock(seconds: float) -> str:
    """`D-HH:MM:SS`, rounded down to whole minutes as Slurm counts, one minute at least."""
    minutes = max(1, int(seconds // 60))
    return f"{minutes // 1440}-{minutes // 60 % 24:02d}:{minutes % 60:02d}:00"


def _heading(run: Run) -> list[str]:
    estimate = run.estimate
    lines = [*heading(run), *not_said(run, SAID if _megatron(estimate) else (), "for whoever launches")]
    devices = numbered(whole(estimate, "parallelism.world_size"), "accelerator")
    return [
        *(f"# {line}" for line in lines),
        f"# {devices}; the signal comes {grace(estimate)} s before the limit: two steps and two saves",
        "# not in a plan: learning rate, rotary base, norm epsilon, data path, account, partition, reservation",
    ]


def _environment(estimate: Estimate) -> list[str]:
    fsdp = estimate.situation.word("parallelism.sharding") in ("zero-2", "zero-3", "hsdp")
    one = ["export CUDA_DEVICE_MAX_CONNECTIONS=1"] if estimate.plan.parallelism.tensor > 1 and not fsdp else []
    return [
        "set -euo pipefail",
        ': "${TRAIN_PROGRAM:?set it to the training program, such as pretrain_gpt.py}"',
        *one,
        *([f"export {FUSED_MLP}"] if fuses(estimate) else []),
        "export PYTORCH_ALLOC_CONF=expandable_segments:True",
        'head_node=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
        "",
    ]


def _launch(run: Run) -> list[str]:
    estimate = run.estimate
    words = [
        "srun --kill-on-bad-exit=1 --wait=60",
        f"torchrun --nnodes={whole(estimate, 'cluster.nodes')} "
        f"--nproc-per-node={whole(estimate, 'cluster.accelerators_per_node')} --max-restarts=0",
        '--rdzv-backend=c10d --rdzv-endpoint="$head_node:29500" --rdzv-id="$SLURM_JOB_ID"',
        '"$TRAIN_PROGRAM"',
        *(argument_lines(megatron_arguments(estimate, run.stop_after)) if _megatron(estimate) else []),
    ]
    return [f"{'  ' if place else ''}{word} \\" for place, word in enumerate(words)] + ["  ${TRAIN_ARGUMENTS:-}"]


def _megatron(estimate: Estimate) -> bool:
    """Whether the program is Megatron, whose `--exit-signal-handler` saves on SIGTERM."""
    return estimate.situation.word("training.framework") == "megatron"
