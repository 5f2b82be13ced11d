"""Checkpoints: their size by recipe, and how long saving stalls training."""

from __future__ import annotations

from trainplan.budgets.model import ModelBudget
from trainplan.budgets.recipe import checkpoint_bytes_per_parameter, table_moment_bytes
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import MeshBudget
from trainplan.formulas import storage as f
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, given, require, total

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
    width = model.shape.embedding_width
    parameters = f.padded_parameters(model.parameters, model.padded_vocabulary, s["model.vocab_size"], width, tables)
    full, more = f.checkpoint_bytes(parameters, checkpoint_bytes_per_parameter(s)), table_moment_bytes(s)
    if more is not None:
        full = total(parameters=full, tables=f.saved_tables(model.padded_vocabulary, width, tables, more))
    write = f.transfer_time(full, s["storage.write_bandwidth"])
    return CheckpointBudget(
        parameters=parameters,
        checkpoint=full,
        light_checkpoint=f.checkpoint_bytes(parameters, LIGHT),
        checkpoint_stall=_stall(s, full, mesh.world_size),
        write_time=write,
        upload_time=require(
            f.transfer_time(full, s["storage.upload_bandwidth"]), s.plan.storage.upload_bandwidth is not None, "none"
        ),
        restore_time=f.transfer_time(full, s["storage.read_bandwidth"]),
    )


def _stall(s: Situation, full: Figure, world: Figure) -> Figure:
    """How long a save of so many bytes stalls training on so many accelerators, s."""
    floor = s["storage.checkpoint_floor"]
    if s.plan.storage.async_checkpoint:
        return f.asynchronous_stall(floor, full, world, HOST_COPY_RATE)
    return f.synchronous_stall(floor, full, s["storage.write_bandwidth"])


def stalled(s: Situation, found: CheckpointBudget, world: Figure) -> CheckpointBudget:
    """The same checkpoints saved by another number of accelerators."""
    stall = _stall(s, found.checkpoint, world)
    return CheckpointBudget(
        found.parameters,
        found.checkpoint,
        found.light_checkpoint,
        stall,
        found.write_time,
        found.upload_time,
        found.restore_time,
    )
