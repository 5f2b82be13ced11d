"""What a framework's own code refuses is an error with a fix that can be typed; what only forks have is a warning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Varied

from trainplan.checks import findings
from trainplan.estimation import estimate
from trainplan.plan.read import open_plan

PLANS = Path(__file__).resolve().parents[3] / "plans"
MOE = "\n[model.moe]\nnum_experts = 8\nmoe_intermediate_size = 96\nnum_experts_per_tok = 2\n"
TITAN, DEEP, XLA, FSDP = (f"training.framework={name}" for name in ("torchtitan", "deepspeed", "maxtext", "fsdp"))
TWO, STAGES = "parallelism.tensor=2", "parallelism.pipeline=2"
CHUNKS = "parallelism.virtual_pipeline=2"
DEPTH = "model.num_hidden_layers={}".format


def found(one: Any, code: str) -> list[Any]:
    return [hit for hit in findings(one) if hit.code == code]


REFUSED = [
    ("G16", (TWO, "parallelism.sequence_parallel=false"), MOE, "sequence_parallel = true, or tensor = 1"),
    ("G12", ("parallelism.sharding=zero-3", "training.optimizer=muon"), "", 'sharding = "zero-1"'),
    ("G17", (TITAN, STAGES, CHUNKS, DEPTH(4), "parallelism.schedule=gpipe"), "", "virtual_pipeline = 1"),
    ("G17", (STAGES, CHUNKS, DEPTH(8), "parallelism.first_stage_layers=3"), "", "virtual_pipeline = 1"),
    ("G18", ("parallelism.context=2", 'model.layer_types=["sliding_attention","full_attention"]'), "", "context = 1"),
    ("G19", ("training.precision=fp8-mixed", "parallelism.tensor=4", "model.intermediate_size=288"), "", "tensor = 2"),
    ("G7", (TITAN, "parallelism.tensor=4", "model.num_key_value_heads=2"), "", "tensor = 2"),
    ("G21", (TITAN, STAGES, "model.tie_word_embeddings=true"), "", "pipeline = 1"),
    ("G21", (XLA, STAGES, "parallelism.first_stage_layers=1"), "", "leave first_stage_layers"),
    ("G21", (XLA, STAGES, "batch.global_batch_sequences=1032"), "", "a multiple of 2 microbatches"),
    (
        "G22",
        (TITAN, "parallelism.sharding=hsdp", "parallelism.shard_size=4", "parallelism.expert=8"),
        MOE,
        "expert = 4",
    ),
    ("G22", (TITAN, "parallelism.sharding=none", TWO, "parallelism.expert=4"), MOE, "expert = 2"),
    ("G22", (DEEP, "parallelism.tensor=4", "parallelism.expert_tensor=2"), MOE, "expert_tensor = 1"),
    ("G22", (DEEP, "parallelism.tensor=4", "parallelism.expert_tensor=4", "parallelism.expert=8"), MOE, "expert = 4"),
]


@pytest.mark.parametrize(("code", "assignments", "more", "fix"), REFUSED)
def test_a_refusal_is_an_error_and_says_what_would_run(
    varied: Varied, code: str, assignments: tuple[str, ...], more: str, fix: str
) -> None:
    (hit,) = found(varied(*assignments, more=more), code)
    assert hit.severity == "error"
    assert fix in hit.fix
    assert hit.paths


@pytest.mark.parametrize(
    ("assignments", "more", "fix"),
    [
        ((DEEP, "parallelism.context=2"), "", 'context_type = "all-to-all"'),
        ((TITAN, "parallelism.context=2", "parallelism.context_type=all-to-all"), "", 'context_type = "ring"'),
        ((FSDP, TWO, "parallelism.context=2"), "", "tensor = 1 and context = 1"),
        ((FSDP, "parallelism.expert=2"), MOE, "expert = 1 and expert_tensor = 1"),
    ],
)
def test_what_only_forks_have_is_a_warning(varied: Varied, assignments: tuple[str, ...], more: str, fix: str) -> None:
    (hit,) = found(varied(*assignments, more=more), "G20")
    assert hit.severity == "warning"
    assert fix in hit.fix


@pytest.mark.parametrize(
    ("code", "assignments", "more"),
    [
        ("G16", (TWO,), MOE),
        ("G12", ("parallelism.sharding=zero-1", "training.optimizer=muon"), ""),
        ("G17", (STAGES, CHUNKS, DEPTH(8), "parallelism.first_stage_layers=4"), ""),
        ("G17", (STAGES, CHUNKS, DEPTH(6), "parallelism.first_stage_layers=3", "parallelism.last_stage_layers=3"), ""),
        (
            "G18",
            (
                "parallelism.context=2",
                "parallelism.context_type=all-to-all",
                'model.layer_types=["sliding_attention","full_attention"]',
            ),
            "",
        ),
        ("G19", ("training.precision=fp8-mixed", "parallelism.tensor=4"), ""),
        ("G20", (DEEP, "parallelism.context=2", "parallelism.context_type=all-to-all"), ""),
        ("G21", (TITAN, "model.tie_word_embeddings=true"), ""),
        ("G22", (TITAN, "parallelism.sharding=zero-3", "parallelism.expert=8"), MOE),
    ],
)
def test_what_the_code_takes_is_not_refused(varied: Varied, code: str, assignments: tuple[str, ...], more: str) -> None:
    assert not found(varied(*assignments, more=more), code)


@pytest.mark.parametrize("path", sorted(PLANS.glob("*.toml")), ids=lambda path: path.stem)
def test_a_published_run_is_never_refused(path: Path) -> None:
    refused = [
        hit for hit in findings(estimate(open_plan(path).plan)) if hit.code[0] == "G" and hit.severity == "error"
    ]
    assert refused == []
