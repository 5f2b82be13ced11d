"""Every recorded case of memory, legality and parallelism, asked of a plan with its numbers. The cases are in layout_cases.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from trainplan.budgets.legality.context import sequence_step
from trainplan.checks import findings
from trainplan.estimation import Estimate, estimate
from trainplan.finding import Finding
from trainplan.formulas.model import padded_vocabulary, vocabulary_step
from trainplan.plan.plan import Plan

GIB = 2.0**30
CASES: dict[str, dict[str, Any]] = {
    row["id"]: row
    for row in tomllib.loads(Path(__file__).with_name("layout_cases.toml").read_text(encoding="utf-8"))["row"]
}


def made(**changes: Any) -> Estimate:
    """A plan of a small model on accelerators of one a node, with fields changed by `table__field`; `model` replaces it."""
    data: dict[str, Any] = {
        "format": 1,
        "model": {
            "num_hidden_layers": 32,
            "hidden_size": 4096,
            "intermediate_size": 16384,
            "num_attention_heads": 32,
            "vocab_size": 32000,
        },
        "data": {
            "train_tokens": 2**40,
            "sequence_length": 2048,
            "sampler": "megatron-blended",
            "sources": [{"name": "web", "unique_tokens": "10T"}],
        },
        "batch": {"global_batch_sequences": 64},
        "cluster": {"accelerator": "a100-sxm-80", "nodes": 8, "accelerators_per_node": 1},
    }
    for path, value in changes.items():
        if path == "model":
            data["model"] = value
            continue
        table, name = path.split("__")
        data.setdefault(table, {})[name] = value
    return estimate(Plan.model_validate(data))


def found(estimated: Estimate, code: str) -> list[Finding]:
    return [finding for finding in findings(estimated) if finding.code == code]


def one(estimated: Estimate, code: str) -> Finding:
    return found(estimated, code)[0]


def model(**fields: Any) -> dict[str, Any]:
    return {
        "num_hidden_layers": 32,
        "hidden_size": 4096,
        "intermediate_size": 16384,
        "num_attention_heads": 32,
        "vocab_size": 32000,
        **fields,
    }


def fits(estimated: Estimate) -> bool:
    return bool(estimated.memory.total <= estimated.memory.usable)


def test_c01_layers_that_do_not_divide() -> None:
    """30 layers over 4 stages: 2 would be dropped; 7, 8, 8, 7 is legal."""
    finding = one(made(model=model(num_hidden_layers=30), parallelism__pipeline=4), "G4")
    assert finding.severity == "error"
    assert f"{CASES['C01']['expect']['remainder']} would be dropped" in finding.message
    assert "first_stage_layers = 7 and last_stage_layers = 7" in finding.fix
    ends = {"parallelism__first_stage_layers": 7, "parallelism__last_stage_layers": 7}
    assert not found(made(model=model(num_hidden_layers=30), parallelism__pipeline=4, **ends), "G4")


def test_c03_virtual_stages_that_do_not_divide() -> None:
    """40 layers, 8 stages, 2 layers in a chunk: 16 at a time leaves 8. The plan says chunks, 3 of 2 layers hold 48."""
    finding = one(
        made(model=model(num_hidden_layers=40), parallelism__pipeline=8, parallelism__virtual_pipeline=2), "G5"
    )
    assert finding.severity == "error"
    assert f"{CASES['C03']['expect']['remainder']} left over" in finding.message


def test_c05_uneven_stages_of_published_recipes() -> None:
    """60 layers over 8 stages are refused; 4, six of 8, and 8 are legal and sum to 60."""
    shape = model(num_hidden_layers=60)
    assert one(made(model=shape, parallelism__pipeline=8), "G4").severity == "error"
    ends = {"parallelism__first_stage_layers": 4, "parallelism__last_stage_layers": 8}
    legal = made(model=shape, parallelism__pipeline=8, **ends)
    assert not found(legal, "G4")
    assert [rank.rank for rank in legal.memory.table] == list(range(8))


def test_c08_the_expert_mesh_divides_the_world() -> None:
    """8 accelerators, expert 8, pipeline 2: 16 does not divide 8; expert 4 does."""
    shape = model(moe={"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 1024})
    layout = {"parallelism__tensor": 2, "parallelism__pipeline": 2, "parallelism__expert_tensor": 1}
    finding = one(made(model=shape, parallelism__expert=8, **layout), "G3")
    assert "do not divide by 16" in finding.message
    assert finding.fix == "expert = 4"
    assert not found(made(model=shape, parallelism__expert=4, **layout), "G3")


def test_c10_key_heads_and_tensor_ranks() -> None:
    """2 key heads on 8 ranks: engine dependent, and the finding says which engine holds which rule."""
    finding = one(made(model=model(num_key_value_heads=2), parallelism__tensor=8), "G7")
    assert finding.severity == "warning"
    assert "0.16 keeps copies, older versions refuse" in finding.message
    six = model(num_key_value_heads=6, num_attention_heads=48, hidden_size=6144)
    assert one(made(model=six, parallelism__tensor=8), "G7").severity == "error"


def test_c12_what_a_sequence_is_a_multiple_of() -> None:
    """context x lcm(2, tensor): 8 for context 2 and tensor 4; 4 is too small and 16 too big."""
    expect = CASES["C12"]["expect"]
    assert sequence_step(2, 4, sequence_parallel=True, framework="megatron") == expect["min_sequence_multiple"]
    layout = {"parallelism__tensor": 4, "parallelism__context": 2}
    assert not found(made(data__sequence_length=1000, **layout), "G9")
    finding = one(made(data__sequence_length=1004, **layout), "G9")
    assert finding.fix == "1,000 or 1,008 tokens"


@pytest.mark.parametrize(
    ("vocabulary", "tensor", "framework", "padded"),
    [(32002, 2, "megatron", 32256), (151936, 2, "megatron", 152064), (151936, 2, "torchtitan", 151936)],
    ids=["C14", "C16 with the 128 rule", "C16 as the model is"],
)
def test_c14_and_c16_padded_vocabulary(vocabulary: int, tensor: int, framework: str, padded: int) -> None:
    """151,936 rows on 2 ranks are 75,968 each, never 151,936."""
    laid = made(
        model=model(vocab_size=vocabulary, tie_word_embeddings=True),
        parallelism__tensor=tensor,
        training__framework=framework,
    )
    assert laid.quantities["model.padded_vocabulary"] == padded
    rows = laid.memory.table[0].worst.parts["weights"]
    assert rows >= padded / tensor * 4096 * 2.0
    assert padded // 2 == {32256: 16128, 152064: 76032, 151936: CASES["C16"]["expect"]["local_rows"]}[padded]


def test_c18_a_vocabulary_that_is_padded_by_one_row() -> None:
    """Padded to a multiple of 1 x tensor, 50,257 is 50,258 rows on 2 ranks.

    No plan has that divisor: Megatron's is 128, and 50,432 rows need no warning. The same rows are asked of a framework that does
    not pad, where one rank has one more: the warning names 50,258, which is even, and 50,432, which is right.
    """
    expect = CASES["C18"]["expect"]
    assert padded_vocabulary(50257.0, vocabulary_step(1.0, 2.0)) == expect["padded"]
    shape = model(vocab_size=50257)
    finding = one(made(model=shape, parallelism__tensor=2, training__framework="torchtitan"), "G14")
    assert finding.severity == "warning"
    assert "25,129 and 25,128 rows" in finding.message
    assert finding.fix.startswith(f"{expect['padded']:,} is even, vocab_size = 50432")
    megatron = made(model=shape, parallelism__tensor=2)
    assert megatron.quantities["model.padded_vocabulary"] == 50432
    assert not found(megatron, "G14")


@pytest.mark.parametrize(
    ("vocabulary", "tensor", "framework", "severity"),
    [
        (50257, 1, "torchtitan", "info"),
        (50304, 1, "torchtitan", None),
        (50258, 2, "torchtitan", "info"),
        (50432, 2, "torchtitan", None),
        (50258, 4, "fsdp", "warning"),
        (128256, 8, "torchtitan", "info"),
        (50257, 2, "deepspeed", None),
    ],
)
def test_rows_of_a_vocabulary_that_is_not_padded(
    vocabulary: int, tensor: int, framework: str, severity: str | None
) -> None:
    """A warning where ranks hold uneven rows, a remark where tensor cores have a rest, nothing where neither is so."""
    laid = made(model=model(vocab_size=vocabulary), parallelism__tensor=tensor, training__framework=framework)
    assert [finding.severity for finding in found(laid, "G14")] == ([] if severity is None else [severity])


def test_c19_the_batch_is_divided_by_data_ranks() -> None:
    """16 accelerators, model parallel 2, batch 64: 8 ranks of 8 sequences, and a microbatch of 8 divides them."""
    laid = made(cluster__nodes=16, parallelism__tensor=2, batch__micro_batch_sequences=8)
    assert laid.quantities["parallelism.data"] == CASES["C19"]["expect"]["dp"]
    assert laid.quantities["tokens.microbatches"] == 1
    assert not found(laid, "G2")


def test_c28_states_alone_do_not_say_that_it_fits() -> None:
    """6.65 B parameters, zero-2, optimizer on the host: 12.4 GiB of weights, and no room on 16 GB."""
    shape = {"num_hidden_layers": 33, "vocab_size": 32000, "model": None}
    del shape["model"]
    laid = made(
        model=model(**shape, gated_mlp=False),
        cluster__nodes=2,
        cluster__memory_per_accelerator=int(15.78 * GIB),
        training__framework="deepspeed",
        training__precision="fp16-mixed",
        training__optimizer_offload=True,
        parallelism__sharding="zero-2",
    )
    states = laid.memory.table[0].worst.parts
    assert states["weights"] / GIB == pytest.approx(CASES["C28"]["expect"]["states_GiB"], rel=0.05)
    assert not fits(laid)


def test_c30_sharding_saves_nothing_without_replicas() -> None:
    """40 B at model parallel 8: about 80 GB for each of 8 accelerators, and 21.7 with 48."""
    shape = model(
        num_hidden_layers=50, hidden_size=8192, intermediate_size=32768, gated_mlp=False, num_attention_heads=64
    )
    parts = {"training__framework": "deepspeed", "training__precision": "fp16-mixed", "parallelism__tensor": 8}
    small = {"cluster__memory_per_accelerator": int(31.7 * GIB), "parallelism__sharding": "zero-2"}
    eight = made(model=shape, **parts, **small)
    many = made(model=shape, **parts, **small, cluster__nodes=48, batch__global_batch_sequences=96)
    assert not fits(eight)
    held = [
        sum(laid.memory.table[0].worst.parts[name] for name in ("weights", "gradients", "optimizer_states"))
        for laid in (eight, many)
    ]
    parameters = float(eight.model.parameters)
    assert held[0] >= 16.0 * parameters / 8
    assert held[1] < 0.35 * held[0]


def test_c32_gradients_are_counted() -> None:
    """MPT-7B on one 80 GB part with full recompute: 12 bytes a parameter would seem to fit, 16 do not, at any length."""
    shape = model(vocab_size=50368, gated_mlp=False, tie_word_embeddings=True, norm="layernorm")
    for length in (512, 2048):
        laid = made(
            model=shape,
            cluster__nodes=1,
            data__sequence_length=length,
            training__framework="fsdp",
            parallelism__sharding="none",
            parallelism__recompute="full",
        )
        parts = laid.memory.table[0].worst.parts
        states = sum(parts[name] for name in ("weights", "gradients", "optimizer_states"))
        assert states / GIB == pytest.approx(CASES["C32"]["expect"]["bytes16_GiB"], rel=0.01)
        assert not fits(laid)
        assert one(laid, "M1").severity == "error"


def test_c35_states_of_a_model_four_times_the_device() -> None:
    """20.55 B over tensor 2: 164 GB each at 16 bytes a parameter; our fp16 recipe holds an fp32 gradient copy too."""
    shape = model(
        num_hidden_layers=44,
        hidden_size=6144,
        intermediate_size=24576,
        num_attention_heads=64,
        vocab_size=50432,
        gated_mlp=False,
    )
    laid = made(
        model=shape,
        cluster__nodes=2,
        cluster__memory_per_accelerator=int(39.4 * GIB),
        parallelism__tensor=2,
        training__precision="fp16-mixed",
        parallelism__sharding="none",
    )
    parts = laid.memory.table[0].instants[0].parts
    states = sum(parts[name] for name in ("weights", "gradients", "optimizer_states"))
    assert states * 16.0 / 20.0 / 1e9 == pytest.approx(CASES["C35"]["expect"]["states_GB_per_gpu"], rel=0.01)
    assert not fits(laid)


def test_c39_the_peak_of_stage_2_can_be_higher() -> None:
    assert "can be above zero-1" in one(made(parallelism__sharding="zero-2"), "M13").message


def test_c40_fp8_does_not_lower_weight_memory() -> None:
    fp8, bf16 = made(training__precision="fp8-mixed"), made()
    assert fp8.quantities["memory.weights"] == bf16.quantities["memory.weights"]
    assert "adds copies" in one(fp8, "M12").message


def test_c42_experts_divide_by_their_own_ranks() -> None:
    """Mixtral, tensor 2, expert 8, expert tensor 1: 5.637 B expert parameters on a rank, a quarter of what tensor would say."""
    laid = made(
        model={"preset": "mixtral-8x7b"},
        cluster__nodes=16,
        parallelism__tensor=2,
        parallelism__expert=8,
        batch__global_batch_sequences=64,
    )
    without = made(
        model={"preset": "mixtral-8x7b"},
        cluster__nodes=16,
        parallelism__tensor=2,
        parallelism__expert=1,
        batch__global_batch_sequences=64,
    )
    expect = CASES["C42"]["expect"]
    saved = without.memory.table[0].worst.parts["weights"] - laid.memory.table[0].worst.parts["weights"]
    assert saved / 2.0 == pytest.approx(expect["expert_params_per_gpu_right"] * 7, rel=1e-3)


def test_every_case_is_asked() -> None:
    asked = {name.split("_")[1].upper() for name in globals() if name.startswith("test_c")}
    asked |= {"C16"}
    assert set(CASES) == asked
