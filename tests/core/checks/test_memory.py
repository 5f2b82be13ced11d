"""Each finding of memory and of the layout is made by the plan that deserves it, and by none that does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainplan.alternatives.changes import single_changes
from trainplan.checks import findings, findings_at_once
from trainplan.checks.host import parts_on_host
from trainplan.estimation import Estimate
from trainplan.finding import Finding

Varied = Callable[..., Estimate]


def found(estimate: Estimate, code: str) -> list[Finding]:
    return [finding for finding in findings(estimate) if finding.code == code]


def test_the_small_plan_has_no_finding_of_memory(varied: Varied) -> None:
    codes = {finding.code for finding in findings(varied())}
    assert not {code for code in codes if code[0] in "M" and code[1:].isdigit()} - {"M6"}
    assert not {code for code in codes if code in {f"G{n}" for n in range(3, 15)} | {"P1", "P3", "P4"}}


def test_m1_names_the_single_change_that_fits(varied: Varied) -> None:
    held = float(varied("batch.micro_batch_sequences=8").memory.total)
    over = varied(f"cluster.memory_per_accelerator={int(held * 0.99)}", "batch.micro_batch_sequences=8")
    (finding,) = found(over, "M1")
    assert finding.severity == "error"
    assert finding.fix.startswith("fits with ")
    assert "micro_batch_sequences = 4" in finding.fix or "recompute" in finding.fix or "loss" in finding.fix
    total = float(over.memory.total)
    near = varied(f"cluster.memory_per_accelerator={int(total * 1.05)}", "batch.micro_batch_sequences=8")
    assert found(near, "M1")[0].severity == "warning"
    far = varied(f"cluster.memory_per_accelerator={int(total * 1.2)}", "batch.micro_batch_sequences=8")
    assert not found(far, "M1")


def test_m1_names_the_cheapest_changes_and_what_they_cost(varied: Varied) -> None:
    over = varied("batch.micro_batch_sequences=8", f"cluster.memory_per_accelerator={3 * 2**30}")
    (finding,), known = found(over, "M1"), single_changes(over.plan)
    assert len(known) > 1
    named = finding.fix.removeprefix("fits with ").split(" or ")
    assert [one.split(" (")[0] for one in named] == [change.text for change in known[:3]]
    assert named[0].endswith(" accelerator time)")
    for one, change in zip(named, known, strict=False):
        assert ("the same" if change.costs_nothing else f"{100 * change.cost:+.0f} %") in one


def test_m1_follows_the_target(varied: Varied) -> None:
    total = float(varied().memory.total)
    size = f"cluster.memory_per_accelerator={int(total / 0.88)}"
    assert found(varied(size), "M1")[0].severity == "warning"
    assert not found(varied(size, "memory.target_fraction=0.92"), "M1")


def test_m1_allows_more_once_a_pilot_measured(varied: Varied) -> None:
    """0.85 of usable before, 0.92 after, unless the plan says another."""
    assert float(varied().situation["memory.target_fraction"]) == 0.85
    measured = varied("memory.calibration=1.0")
    assert float(measured.situation["memory.target_fraction"]) == 0.92
    assert "memory.calibration is set: a measured peak" in measured.situation["memory.target_fraction"].origin.source
    own = varied("memory.calibration=1.0", "memory.target_fraction=0.8")
    assert float(own.situation["memory.target_fraction"]) == 0.8
    size = f"cluster.memory_per_accelerator={int(float(varied().memory.total) / 0.88)}"
    assert found(varied(size), "M1")
    assert not found(varied(size, "memory.calibration=1.0"), "M1")


def test_m2_nominal_memory(varied: Varied) -> None:
    (finding,) = found(varied("cluster.memory_per_accelerator=80GB"), "M2")
    assert finding.fix == "79.1 GiB, as the runtime reports"
    assert not found(varied("cluster.memory_per_accelerator=79GiB"), "M2")


WIDE = ("model.num_hidden_layers=16", "model.vocab_size=256000", "parallelism.pipeline=4", "model.hidden_size=512")


def test_m3_and_m6_uneven_ranks(varied: Varied) -> None:
    """The end with the embedding holds more; the last rank is not where the peak is read."""
    uneven = varied(*WIDE, "memory.runtime_overhead=0B")
    assert found(uneven, "M3")[0].paths[0].endswith("_stage_layers")
    assert not found(varied("memory.runtime_overhead=0B"), "M3")
    flat = varied("model.num_hidden_layers=16", "parallelism.pipeline=4", "batch.micro_batch_sequences=8")
    assert int(flat.memory.worst_rank) == 0
    assert "rank 0" in found(flat, "M6")[0].message


def test_m4_logits_of_a_loss_that_copies(varied: Varied) -> None:
    small = ("cluster.memory_per_accelerator=8GiB", "model.vocab_size=131072", "batch.micro_batch_sequences=2")
    for kernel in ("plain", "fused"):
        (finding,) = found(varied(*small, f"training.loss={kernel}"), "M4")
        assert finding.fix == 'loss = "fused-in-place"'
    (finding,) = found(varied(*small, "training.framework=fsdp", "training.loss=plain"), "M4")
    assert finding.fix == 'loss = "fused" or "chunked"'
    assert not found(varied(*small, "training.loss=fused-in-place"), "M4")


@pytest.mark.parametrize(
    ("assignments", "expected"),
    [
        (("parallelism.sharding=zero-2", "parallelism.pipeline=2"), True),
        (("parallelism.sharding=zero-2",), False),
        (("parallelism.sharding=zero-3",), True),
        (("parallelism.sharding=zero-3", "parallelism.reshard_after_forward=false"), False),
        (("parallelism.sharding=zero-1", "parallelism.pipeline=2"), False),
    ],
)
def test_m5_reduction_for_every_microbatch(varied: Varied, assignments: tuple[str, ...], expected: bool) -> None:
    assert bool(found(varied(*assignments), "M5")) is expected


def test_m7_fewer_nodes(varied: Varied) -> None:
    model = ("model.num_hidden_layers=64", "model.hidden_size=2048", "model.intermediate_size=8192")
    total = float(varied(*model).memory.total)
    tight = f"cluster.memory_per_accelerator={int(total * 1.02)}"
    assert "resumed on 1 nodes" in found(varied(*model, tight), "M7")[0].message
    assert not found(varied(*model), "M7")
    assert not found(varied(*model, tight, "parallelism.sharding=none"), "M7")


MOE = "\n[model.moe]\nnum_experts = 8\nnum_experts_per_tok = 2\nmoe_intermediate_size = 128\n"


def test_m9_even_routing(varied: Varied) -> None:
    assert found(varied("training.moe_imbalance=1.0", "parallelism.expert=2", more=MOE), "M9")
    assert not found(varied("training.moe_imbalance=1.0", more=MOE), "M9")
    assert not found(varied(more=MOE), "M9")
    assert not found(varied("training.moe_imbalance=1.0"), "M9")


def test_m10_host_memory(varied: Varied) -> None:
    assert found(varied("cluster.host_memory_per_node=1MiB"), "M10")[0].severity == "error"
    assert not found(varied("cluster.host_memory_per_node=1TiB"), "M10")
    assert not found(varied("cluster.host_memory_per_node=1MiB", "storage.async_checkpoint=false"), "M10")


def test_m10_counts_activations_that_wait_on_the_host(varied: Varied) -> None:
    """Eight devices of a node each keep what the ledger has at the loss without offload."""
    kept = next(one for one in varied().memory.table[0].instants if one.name == "loss").parts["activations"]
    own = ("training.activation_offload=true", "storage.async_checkpoint=false")
    enough = 8 * float(kept)
    assert not found(varied(*own, f"cluster.host_memory_per_node={int(enough * 1.01)}"), "M10")
    (finding,) = found(varied(*own, f"cluster.host_memory_per_node={int(enough * 0.99)}"), "M10")
    assert "GiB of activations, of" in finding.message


@pytest.mark.parametrize(
    ("layout", "tables", "ranks"),
    [
        ((), 2, 16),
        (("parallelism.tensor=2",), 2, 16),
        (("parallelism.pipeline=2", "parallelism.sharding=zero-3"), 1, 8),
    ],
)
def test_m10_counts_what_muon_keeps_more_of_tables(
    varied: Varied, layout: tuple[str, ...], tables: int, ranks: int
) -> None:
    """Two moments of the embedding table and the head against one of Lion, 4 bytes each, on the 8 ranks of a node."""
    own = ("training.framework=deepspeed", "training.optimizer_offload=true", "storage.async_checkpoint=false", *layout)
    lion, muon = (sum(parts_on_host(varied(f"training.optimizer={name}", *own)).values()) for name in ("lion", "muon"))
    s = varied(*own).situation
    table = float(varied(*own).model.padded_vocabulary) * float(s["model.hidden_size"])
    assert muon - lion == pytest.approx(tables * table / ranks * 4 * 8, rel=1e-9)


def test_m11_m12_and_m13(varied: Varied) -> None:
    large = ("model.num_hidden_layers=96", "model.hidden_size=16384", "model.intermediate_size=65536")
    assert found(varied(*large, "training.precision=fp16-mixed"), "M11")
    assert not found(varied(*large), "M11")
    assert not found(varied("training.precision=fp16-mixed"), "M11")
    assert found(varied("training.precision=fp8-mixed"), "M12")
    assert found(varied("parallelism.sharding=zero-2"), "M13")


THIRDS = ("parallelism.pipeline=3", "cluster.nodes=3")


@pytest.mark.parametrize(
    ("code", "assignments", "more", "fix"),
    [
        ("G3", ("parallelism.expert=8", "parallelism.pipeline=4", "model.num_hidden_layers=4"), MOE, "expert = 4"),
        (
            "G3",
            (
                "parallelism.expert=8",
                "training.framework=torchtitan",
                "parallelism.pipeline=4",
                "model.num_hidden_layers=4",
            ),
            MOE,
            "expert = 4",
        ),
        ("G3", ("training.framework=torchtitan", "parallelism.tensor=4", "parallelism.expert_tensor=2"), MOE, "1"),
        ("G4", ("parallelism.pipeline=4",), "", "at most 2"),
        ("G4", ("model.num_hidden_layers=9", "parallelism.pipeline=4"), "", "pipeline = 3 or 9"),
        ("G4", ("model.num_hidden_layers=9", "parallelism.pipeline=4", "parallelism.first_stage_layers=2"), "", "ends"),
        ("G5", ("parallelism.virtual_pipeline=2",), "", "1"),
        (
            "G5",
            (
                "model.num_hidden_layers=9",
                "parallelism.pipeline=3",
                "parallelism.virtual_pipeline=2",
                "cluster.nodes=3",
            ),
            "",
            "virtual",
        ),
        ("G6", ("parallelism.tensor=8",), "", "tensor = 4"),
        (
            "G7",
            ("model.num_attention_heads=12", "model.num_key_value_heads=3", "parallelism.tensor=4"),
            "",
            "tensor = 1",
        ),
        ("G8", ("parallelism.expert=3",), MOE, "expert = 2 or 4"),
        ("G8", ("parallelism.expert=2",), "", "1"),
        ("G9", ("parallelism.context=16", "data.sequence_length=1000"), "", "992 or 1,024 tokens"),
        ("G10", ("parallelism.context=8", "parallelism.context_type=all-to-all"), "", "ring"),
        ("G10", ("training.attention=eager", "parallelism.context=2"), "", "context = 1"),
        ("G11", ("parallelism.sharding=hsdp", "parallelism.shard_size=3"), "", "shard_size = 2 or 4"),
        ("G12", ("training.framework=torchtitan", "parallelism.sharding=zero-1"), "", "zero-3"),
        (
            "G12",
            ("training.framework=deepspeed", "parallelism.sharding=zero-2", "parallelism.pipeline=2"),
            "",
            "zero-1, or pipeline = 1",
        ),
        ("G13", (*THIRDS, "model.num_hidden_layers=3", "parallelism.schedule=dualpipe"), "", "2 or 4"),
        ("G12", ("training.framework=deepspeed", "parallelism.sharding=hsdp", "parallelism.pipeline=2"), "", "zero-1"),
        ("G12", ("training.framework=fsdp", "parallelism.sharding=zero-1"), "", "zero-2 is nearest"),
        ("G12", ("training.framework=maxtext", "parallelism.sharding=zero-2"), "", "zero-1 is nearest"),
        ("G15", ("parallelism.pipeline=2", "parallelism.schedule=zb-v"), "", "1f1b is nearest"),
        (
            "G15",
            ("parallelism.pipeline=2", "parallelism.schedule=dualpipe", "parallelism.virtual_pipeline=2"),
            "",
            "interleaved is nearest",
        ),
        (
            "G15",
            ("training.framework=maxtext", "parallelism.pipeline=2", "parallelism.schedule=zb-v"),
            "",
            "gpipe is nearest",
        ),
        (
            "G15",
            ("training.framework=torchtitan", "parallelism.pipeline=2", "parallelism.schedule=zb-h2"),
            "",
            "zb-v is",
        ),
        (
            "G15",
            ("training.framework=deepspeed", "parallelism.pipeline=2", "parallelism.virtual_pipeline=2"),
            "",
            'schedule = "1f1b" and virtual_pipeline = 1 is nearest',
        ),
        ("G15", ("training.framework=maxtext", "parallelism.pipeline=2"), "", "gpipe is nearest"),
        ("G15", ("training.framework=fsdp", "parallelism.pipeline=2"), "", "pipeline = 1"),
        ("P1", ("parallelism.tensor=16", "model.num_attention_heads=16"), "", "tensor = 8 at most"),
        ("P3", ("parallelism.pipeline=2", "batch.global_batch_sequences=16"), "", "four microbatches"),
        ("P4", ("parallelism.pipeline=2", "batch.global_batch_sequences=8"), "", "2 microbatches"),
    ],
)
def test_layouts_and_what_would_be_legal(
    varied: Varied, code: str, assignments: tuple[str, ...], more: str, fix: str
) -> None:
    at_once = findings_at_once(varied(*assignments, more=more))
    hits: list[Any] = [finding for finding in at_once if finding.code == code]
    assert hits, f"no {code}"
    assert any(fix in (hit.untried or hit.fix) for hit in hits), [hit.untried or hit.fix for hit in hits]
    assert all(hit.paths and hit.message for hit in hits)


def test_p3_is_an_error_only_where_utilization_is_assumed(varied: Varied) -> None:
    """The bubble is inside a utilization that was measured or published."""
    idle = ("parallelism.pipeline=2", "batch.global_batch_sequences=16")
    assert found(varied(*idle), "P3")[0].severity == "warning"
    assert found(varied(*idle, "utilization.evidence=assumed"), "P3")[0].severity == "error"
    small = varied("parallelism.pipeline=2", "batch.global_batch_sequences=64", "utilization.evidence=assumed")
    assert found(small, "P3")[0].severity == "warning"


def test_a_measured_layout_may_cross_the_domain(varied: Varied) -> None:
    layout = ("parallelism.tensor=16", "model.num_attention_heads=16")
    assert not found(varied(*layout, "utilization.evidence=measured-here"), "P1")


@pytest.mark.parametrize("framework", ["deepspeed", "torchtitan"])
def test_frameworks_that_spread_layers_themselves(varied: Varied, framework: str) -> None:
    layout = ("model.num_hidden_layers=9", "parallelism.pipeline=4", "parallelism.sharding=none")
    assert not found(varied(*layout, f"training.framework={framework}"), "G4")
