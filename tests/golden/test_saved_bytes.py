"""What a layer keeps for backward, and the peak of live bytes, against measurements on real tensors."""

from __future__ import annotations

import statistics
import tomllib
from pathlib import Path
from typing import Any

import pytest
from saved_plans import beyond_the_plan, kept, peak, whole_model

ROWS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("saved_bytes.toml").read_text(encoding="utf-8"))[
    "row"
]
WHOLE = [row for row in ROWS if "saved_total" in row]
PEAKS = [row for row in ROWS if "peak_live" in row]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"].removeprefix("mem.saved."))
def test_a_layer_keeps_what_was_measured(row: dict[str, Any]) -> None:
    """Within 0.1 %, for all three kernel sets."""
    assert float(kept(row).stored) + beyond_the_plan(row) == pytest.approx(row["layer_bytes"], rel=1e-3)


@pytest.mark.parametrize("row", WHOLE, ids=lambda row: row["id"].removeprefix("mem.saved."))
def test_a_model_keeps_what_was_measured(row: dict[str, Any]) -> None:
    """Within 0.2 %, which is how far the two instruments agree."""
    assert whole_model(row) == pytest.approx(row["saved_total"], rel=2e-3)


def test_the_peak_of_live_bytes() -> None:
    """Median within 1 %, nine of ten within 8 %, none beyond 12 %."""
    errors = sorted(abs(peak(row) / row["peak_live"] - 1.0) for row in PEAKS)
    assert statistics.median(errors) <= 0.01
    assert statistics.quantiles(errors, n=10)[8] <= 0.08
    assert errors[-1] <= 0.12


GPT_NEOX = {
    "arch": "gpt_neox",
    "heads": 4,
    "kv_heads": 4,
    "ffn": 320,
    "gated": False,
    "norm": "layernorm",
    "bias": True,
}
GLM = {"arch": "glm", "heads": 4, "kv_heads": 2, "ffn": 320, "gated": True, "norm": "rms_manual"}


@pytest.mark.parametrize(
    ("layer", "norms", "more"),
    [
        (GPT_NEOX, {"parallel": True, "norms": 2}, 1_233_408 - 1_331_712),
        (GLM, {"post_norms": True}, 2_279_424 - 1_688_064),
    ],
)
def test_norms_keep_what_products_read(layer: dict[str, Any], norms: dict[str, Any], more: int) -> None:
    """GPT-NeoX with and without parallel residual, GLM-4 and GLM, middle layers of transformers 5.24 on CPU, torch 2.13, bf16.

    Two sequences of 96 tokens, hidden 256, heads of 64, SDPA. Norms side by side share their input; the output of a norm that
    goes into the residual sum is not kept.
    """
    row = {
        "id": "norms",
        "kernel_set": "transformers-5.24",
        "dtype": "bf16",
        "recompute": "none",
        "dropout": 0.0,
        "attn": "sdpa",
    }
    row |= {"seq": 96, "mbs": 2, "hidden": 256, "head_dim": 64, "vocab": 500, "layers": 3, **layer}
    assert float(kept({**row, **norms}).stored) - float(kept(row).stored) == more


def test_copies_of_one_input_are_kept_each() -> None:
    """An RMS norm in plain operators makes an fp32 copy of the input that it shares."""
    row = {
        "id": "norms",
        "kernel_set": "torch-eager",
        "dtype": "bf16",
        "recompute": "none",
        "dropout": 0.0,
        "attn": "sdpa",
    }
    row |= {"seq": 96, "mbs": 2, "hidden": 256, "head_dim": 64, "vocab": 500, "layers": 3, **GLM}
    assert float(kept({**row, "parallel": True, "norms": 2}).stored) == float(kept(row).stored)
    fused = {**row, "kernel_set": "torch-compile"}
    saved = float(kept(fused).stored) - float(kept({**fused, "parallel": True, "norms": 2}).stored)
    assert saved == 192 * 256 * 2


@pytest.mark.parametrize(("dtype", "width", "bytes_kept"), [("bf16", 192, 2_809_856), ("fp32", 512, 6_578_176)])
def test_a_compiled_layer_adds_the_sum_after_attention_again(dtype: str, width: int, bytes_kept: int) -> None:
    """A Gemma 3 layer of transformers 5.24 under AOTAutograd's min-cut partition, torch 2.13 on CPU: two sequences of 128."""
    row = {
        "id": "gemma3",
        "kernel_set": "torch-compile",
        "dtype": dtype,
        "recompute": "none",
        "dropout": 0.0,
        "attn": "sdpa",
    }
    row |= {"seq": 128, "mbs": 2, "hidden": 512, "heads": 8, "kv_heads": 4, "head_dim": 64, "ffn": width, "gated": True}
    row |= {"norm": "rms_manual", "qk_norm": True, "post_norms": True, "vocab": 500, "layers": 3}
    assert float(kept(row).stored) == bytes_kept


def test_every_kernel_set_is_measured() -> None:
    assert {row["kernel_set"] for row in ROWS} == {"torch-eager", "torch-compile", "transformers-5.24"}
    assert len(ROWS) == 90
