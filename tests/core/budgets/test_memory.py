"""The ledger's parts: recipes of states, schedules, stages, loss kernels, offload, the band, and what blocks it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trainplan.budgets.memory.instants import Instant
from trainplan.budgets.memory.start import held_again
from trainplan.checks.resume import resume_fits
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.formulas import memory_work as f
from trainplan.quantity.figure import Blocked, Choice, Figure
from trainplan.views.explain import meaning

Varied = Callable[..., Estimate]


def each(estimate: Estimate, name: str) -> float:
    """Bytes a parameter of a category on the one rank of the small plan, when backward has ended."""
    return float(at(estimate, "end of backward").parts[name]) / float(estimate.model.parameters)


def at(estimate: Estimate, instant: str, rank: int = 0) -> Instant:
    """A named instant of a rank, a restore among them."""
    here = estimate.memory.table[rank]
    return next(one for one in (*here.instants, here.restoring) if one.name == instant)


@pytest.mark.parametrize(
    ("assignments", "weights", "gradients", "optimizer"),
    [
        ((), 2, 4, 12 / 16),
        (("parallelism.sharding=none",), 2, 4, 12),
        (("parallelism.sharding=none", "training.precision=fp32"), 4, 4, 8),
        (("training.precision=fp32",), 4, 4, 8 / 16),
        (("training.precision=fp16-mixed",), 2, 2, 16 / 16),
        (("training.precision=fp16-mixed", "parallelism.sharding=none"), 2, 2, 16),
        (("training.precision=bf16-pure", "training.moment_dtype=bf16"), 2, 2, 4 / 16),
        (("training.gradient_dtype=bf16", "training.moment_dtype=bf16"), 2, 2, 8 / 16),
        (("training.optimizer=adamw-8bit",), 2, 4, 6 / 16),
        (("training.optimizer=muon",), 2, 4, 8 / 16),
        (("training.optimizer=adafactor",), 2, 4, 8 / 16),
        (("training.optimizer=lion",), 2, 4, 8 / 16),
        (("training.optimizer=sgd-momentum",), 2, 4, 8 / 16),
        (("training.optimizer_offload=true",), 2, 4, 0),
        (("training.framework=deepspeed", "training.precision=fp16-mixed"), 2, 2, 16 / 16),
        (("training.framework=deepspeed",), 2, 6, 12 / 16),
        (("training.framework=deepspeed", "parallelism.sharding=zero-2"), 2, 2 / 16, 12 / 16),
        (("training.framework=deepspeed", "parallelism.sharding=zero-3"), 2 / 16, 2 / 16, 12 / 16),
        (("training.framework=torchtitan",), 4 / 16, 4 / 16, 8 / 16),
        (("training.framework=torchtitan", "training.moment_dtype=bf16"), 4 / 16, 4 / 16, 4 / 16),
        (
            ("training.framework=torchtitan", "training.precision=bf16-pure", "training.moment_dtype=bf16"),
            2 / 16,
            2 / 16,
            4 / 16,
        ),
        (("training.framework=fsdp", "parallelism.sharding=zero-2"), 2 + 4 / 16, 4 / 16, 8 / 16),
        (("training.framework=fsdp", "training.gradient_accumulation=full"), 4 / 16, 4, 8 / 16),
        (("parallelism.sharding=hsdp", "parallelism.shard_size=8"), 2 / 8, 4 / 8, 12 / 8),
    ],
)
def test_states_by_recipe(
    varied: Varied, assignments: tuple[str, ...], weights: float, gradients: float, optimizer: float
) -> None:
    """16 accelerators share what is sharded. Vocabulary 1,024 needs no padding."""
    made = varied(*assignments)
    found = each(made, "weights"), each(made, "gradients"), each(made, "optimizer_states")
    assert found == pytest.approx((weights, gradients, optimizer), rel=1e-12)


@pytest.mark.parametrize(
    ("assignments", "gradients"),
    [
        (("parallelism.sharding=zero-2",), 8 / 16),
        (("parallelism.sharding=zero-3",), 8 / 16),
        (("parallelism.sharding=zero-1",), 6),
        (("parallelism.sharding=zero-2", "training.optimizer_offload=true"), 2 / 16),
    ],
)
def test_deepspeed_copies_its_shard_of_gradients_in_the_step(
    varied: Varied, assignments: tuple[str, ...], gradients: float
) -> None:
    """DeepSpeed edaa722, stage_1_and_2.py: flat in bf16 and in fp32 beside the reduced ones; BF16_Optimizer has fp32 for good."""
    made = varied("training.framework=deepspeed", *assignments)
    step = float(at(made, "optimizer step").parts["gradients"]) / float(made.model.parameters)
    assert step == pytest.approx(gradients, rel=1e-12)


def test_full_gradients_need_more_than_one_microbatch(varied: Varied) -> None:
    one = varied("training.framework=fsdp", "training.gradient_accumulation=full", "batch.global_batch_sequences=16")
    assert each(one, "gradients") == pytest.approx(4 / 16)


def in_flight(estimate: Estimate) -> list[float]:
    """Activations at the loss over those of the last rank's layers, a microbatch at a time."""
    found = [next(one for one in rank.instants if one.name == "loss") for rank in estimate.memory.table]
    return [float(one.parts["activations"]) for one in found]


LAID = ("model.num_hidden_layers=16", "parallelism.pipeline=4", "cluster.nodes=4")


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("gpipe", [128, 128, 128]),
        ("1f1b", [4, 3, 2]),
        ("zb-h1", [4, 3, 2]),
        ("zb-h2", [7, 5, 3]),
    ],
)
def test_microbatches_in_flight(varied: Varied, schedule: str, expected: list[int]) -> None:
    """Ranks but the last, whose final norm is apart; 1,024 sequences over 8 replicas are 128 microbatches."""
    made = varied(*LAID, f"parallelism.schedule={schedule}")
    one = in_flight(varied(*LAID))[0] / 4
    assert [value / one for value in in_flight(made)[:3]] == pytest.approx(expected)


def test_interleaving_keeps_more_on_the_first_rank(varied: Varied) -> None:
    """p (1 + (p-1)/(p v)): 4 x (1 + 3/8) = 5.5 with two chunks."""
    one = in_flight(varied(*LAID))[0] / 4
    assert in_flight(varied(*LAID, "parallelism.virtual_pipeline=2"))[0] / one == pytest.approx(5.5)
    named = varied(*LAID, "parallelism.schedule=interleaved", "parallelism.virtual_pipeline=2")
    assert in_flight(named)[0] / one == pytest.approx(5.5)
    assert f.one_forward_one_backward(128.0, 4.0, 2.0, 0.0) == pytest.approx(4 * (1 + 3 / 8))


@pytest.mark.parametrize(
    ("assignments", "expected"),
    [
        ((), 3 / 128),
        (("parallelism.schedule=gpipe",), 3 / 128),
        (("parallelism.virtual_pipeline=2",), 3 / 256),
        (("parallelism.schedule=interleaved", "parallelism.virtual_pipeline=4"), 3 / 512),
        (("parallelism.schedule=zb-h1",), 1 / 128),
        (("parallelism.schedule=zb-h2",), 0),
        (("parallelism.schedule=zb-v",), 0),
        (("parallelism.schedule=dualpipe",), 2 / 3 / 128),
    ],
)
def test_the_bubble_by_schedule(varied: Varied, assignments: tuple[str, ...], expected: float) -> None:
    """Four stages, 128 microbatches: (p-1)/m, over v, a third, nothing, or DualPipe's (p/2 - 1) x 2/3 of one."""
    assert varied(*LAID, *assignments).figure("parallelism.bubble") == pytest.approx(expected)


def test_v_shaped_schedules_hold_both_ends_on_the_first_rank(varied: Varied) -> None:
    made = varied(*LAID, "parallelism.schedule=zb-v", "model.vocab_size=32000")
    first, *others = (float(rank.worst.parts["weights"]) for rank in made.memory.table)
    assert all(first > other for other in others)
    dual = varied(*LAID, "parallelism.schedule=dualpipe", "model.vocab_size=32000")
    ends = [float(rank.worst.parts["weights"]) for rank in dual.memory.table]
    assert ends[0] == ends[3] > ends[1] == ends[2]


def test_stages_that_count_embedding_and_head_as_layers(varied: Varied) -> None:
    """14 layers over 4 stages: 3, 4, 4, 3; and as the plan says where it does."""
    held = [
        float(rank.worst.parts["optimizer_states"])
        for rank in varied("model.num_hidden_layers=14", *LAID[1:], "model.vocab_size=128").memory.table
    ]
    assert held[1] == held[2] > held[0]
    uneven = varied(
        "model.num_hidden_layers=16", *LAID[1:], "parallelism.first_stage_layers=1", "parallelism.last_stage_layers=1"
    )
    found = in_flight(uneven)
    assert found[1] / found[0] == pytest.approx(7 * 3 / 4)


def test_a_tied_head_is_a_second_copy_on_the_last_rank(varied: Varied) -> None:
    tied = ("model.tie_word_embeddings=true", "model.vocab_size=32000")
    alone, laid = varied(*tied), varied(*tied, *LAID)
    table = 32000 * 64 * 2.0
    assert float(alone.memory.table[0].worst.parts["weights"]) == pytest.approx(2.0 * alone.model.parameters, rel=0.01)
    assert float(laid.memory.table[3].worst.parts["weights"]) > table


def logits(made: Estimate) -> float:
    """Bytes of the logits at the loss of the first rank."""
    return float(at(made, "loss").parts["logits"])


@pytest.mark.parametrize(
    ("framework", "kernel", "bytes_of_a_logit"),
    [
        ("fsdp", "plain", 12),
        ("fsdp", "compiled", 4),
        ("fsdp", "fused", 4),
        ("fsdp", "chunked", 12 / 4),
        ("megatron", "plain", 6),
        ("megatron", "fused", 6),
        ("megatron", "fused-in-place", 2),
        ("deepspeed", "fused", 4),
        ("maxtext", "chunked", 1.5),
    ],
)
def test_logits_by_loss_kernel(varied: Varied, framework: str, kernel: str, bytes_of_a_logit: float) -> None:
    """1,024 tokens x 1,024 rows; the head's input gradient lives on beside logits, or is made chunk by chunk."""
    made = varied(f"training.framework={framework}", f"training.loss={kernel}")
    gone = kernel == "plain" or (framework, kernel) == ("megatron", "fused")
    assert logits(made) == 1024 * 1024 * bytes_of_a_logit + (0.0 if gone else 2.0 * 1024 * 64)


def test_megatron_copies_no_logit_that_is_fp32_already(varied: Varied) -> None:
    """Megatron-LM d98e8a6, core/tensor_parallel/cross_entropy.py: the cast returns what it was given, and all else is in place."""
    assert logits(varied("training.precision=fp32", "training.loss=plain")) == 1024 * 1024 * 4


@pytest.mark.parametrize(("kernel", "copies"), [("fused-in-place", 1), ("compiled", 2)])
def test_logits_of_a_fused_loss_are_in_the_compute_type(varied: Varied, kernel: str, copies: int) -> None:
    """Section 3.4 of the memory study counts copies of 2 bytes; in fp32 one is 4, as the same logits are at Megatron's own loss."""
    for precision, width in (("bf16-mixed", 2), ("fp32", 4)):
        found = varied(f"training.precision={precision}", f"training.loss={kernel}")
        assert logits(found) == 1024 * width * (1024 * copies + 64)


@pytest.mark.parametrize(("framework", "shared", "whole"), [("torchtitan", 16, 12), ("megatron", 6, 6)])
def test_logits_over_tensor_ranks(varied: Varied, framework: str, shared: int, whole: int) -> None:
    """The head's split divides them; a plain loss over DTensor needs 16 bytes, Megatron's steps no more than on one rank."""
    laid = (
        f"training.framework={framework}",
        "parallelism.tensor=4",
        "model.vocab_size=2048",
        "training.loss=plain",
    )
    found = [logits(varied(*laid)), logits(varied(*laid, "training.head=gathered"))]
    assert found == [1024 * 2048 / 4 * shared, 1024 * 2048 * whole]


def test_offloaded_activations(varied: Varied) -> None:
    deep = ("model.num_hidden_layers=64",)
    held, moved = varied(*deep).memory.activations, varied(*deep, "training.activation_offload=true").memory.activations
    assert moved == pytest.approx(held * 2 / 64, rel=0.05)


def test_calibration_moves_the_total_and_not_the_tensors(varied: Varied) -> None:
    plain, measured = varied().memory, varied("memory.calibration=1.1").memory
    assert measured.total == pytest.approx(1.1 * plain.total)
    assert measured.allocated == plain.allocated
    assert measured.fragmentation_runtime > plain.fragmentation_runtime


@pytest.mark.parametrize(
    ("assignments", "low", "high"),
    [
        ((), 0.90, 1.10),
        (("training.framework=torchtitan",), 0.90, 1.35),
        (("training.framework=torchtitan", "training.kernels=torch-compile", "training.loss=compiled"), 0.90, 1.10),
        (
            (
                "training.framework=fsdp",
                "training.kernels=torch-eager",
                "training.loss=fused",
                "parallelism.tensor=2",
            ),
            0.80,
            1.20,
        ),
    ],
)
def test_the_band_is_wider_where_less_is_said(
    varied: Varied, assignments: tuple[str, ...], low: float, high: float
) -> None:
    memory = varied(*assignments).memory
    assert (memory.total_low / memory.total, memory.total_high / memory.total) == pytest.approx((low, high))


def test_worst_rank_and_instant(varied: Varied) -> None:
    memory = varied(*LAID).memory
    assert isinstance(memory.worst_instant, Choice)
    assert memory.worst_rank == min(
        rank.rank for rank in memory.table if rank.total == max(one.total for one in memory.table)
    )
    assert memory.table[int(memory.worst_rank)].worst.name == memory.worst_instant


@pytest.mark.parametrize(
    ("assignments", "left_out", "code"),
    [
        (("parallelism.pipeline=3",), (), "G1"),
        (("batch.global_batch_sequences=1023", "parallelism.pipeline=2"), (), "G2"),
        (("parallelism.pipeline=16",), (), "G4"),
        ((), ("model.hidden_size",), "missing:model.hidden_size"),
        (("parallelism.sharding=hsdp",), (), "missing:parallelism.shard_size"),
        ((), ("cluster.nodes",), "missing:cluster.nodes"),
    ],
)
def test_what_blocks_the_ledger(
    varied: Varied, assignments: tuple[str, ...], left_out: tuple[str, ...], code: str
) -> None:
    memory = varied(*assignments, left_out=left_out).memory
    for figure in (memory.total, memory.weights, memory.worst_rank, memory.worst_instant, memory.headroom):
        assert isinstance(figure, Blocked)
        assert figure.code == code


def test_usable_stands_where_the_ledger_does_not(varied: Varied) -> None:
    made = varied(left_out=("model.hidden_size",))
    assert isinstance(made.figure("memory.usable"), Figure)


def test_in_loop_evaluation_is_an_instant(varied: Varied) -> None:
    task = '\n[evaluation]\nmode = "in-loop"\ninterval_tokens = "1B"\n[[evaluation.tasks]]\ntask = "mmlu"\n'
    made = varied(more=task)
    assert "evaluation" in [instant.name for instant in made.memory.table[0].instants]


@pytest.mark.parametrize(
    ("assignments", "weights", "gradients", "optimizer"),
    [
        (("training.framework=megatron",), 2, 4, (4 + 8 + 8) / 16),
        (("training.framework=megatron", "training.precision=fp16-mixed"), 2, 2, (4 + 8 + 8) / 16),
        (("training.framework=megatron", "training.moment_dtype=bf16"), 2, 4, 2 * (4 + 4) / 16),
        (("training.framework=megatron", "training.optimizer_offload=true"), 2, 4, 0),
        (("training.framework=megatron", "training.optimizer=lion"), 2, 4, (4 + 4 + 4) / 16),
        (("training.framework=deepspeed",), 2, 4, 12 / 16),
        (("training.framework=deepspeed", "training.precision=fp16-mixed"), 2, 0, 12 / 16),
        (("training.framework=deepspeed", "parallelism.sharding=zero-2"), 2, 0, 12 / 16),
        (("training.framework=torchtitan", "parallelism.sharding=zero-3"), 4 / 16, 0, 8 / 16),
        (("training.framework=fsdp", "parallelism.sharding=zero-3"), 4 / 16, 0, 8 / 16),
        (("training.framework=maxtext", "parallelism.sharding=zero-3"), 8 / 16, 0, 16 / 16),
    ],
)
def test_what_is_held_while_a_checkpoint_is_read(
    varied: Varied, assignments: tuple[str, ...], weights: float, gradients: float, optimizer: float
) -> None:
    """Weights, moments and what the framework holds once more; gradients where they are allocated with the model."""
    made = varied(*assignments)
    restore, held = at(made, "restore"), float(made.model.parameters)
    found = [float(restore.parts[name]) / held for name in ("weights", "gradients", "optimizer_states")]
    assert found == pytest.approx([weights, gradients, optimizer], rel=1e-3)
    assert not any(float(restore.parts[name]) for name in ("activations", "logits", "communication_buffers"))
    assert float(restore.allocated) == pytest.approx(sum(found) * held, rel=1e-12)


def test_the_copy_of_moments_is_the_measured_one(varied: Varied) -> None:
    """Megatron-LM issue 1746: 5 B parameters on each of 2 data-parallel ranks, 19,128.37 MiB for empty moments."""
    made = varied("cluster.nodes=1", "cluster.accelerators_per_node=2", "batch.global_batch_sequences=1024")
    assert made.figure("parallelism.data") == 2
    again = float(at(made, "restore").parts["optimizer_states"]) - float(at(made, "loss").parts["optimizer_states"])
    assert again / float(made.model.parameters) * 5e9 == pytest.approx(19128.37 * 2**20, rel=0.01)


def test_only_what_was_measured_of_a_restore_is_verified(varied: Varied) -> None:
    for framework, verified in (("megatron", True), ("deepspeed", False), ("torchtitan", False), ("maxtext", False)):
        assert held_again(framework, "moments").verified is verified
        assert held_again(framework, "moments").rests_on == "default"
    assert "issue 1746" in held_again("megatron", "moments").origin.source


def test_a_restore_is_apart_from_the_peak_and_says_when_it_does_not_fit(varied: Varied) -> None:
    """One replica shares its moments with nobody: the copy in the way of a checkpoint is all of them, and no step has it."""
    alone = varied("parallelism.sharding=none", "model.vocab_size=128", "data.sequence_length=64")
    rank = alone.memory.table[0]
    assert float(rank.restoring.allocated) > max(float(one.allocated) for one in rank.instants)
    assert alone.memory.worst_instant != "restore"
    assert float(alone.memory.restore) > float(alone.memory.total)
    assert not any(one.code == "M14" for one in resume_fits(alone))
    between = (float(alone.memory.restore) + float(alone.memory.total)) / 2
    tight = varied(
        "parallelism.sharding=none",
        "model.vocab_size=128",
        "data.sequence_length=64",
        f"cluster.memory_per_accelerator={between:.0f}",
    )
    assert tight.memory.total < tight.memory.usable
    assert [one.code for one in resume_fits(tight)] == ["M14"]


STATES = ("parallelism.sharding=none", "model.vocab_size=128", "data.sequence_length=64")


def restored_in(varied: Varied, size: float, *more: str) -> list[Finding]:
    return resume_fits(varied(*STATES, *more, f"cluster.memory_per_accelerator={size:.0f}"))


def test_a_run_that_does_not_start_is_not_told_that_it_cannot_resume(varied: Varied) -> None:
    memory = varied(*STATES).memory
    assert not restored_in(varied, 0.99 * float(memory.total))


def test_a_restore_within_the_band_may_not_fit_and_beyond_it_cannot(varied: Varied) -> None:
    grown = ("model.hidden_size=4096", "model.intermediate_size=16384", "model.num_attention_heads=32")
    memory = varied(*STATES, *grown).memory
    total, restore = float(memory.total), float(memory.restore)
    assert restore > 1.2 * total
    (near,) = restored_in(varied, restore / 1.05, *grown)
    assert near.message.endswith("a run that starts may not resume")
    (far,) = restored_in(varied, restore / 1.15, *grown)
    assert far.message.endswith("a run that starts cannot resume")


def test_m14_names_changes_with_which_a_restore_fits(varied: Varied) -> None:
    grown = ("model.hidden_size=4096", "model.intermediate_size=16384", "model.num_attention_heads=32")
    size = float(varied(*STATES, *grown).memory.restore) / 1.05
    (finding,) = restored_in(varied, size, *grown)
    assert "tensor = 2 (" in finding.fix
    changed = varied(*STATES, *grown, "parallelism.tensor=2", f"cluster.memory_per_accelerator={size:.0f}")
    assert changed.memory.restore <= changed.memory.usable
    assert f"tensor = 2 ({float(changed.memory.restore) / 2**30:,.1f} GiB while read)" in finding.fix


def test_compilation_is_an_instant_where_layers_are_compiled(varied: Varied) -> None:
    """The workspace is a default that nobody measured here, and lies on the first layer of backward."""
    compiled = varied("training.framework=torchtitan")
    first, tuned = at(compiled, "first layer of backward"), at(compiled, "compilation")
    assert float(tuned.allocated) - float(first.allocated) == pytest.approx(2.0**30)
    assert not tuned.allocated.verified
    eager = varied("training.framework=fsdp", "training.kernels=torch-eager")
    others = [varied(f"training.framework={name}") for name in ("megatron", "deepspeed", "maxtext")]
    for made in (eager, *others):
        assert "compilation" not in [one.name for one in made.memory.table[0].instants]
    assert at(varied("training.framework=fsdp", "training.kernels=torch-compile"), "compilation")


def test_selective_recompute_is_what_the_framework_makes_of_it(varied: Varied) -> None:
    """Megatron keeps everything but the log-sum-exp of the core; torchtitan w (h + 2q + kv + f + h) of a token.

    The last rank keeps the final norm's input and output too, w 2h, however its layers are recomputed.
    """
    wide = ("model.num_attention_heads=4", "model.num_key_value_heads=2", "model.intermediate_size=256")
    none, some = (varied(*wide, f"parallelism.recompute={word}") for word in ("none", "selective"))
    shape, hidden = some.model.shape, float(some.plan.model.hidden_size or 0)
    layers, heads, keys = (float(one) for one in (shape.layers, shape.heads, shape.key_value_heads))
    size, tokens = float(shape.query_size), float(some.plan.data.sequence_length or 0)
    kept = [float(at(made, "loss").parts["activations"]) for made in (none, some)]
    assert kept[0] - kept[1] == pytest.approx(layers * tokens * 4.0 * heads, rel=1e-9)
    titan = varied(*wide, "training.framework=torchtitan", "parallelism.recompute=selective")
    each = 2.0 * (hidden + 2.0 * heads * size + keys * size + 256.0 + hidden)
    assert float(at(titan, "loss").parts["activations"]) == pytest.approx(
        tokens * (layers * each + 4.0 * hidden), rel=1e-9
    )


@pytest.mark.parametrize(
    ("framework", "said"),
    [
        ("megatron", "attention core"),
        ("deepspeed", "attention core"),
        ("torchtitan", "every second product"),
        ("fsdp", "every second product"),
        ("maxtext", "every second product"),
    ],
)
def test_the_fields_help_says_which_selective_recompute_holds(varied: Varied, framework: str, said: str) -> None:
    told = meaning("parallelism.recompute", varied(f"training.framework={framework}").plan)
    assert told.startswith(f"With {framework}, selective")
    assert said in told
    assert meaning("parallelism.tensor", varied().plan) == ""


def test_the_longest_stage_has_to_fit_wherever_it_stands(varied: Varied) -> None:
    stages = (
        '\n[[data.stages]]\nname = "long"\nuntil_tokens = "{}"\nsequence_length = {}\n'
        '[[data.stages]]\nname = "short"\nsequence_length = {}\n'
    )
    alone = varied("data.sequence_length=8192").memory
    for first, then in ((8192, 2048), (2048, 8192)):
        staged = varied(more=stages.format("1B", first, then))
        assert float(staged.memory.total) == float(alone.total)
        assert staged.figure("tokens.global_batch_tokens") == then * float(staged.plan.batch.global_batch_sequences)


@pytest.mark.parametrize(
    ("schedule", "none", "full"), [("zb-h1", 1 / 128, 6 / 512), ("zb-h2", 0.0, 3 / 512), ("1f1b", 3 / 128, 3 / 128)]
)
def test_the_bubble_of_a_split_backward_counts_recompute(
    varied: Varied, schedule: str, none: float, full: float
) -> None:
    """arXiv 2401.10241, table 2, with T_F = T_W = 1 and T_B = 2: (p - 1)(T_F + T_B - T_W) over m 4, less T_W with zb-h2.

    One number: the step waits for what the budget, finding P3 and the search say.
    """
    for word, expected in (("none", none), ("full", full)):
        laid = varied(*LAID, f"parallelism.schedule={schedule}", f"parallelism.recompute={word}")
        assert laid.figure("parallelism.bubble") == pytest.approx(expected)
        waited = laid.step.waterfall["bubble"]
        inputs = {name: float(one) for name, one in waited.named_inputs()}
        assert float(waited) == pytest.approx(expected * inputs["mean"] * inputs["microbatches"])
