"""What fills the file system, row by row, and the most of it at once; what loaders and start-up ask of it.

Data and indices stand from the first step; checkpoints, logs and outputs grow. It knows no other user of the system.
"""

from __future__ import annotations

import datetime as dt

from trainplan.budgets.compute import Throughput
from trainplan.budgets.evaluation import EvaluationBudget
from trainplan.budgets.mixture import MixtureBudget, SourceBudget
from trainplan.budgets.reliability import ReliabilityBudget
from trainplan.budgets.situation import Situation
from trainplan.budgets.storage import CheckpointBudget
from trainplan.budgets.tokens import MeshBudget, TokenBudget
from trainplan.formulas import storage as f
from trainplan.frozen import record
from trainplan.plan.tables import Source
from trainplan.quantity.figure import Blocked, Figure, blocked, given, total_of
from trainplan.quantity.formula import named_sum


def _judged(name: str, value: float, unit: str, source: str) -> Figure:
    return given(name, value, unit, source, kind="default", verified=False)


LENGTH = _judged("tokens of a document, where a source gives none", 1000.0, "tokens", "default, not measured")
SHARD = _judged("bytes of a token shard", 1e9, "bytes", "default, not measured")
LINE = _judged("bytes of a manifest's line", 256.0, "bytes", "path, size and checksum")
ENTRY = _judged("bytes of a tokenizer's entry", 64.0, "bytes", "text, number and merge")
RANK_STATE = _judged("bytes of a rank's state", 16e3, "bytes", "random states of PyTorch, NumPy and Python, with room")
LOG_LINE = _judged("bytes of a log line", 300.0, "bytes", "section 5.2 of the research notes")
OUTPUT = _judged("bytes of an item's output", 2000.0, "bytes", "section 5.2 of the research notes")
OPENS = given("files opened by a rank", 2339.0, "1", "ml-engineering storage chapter: import torch", kind="published")
RANK_FILES = _judged("files of a rank in a checkpoint", 2.0, "1", "Megatron-LM asynchronous writer")
STAGING = _judged("host copies of a staged checkpoint", 4.0, "1", "marin pull request 8469")
NONE = given("no checkpoints kept for good", 0.0, "1", "plan file: no rule", kind="file")
NO_UPLOAD = given("no upload", 0.0, "1", "plan file: no upload bandwidth", kind="file")
EMPTY = given("nothing", 0.0, "bytes", "definition", kind="file")
CHECKPOINTS = named_sum("1", "kept", "local")
SMALL_VOCABULARY = 65_500
"""Megatron's bound below which a token takes two bytes."""


@record
class SpaceBudget:
    """Bytes of everything on the file system, counts of checkpoints, and the rates that it has to carry."""

    raw: Figure
    dataset: Figure
    index: Figure
    manifests: Figure
    full_kept: Figure
    light_kept: Figure
    local: Figure
    loader_state: Figure
    logs: Figure
    evaluation_outputs: Figure
    peak: Figure
    usable: Figure
    filled_share: Figure
    needed_capacity: Figure
    full_count: Figure
    light_count: Figure
    local_count: Figure
    backlog: Figure
    checkpoints_written: Figure
    checkpoint_files: Figure
    write_rate: Figure
    loader_bandwidth: Figure
    start_up_opens: Figure
    staging_memory: Figure
    restore_drill_age: Figure
    token_bytes: Figure


@record
class Run:
    """The budgets that fill the file system."""

    tokens: TokenBudget
    mixture: MixtureBudget
    speed: Throughput
    mesh: MeshBudget
    checkpoint: CheckpointBudget
    faults: ReliabilityBudget
    evaluation: EvaluationBudget


@record
class _Kept:
    """Counts of checkpoints on the file system."""

    full: Figure
    light: Figure
    backlog: Figure
    local: Figure


def space_budget(s: Situation, run: Run, today: dt.date | None) -> SpaceBudget:
    """Space of one plan. Without a capacity there is no verdict, and the rest follows."""
    width = bytes_per_token(s)
    parts, kept = _data(s, run, width), _kept(s, run)
    parts |= _grown(s, run, kept)
    peak = total_of(parts)
    usable = f.usable_space(s["storage.capacity"], s["storage.usable_fraction"])
    world, checkpoint, interval = run.mesh.world_size, run.checkpoint.checkpoint, run.faults.interval
    return SpaceBudget(
        **parts,
        peak=peak,
        usable=usable,
        filled_share=f.filled_share(peak, usable),
        needed_capacity=f.needed_capacity(peak, s["storage.usable_fraction"]),
        full_count=kept.full,
        light_count=kept.light,
        local_count=kept.local,
        backlog=kept.backlog,
        checkpoints_written=f.checkpoints_written(run.speed.compute_time, interval),
        checkpoint_files=f.checkpoint_files(world, RANK_FILES, CHECKPOINTS(kept=kept.full, local=kept.local)),
        write_rate=f.mean_write_rate(checkpoint, interval),
        loader_bandwidth=f.loader_bandwidth(world, _fastest(run.speed), width),
        start_up_opens=f.start_up_opens(world, OPENS),
        staging_memory=_staging(s, checkpoint),
        restore_drill_age=_drill_age(s, today),
        token_bytes=width,
    )


def bytes_per_token(s: Situation) -> Figure:
    """Bytes of a token in the shards: the plan's own, else 2 below a vocabulary of 65,500 and 4 from there on."""
    if s.written("data.bytes_per_token"):
        return s["data.bytes_per_token"]
    vocabulary = s["model.vocab_size"]
    if isinstance(vocabulary, Blocked):
        return blocked(vocabulary.code, "bytes")
    value = 2.0 if vocabulary < SMALL_VOCABULARY else 4.0
    source = "Megatron-LM indexed_dataset.py optimal_dtype, by the vocabulary"
    return given("data.bytes_per_token", value, "bytes", source, kind="default", is_field=True)


def _fastest(speed: Throughput) -> Figure:
    """Tokens a second of one accelerator in the stage that reads fastest, which the file system has to feed."""
    told = [one for one in reversed(speed.rates) if isinstance(one, Figure)]
    return max(told) if len(told) == len(speed.rates) else speed.tokens_per_second_per_accelerator


def _data(s: Situation, run: Run, width: Figure) -> dict[str, Figure]:
    """What stands there from the first step."""
    dataset = f.shard_bytes(run.mixture.unique, width, s["storage.processed_copies"])
    return {
        "raw": s["storage.raw_data"],
        "dataset": dataset,
        "index": _index(s, run),
        "manifests": f.manifest_bytes(dataset, SHARD, LINE, s["model.vocab_size"], ENTRY),
    }


def _kept(s: Situation, run: Run) -> _Kept:
    upload = run.checkpoint.upload_time
    waits = s.plan.storage.upload_bandwidth is not None
    backlog = f.upload_backlog(upload, run.faults.interval) if waits else NO_UPLOAD
    local = f.local_count(s["storage.keep_full_local"], backlog)
    return _Kept(_count(s, "storage.keep_full_every"), _count(s, "storage.keep_light_every"), backlog, local)


def _count(s: Situation, path: str) -> Figure:
    return f.kept_count(s["data.train_tokens"], s[path]) if s.written(path) else NONE


def _grown(s: Situation, run: Run, kept: _Kept) -> dict[str, Figure]:
    """What is there by the end of the run."""
    checkpoint = run.checkpoint.checkpoint
    held = CHECKPOINTS(kept=kept.full, local=kept.local)
    rows = run.evaluation.rows
    items = total_of({row.name: row.items for row in rows}) if rows else NONE
    return {
        "full_kept": f.copies_bytes(kept.full, checkpoint),
        "light_kept": f.copies_bytes(kept.light, run.checkpoint.light_checkpoint),
        "local": f.copies_bytes(kept.local, checkpoint),
        "loader_state": f.rank_state_bytes(run.mesh.world_size, RANK_STATE, held),
        "logs": f.log_bytes(run.tokens.steps, LOG_LINE),
        "evaluation_outputs": f.output_bytes(run.evaluation.evaluations, items, OUTPUT) if rows else EMPTY,
    }


def _index(s: Situation, run: Run) -> Figure:
    """Indices of every source, and Megatron's caches where its sampler builds them."""
    rows, sources = run.mixture.rows, s.plan.data.sources
    if not rows:
        return blocked("missing:data.sources", "bytes")
    documents = [_documents(s, i, row, source) for i, (row, source) in enumerate(zip(rows, sources, strict=True))]
    if not (s.plan.data.sampler or "").startswith("megatron"):
        return total_of(
            {f"{row.name} index": f.offset_index(count) for row, count in zip(rows, documents, strict=True)}
        )
    sequences = run.tokens.sequences
    parts: dict[str, Figure] = {}
    for row, count in zip(rows, documents, strict=True):
        parts[f"{row.name} index"] = f.megatron_index(count)
        if row.epochs is not None:
            parts[f"{row.name} cache"] = f.megatron_cache(count, row.epochs, sequences, row.share)
    if len(rows) > 1:
        parts["mixture"] = f.megatron_blend(sequences)
    return total_of(parts)


def _documents(s: Situation, place: int, row: SourceBudget, source: Source) -> Figure:
    if source.document_lengths is not None:
        count, path = float(sum(documents for _, documents in source.document_lengths)), f"data.sources.{row.name}"
        return given(f"{path}.document_lengths", count, "1", "plan file", kind="file", is_field=True)
    if source.documents is not None:
        return s.of_sources("documents", "1")[place]
    return f.document_count(row.unique, LENGTH if source.mean_document_tokens is None else row.length)


def _staging(s: Situation, checkpoint: Figure) -> Figure:
    if not s.plan.storage.async_checkpoint:
        return blocked("none", "bytes")
    return f.staging_memory(checkpoint, s["cluster.nodes"], STAGING)


def _drill_age(s: Situation, today: dt.date | None) -> Figure:
    drill = s.plan.storage.last_restore_drill
    if drill is None or today is None:
        return blocked("none", "s")
    if drill > today:
        return blocked("S10", "s")
    seconds = float((today - drill).days) * 86400.0
    source = f"plan file, {drill.isoformat()}, and today"
    return given("storage.last_restore_drill", seconds, "s", source, kind="file", is_field=True)
