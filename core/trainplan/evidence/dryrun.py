"""The frameworks' own dry runs as commands: the cheapest evidence that there is, printed and never run.

Megatron-LM emulates one rank on one accelerator with a fake process group; torchtitan checks a configuration without
accelerators. What a command measures goes into `memory.calibration` or a pilot.
"""

from __future__ import annotations

from dataclasses import dataclass

from trainplan.estimation import Estimate
from trainplan.quantity.figure import Figure


@dataclass(frozen=True, slots=True)
class DryRun:
    """One command, what it shows, and where the option is documented."""

    command: str
    shows: str
    source: str


def dry_runs(estimate: Estimate) -> list[DryRun]:
    """The commands that the plan's framework has; none where it has none."""
    framework = estimate.plan.training.framework
    if not isinstance(estimate.mesh.world_size, Figure):
        return []
    if framework == "megatron":
        return _megatron(estimate)
    return _torchtitan(estimate) if framework == "torchtitan" else []


def _megatron(estimate: Estimate) -> list[DryRun]:
    """One rank of each kind of stage: the worst by the ledger first, then the ends."""
    world, found = int(estimate.mesh.world_size), list[DryRun]()
    per_stage = world // int(estimate.plan.parallelism.pipeline)
    for stage in _stages(estimate):
        rank = stage * per_stage
        command = (
            f"WORLD_SIZE={world} RANK={rank} LOCAL_RANK=0 MASTER_ADDR=localhost MASTER_PORT=29500 \\\n"
            f"  python pretrain_gpt.py --fake-process-group --train-iters 3 \\\n  {_degrees(estimate)}"
        )
        shows = f"peak memory of pipeline rank {stage} on one accelerator"
        found.append(DryRun(command, shows, "Megatron-LM arguments.py, --fake-process-group; read second-hand"))
    return found


def _stages(estimate: Estimate) -> list[int]:
    memory, last = estimate.memory, int(estimate.plan.parallelism.pipeline) - 1
    worst = int(memory.worst_rank) if isinstance(memory.worst_rank, Figure) else 0
    return list(dict.fromkeys((worst, 0, last)))


def _degrees(estimate: Estimate) -> str:
    parallel, batch = estimate.plan.parallelism, estimate.plan.batch
    words = {
        "tensor-model-parallel-size": int(parallel.tensor),
        "pipeline-model-parallel-size": int(parallel.pipeline),
        "context-parallel-size": int(parallel.context),
        "expert-model-parallel-size": int(parallel.expert),
        "expert-tensor-parallel-size": int(parallel.expert_tensor),
        "micro-batch-size": int(batch.micro_batch_sequences),
    }
    kept = [f"--{name} {value}" for name, value in words.items() if value != 1 or "expert" not in name]
    return " ".join(kept)


def _torchtitan(estimate: Estimate) -> list[DryRun]:
    world = int(estimate.mesh.world_size)
    base = f"NGPU={world} CONFIG_FILE=train.toml ./run_train.sh"
    source = "torchtitan comm.mode; read second-hand"
    return [
        DryRun(
            f"{base} --comm.mode=fake_backend", "the configuration and one rank's shapes, without accelerators", source
        ),
        DryRun(f"{base} --comm.mode=local_tensor", "all ranks in one process", source),
    ]
