"""Change one thing and see what moves: the couplings of the domain notes, section 10, by number, that a plan can express.

Left is edited, right has to move; what has to stay is said too. Not expressible, and why: 10 (a tokenizer is a file, its
counts come in as N_i), 32 and 33 (a revision is no field of the plan), 35 (a resume is no plan), 36 (no seed in the plan).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trainplan.checks import findings
from trainplan.estimation import Estimate, estimate
from trainplan.plan.edit import set_all
from trainplan.plan.read import open_plan
from trainplan.quantity.figure import Blocked

PLANS = Path(__file__).resolve().parents[2] / "plans"
MANY = "batch.global_batch_sequences=8192"
SLOW_UPLOAD = "storage.upload_bandwidth=100MB/s"


@dataclass(frozen=True)
class Coupling:
    """An edit of a plan, what has to move (`key`, `key+` up, `key-` down), and what has to stay."""

    number: str
    edit: tuple[str, ...]
    moves: str
    stays: str = ""
    before: tuple[str, ...] = ()
    plan: str = "llama-3.1-8b"


COUPLINGS = (
    Coupling(
        "1",
        ("data.train_tokens=20T", "data.stages.anneal.until_tokens=20T"),
        "tokens.steps+ compute.training_flops+ compute.wall_time+ compute.cost+ tokens.sources.math.passes+ "
        "storage.checkpoints_written+ reliability.expected_failures+ evaluation.evaluations+ storage.logs+",
        "storage.checkpoint reliability.spares memory.total compute.step_time",
    ),
    Coupling(
        "2",
        ("data.stages.anneal.weights={ web = 0.5, code = 0.2, math = 0.3 }",),
        "tokens.sources.math.passes+ tokens.first_exhausted_at- tokens.effective-",
        "compute.cost",
    ),
    Coupling(
        "3",
        ("data.sources.math.unique_tokens=400B",),
        "tokens.sources.math.passes- storage.dataset+ storage.index+ storage.manifests+ storage.peak+",
        "compute.wall_time",
    ),
    Coupling(
        "4",
        ("data.sequence_length=16384", "batch.global_batch_sequences=4096"),
        "compute.flops_per_token+ memory.activations+ memory.logits+ tokens.microbatches-",
        "tokens.global_batch_tokens tokens.steps",
        before=(MANY,),
    ),
    Coupling(
        "5",
        ("batch.global_batch_sequences=2048",),
        "tokens.steps- tokens.microbatches+ tokens.global_batch_tokens+ compute.step_time+ storage.logs-",
        "compute.training_flops",
    ),
    Coupling(
        "6",
        ("batch.schedule=[{ from_tokens = 0, global_batch_sequences = 512 }]",),
        "tokens.steps compute.step_time",
        plan="llama-3.1-405b",
    ),
    Coupling(
        "7",
        ("batch.micro_batch_sequences=2",),
        "memory.activations+ memory.logits+ tokens.microbatches-",
        before=(MANY,),
    ),
    Coupling(
        "8",
        ("model.hidden_size=5120",),
        "model.parameters+ compute.training_flops+ storage.checkpoint+ storage.checkpoint_stall+ reliability.daly_interval+ "
        "storage.upload_time+ storage.restore_time+ memory.optimizer_states+",
        "reliability.spares reliability.mtbf",
    ),
    Coupling(
        "9",
        ("model.vocab_size=40000",),
        "memory.logits- compute.flops_per_token- storage.token_bytes- storage.dataset- storage.loader_bandwidth",
        before=("!data.bytes_per_token",),
    ),
    Coupling(
        "11", ("model.tie_word_embeddings=true",), "model.parameters- storage.checkpoint-", "compute.training_flops"
    ),
    Coupling("12", ("model.num_key_value_heads=32",), "model.parameters+ compute.flops_per_token+"),
    Coupling(
        "13",
        ("model.moe.num_experts=128", "model.moe.num_experts_per_tok=4"),
        "model.parameters- model.active_parameters- storage.checkpoint- compute.training_flops-",
        plan="deepseek-v3",
    ),
    Coupling(
        "14",
        ("training.precision=fp32",),
        "memory.weights+ memory.optimizer_states storage.checkpoint- compute.peak_flops-",
    ),
    Coupling(
        "15",
        ("training.optimizer=adamw-8bit",),
        "memory.optimizer_states- storage.checkpoint- storage.checkpoint_stall- reliability.daly_interval- memory.total-",
        "compute.training_flops",
    ),
    Coupling(
        "16",
        ("parallelism.recompute=full",),
        "memory.activations- compute.flops_per_token_hardware+ compute.hardware_utilization+",
        "compute.flops_per_token_causal",
    ),
    Coupling(
        "17", ("parallelism.sharding=zero-3",), "memory.weights- memory.total", before=("parallelism.sharding=zero-1",)
    ),
    Coupling(
        "18",
        ("parallelism.tensor=8",),
        "memory.weights- parallelism.data- tokens.microbatches+",
        "parallelism.world_size",
    ),
    Coupling("19", ("parallelism.pipeline=4",), "memory.weights- parallelism.bubble+ parallelism.data-"),
    Coupling(
        "20",
        ("parallelism.virtual_pipeline=4", "parallelism.schedule=interleaved"),
        "parallelism.bubble- memory.activations+ memory.ranks.3.total+",
        before=("parallelism.pipeline=4", MANY),
    ),
    Coupling("21", ("parallelism.context=2",), "memory.activations- parallelism.data-"),
    Coupling("22", ("parallelism.expert=8",), "memory.weights+", before=(), plan="deepseek-v3"),
    Coupling(
        "23",
        ("cluster.nodes=512",),
        "compute.wall_time- reliability.mtbf- reliability.daly_interval- storage.write_rate+ reliability.spares+ "
        "storage.start_up_opens+ parallelism.data+ tokens.microbatches-",
        "storage.checkpoint",
        before=(MANY,),
    ),
    Coupling("23, upload binds", ("cluster.nodes=512",), "!R2", before=(SLOW_UPLOAD, MANY)),
    Coupling(
        "24",
        ("cluster.accelerator=b200-sxm",),
        "compute.peak_flops+ memory.usable+ compute.step_time-",
        "storage.checkpoint",
    ),
    Coupling(
        "25",
        ("storage.upload_bandwidth=1GB/s", "storage.read_bandwidth=1GB/s"),
        "storage.restore_time+ storage.upload_time+",
    ),
    Coupling(
        "26",
        ("reliability.checkpoint_interval=3min",),
        "reliability.lost_work- storage.write_rate+ storage.checkpoints_written+ reliability.slowdown+ compute.wall_time+",
        "reliability.daly_interval",
    ),
    Coupling(
        "27",
        ("storage.async_checkpoint=true",),
        "storage.checkpoint_stall- storage.staging_memory reliability.daly_interval-",
        before=("storage.async_checkpoint=false", "storage.write_bandwidth=1GB/s"),
    ),
    Coupling(
        "28",
        ("storage.keep_full_every=100B",),
        "storage.full_kept+ storage.peak+ storage.checkpoint_files+",
        "compute.cost",
    ),
    Coupling(
        "29",
        ("reliability.failures_per_node_day=0.016",),
        "reliability.mtbf- reliability.daly_interval- reliability.goodput- reliability.spares+ compute.wall_time+ compute.cost+",
        "compute.compute_time",
    ),
    Coupling(
        "30",
        ("evaluation.interval_tokens=100B",),
        "evaluation.evaluations+ evaluation.accelerator_hours+ storage.evaluation_outputs+ compute.cost+ evaluation.share+",
        "compute.wall_time evaluation.time_each",
    ),
    Coupling("30, in the loop", ("evaluation.mode=in-loop",), "compute.wall_time+ evaluation.blocking_time+"),
    Coupling(
        "31",
        ("reliability.job_time_limit=1d",),
        "compute.queue_time+ compute.wall_time+ !R4",
        before=("schedule.queue_gap=2h",),
    ),
    Coupling("34, price", ("cluster.price_per_accelerator_hour=3",), "compute.cost+", "compute.wall_time"),
    Coupling(
        "34, deadline",
        ("schedule.deadline=2026-12-25",),
        "compute.required_utilization+ compute.required_accelerators+",
    ),
)


def edited(plan: str, edits: tuple[str, ...]) -> Estimate:
    """The estimate of a plan after edits; `!PATH` takes a field out of the text."""
    from trainplan.plan.edit import without

    opened = open_plan(PLANS / f"{plan}.toml")
    text, found = opened.source.text, opened.plan
    assignments = [edit for edit in edits if not edit.startswith("!")]
    if assignments:
        change = set_all(text, found, assignments)
        text, found = change.text, change.plan
    for path in (edit[1:] for edit in edits if edit.startswith("!")):
        change = without(text, found, path)
        text, found = change.text, change.plan
    return estimate(found)


def moved(name: str, before: Estimate, after: Estimate) -> None:
    """One right side: it moved, and in the direction that is said."""
    if name.startswith("!"):
        assert name[1:] not in {item.code for item in findings(before)}, name
        assert name[1:] in {item.code for item in findings(after)}, name
        return
    key, sign = (name[:-1], name[-1]) if name[-1] in "+-" else (name, "")
    old, new = before.quantities[key], after.quantities[key]
    assert isinstance(new, Blocked) is False or sign == "", f"{key} is {new!r}"
    assert value(old) != value(new), f"{key} stays at {old!r}"
    if sign:
        assert (float(new) > float(old)) == (sign == "+"), f"{key} went from {old!r} to {new!r}"  # type: ignore[arg-type]


def value(item: Any) -> object:
    return item.code if isinstance(item, Blocked) else float(item)


@pytest.mark.parametrize("coupling", COUPLINGS, ids=lambda coupling: coupling.number)
def test_left_side_moves_the_right_side(coupling: Coupling) -> None:
    start = coupling.before
    before = edited(coupling.plan, start)
    after = edited(coupling.plan, (*start, *coupling.edit))
    for name in coupling.moves.split():
        moved(name, before, after)
    for key in coupling.stays.split():
        assert value(before.quantities[key]) == value(after.quantities[key]), f"{key} moved"


def test_every_coupling_that_a_plan_can_express_is_here() -> None:
    numbers = {int(coupling.number.split(",")[0]) for coupling in COUPLINGS}
    assert numbers == set(range(1, 37)) - {10, 32, 33, 35, 36}
