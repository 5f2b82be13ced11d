"""Checkpoints: their size by recipe, and how long saving stalls training."""

from __future__ import annotations

from trainplan.budgets.model import ModelBudget
from trainplan.budgets.recipe import checkpoint_bytes_per_parameter
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import MeshBudget
from trainplan.formulas import storage as f
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, given, require

HOST_COPY_RATE = given(
    "rate of the copy to host memory", 25e9, "bytes/s", "pinned copy, default", kind="default", verified=False
)
ONE_TABLE = given("embedding tables", 1.0, "1", "plan", kind="file")
TWO_TABLES = given("embedding tables", 2.0, "1", "plan", kind="file")
LIGHT = given("bytes of a weight in a light checkpoint", 2.0, "bytes", "bf16 weights", kind="catalogue")


@record
class CheckpointBudget:
    """Size of one checkpoint and the times that follow from it."""

    parameters: Figure
    checkpoint: Figure
    light_checkpoint: Figure
    checkpoint_stall: Figure
    write_time: Figure
    upload_time: Figure
    restore_time: Figure


def checkpoint_budget(s: Situation, model: ModelBudget, mesh: MeshBudget) -> CheckpointBudget:
    """One full and one weights-only checkpoint; the stall by the plan's mode of saving."""
    tables = ONE_TABLE if s.flag("model.tie_word_embeddings") else TWO_TABLES
    parameters = f.padded_parameters(
        model.parameters, model.padded_vocabulary, s["model.vocab_size"], s["model.hidden_size"], tables
    )
    full = f.checkpoint_bytes(parameters, checkpoint_bytes_per_parameter(s))
    floor = s["storage.checkpoint_floor"]
    write = f.transfer_time(full, s["storage.write_bandwidth"])
    if s.plan.storage.async_checkpoint:
        stall = f.asynchronous_stall(floor, full, mesh.world_size, HOST_COPY_RATE)
    else:
        stall = f.synchronous_stall(floor, full, s["storage.write_bandwidth"])
    return CheckpointBudget(
        parameters=parameters,
        checkpoint=full,
        light_checkpoint=f.checkpoint_bytes(parameters, LIGHT),
        checkpoint_stall=stall,
        write_time=write,
        upload_time=require(
            f.transfer_time(full, s["storage.upload_bandwidth"]), s.plan.storage.upload_bandwidth is not None, "none"
        ),
        restore_time=f.transfer_time(full, s["storage.read_bandwidth"]),
    )
