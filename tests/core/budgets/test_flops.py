"""FLOPs of one token: equal to what torch's counter measured, and the conventions against each other."""

from __future__ import annotations

from typing import Any

import pytest

from trainplan.budgets.flops import FlopsBudget, flops_budget
from trainplan.budgets.model import model_budget
from trainplan.budgets.situation import Situation
from trainplan.interop.huggingface.config import model_of_config
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Blocked


def flops(model: dict[str, Any], length: int | None, **tables: Any) -> FlopsBudget:
    data = tables.pop("data", {}) | ({} if length is None else {"sequence_length": length})
    s = Situation(Plan.model_validate({"format": 1, "model": model, "data": data, **tables}))
    return flops_budget(s, model_budget(s))


@pytest.mark.golden("flops")
def test_measured_flops(row: dict[str, Any]) -> None:
    found = flops(model_of_config(row["config"]).model, row["sequence_length"])
    measured = row["flops"] / (row["sequences"] * row["sequence_length"])
    counted = found.flops_per_token_full if row["kind"] == "full" else found.flops_per_token_6n
    assert counted == pytest.approx(measured, rel=1e-9)


@pytest.mark.golden("params")
def test_causal_is_half_of_the_score_term_without_windows(row: dict[str, Any]) -> None:
    """At a length beyond every window of the list."""
    found = flops({"preset": row["model"]}, 16384)
    if "layer_types" in model_of_config(row["config"]).model:
        assert found.causal_scores < found.full_scores / 2
    else:
        assert found.causal_scores == found.full_scores / 2
    assert found.flops_per_token_full - found.flops_per_token_6n == pytest.approx(found.full_scores, rel=1e-12)


@pytest.mark.parametrize(
    ("preset", "length", "causal", "full"),
    [
        ("llama-3.1-8b", 8192, 51.47e9, 57.91e9),
        ("llama-3.1-8b", 131072, 148.1e9, 251.2e9),
        ("llama-3.1-70b", 8192, 449.2e9, 481.4e9),
        ("llama-3.1-405b", 8192, 2524e9, 2625e9),
        ("smollm3-3b", 4096, 20.26e9, 22.07e9),
    ],
)
def test_golden_table_of_the_domain_notes(preset: str, length: int, causal: float, full: float) -> None:
    """Printed with four digits, so half a unit of the fourth."""
    found = flops({"preset": preset}, length)
    assert found.flops_per_token_causal == pytest.approx(causal, rel=5e-4)
    assert found.flops_per_token_full == pytest.approx(full, rel=5e-4)


def test_latent_attention_has_two_head_sizes() -> None:
    found = flops({"preset": "deepseek-v3"}, 4096)
    assert found.full_scores == 6 * 61 * 128 * (192 + 128) * 4096


def test_prediction_depth_attends_once_more_and_uses_the_head_once_more() -> None:
    plain = flops({"preset": "deepseek-v3"}, 4096)
    deeper = flops({"preset": "deepseek-v3", "mtp": {"num_nextn_predict_layers": 1}}, 4096)
    assert deeper.causal_scores / plain.causal_scores == pytest.approx(62 / 61, rel=1e-12)
    assert deeper.flops_per_token_6n - plain.flops_per_token_6n > 6 * 7168 * (129280 + 2 * 7168)


@pytest.mark.parametrize(("recompute", "extra"), [("none", 0.0), ("selective", 1 / 3)])
def test_hardware_adds_the_recomputed_scores(recompute: str, extra: float) -> None:
    found = flops({"preset": "llama-3.1-8b"}, 8192, parallelism={"recompute": recompute})
    expected = found.flops_per_token_causal + extra * found.causal_scores
    assert found.flops_per_token_hardware == pytest.approx(expected, rel=1e-12)


def test_full_recompute_is_four_passes_for_three() -> None:
    found = flops({"preset": "llama-3.1-8b"}, 8192, parallelism={"recompute": "full"})
    assert found.flops_per_token_hardware / found.flops_per_token_causal == pytest.approx(4 / 3, rel=1e-12)


def test_windows_count_exactly_in_their_layers() -> None:
    found = flops({"preset": "gpt-oss-20b"}, 4096)
    window = sum(min(i, 128) for i in range(1, 4097)) / 4096
    assert found.causal_keys == pytest.approx((window + 2048) / 2, rel=1e-12)
    assert found.flops_per_token_full == found.flops_per_token_6n + 6 * 24 * 64 * 128 * 4096


def test_window_longer_than_the_sequence_changes_nothing() -> None:
    found = flops({"preset": "mistral-7b-v0.1"}, 2048)
    assert found.causal_scores == found.full_scores / 2


def test_chunks_stop_attention() -> None:
    found = flops({"preset": "llama-4-scout-text"}, 32768)
    assert found.causal_keys == (36 * 4096 + 12 * 16384) / 48


def test_masks_leave_causal_and_full_alone_and_lower_the_masked_value() -> None:
    sources = [{"name": "web", "weight": 0.75, "mean_document_tokens": 1000}, {"name": "code", "weight": 0.25}]
    masked = flops({"preset": "llama-3.1-8b"}, 8192, data={"sources": sources})
    plain = flops({"preset": "llama-3.1-8b"}, 8192)
    assert masked.flops_per_token_causal == plain.flops_per_token_causal
    assert masked.flops_per_token_full == plain.flops_per_token_full
    assert masked.masked_keys == 0.75 * 500 + 0.25 * 4096


def test_without_mask_or_lengths_masked_is_causal() -> None:
    sources = [{"name": "web", "mean_document_tokens": 1000, "unique_tokens": "1T"}]
    off = flops({"preset": "llama-3.1-8b"}, 8192, data={"sources": sources, "document_mask": False})
    unknown = flops({"preset": "llama-3.1-8b"}, 8192, data={"sources": [{"name": "web"}]})
    for found in (off, unknown):
        assert found.flops_per_token_masked == found.flops_per_token_causal


def test_shares_follow_unique_tokens_where_no_weight_is_given() -> None:
    sources = [
        {"name": "a", "unique_tokens": 3000, "mean_document_tokens": 400},
        {"name": "b", "unique_tokens": 1000, "mean_document_tokens": 800},
    ]
    assert flops({"preset": "llama-3.1-8b"}, 8192, data={"sources": sources}).masked_keys == 0.75 * 200 + 0.25 * 400


def test_missing_length_blocks_all_but_6n() -> None:
    found: Any = flops({"preset": "llama-3.1-8b"}, None)
    assert found.flops_per_token_6n == 6 * 7_504_658_432
    assert isinstance(found.flops_per_token_causal, Blocked)
    assert found.flops_per_token_causal.code == "missing:data.sequence_length"


def test_missing_window_blocks() -> None:
    model = {"preset": "llama-3.1-8b", "layer_types": ["sliding_attention"] * 32}
    found: Any = flops(model, 4096)
    assert found.flops_per_token_causal.code == "missing:model.sliding_window"


def test_list_of_the_wrong_length_blocks() -> None:
    found: Any = flops({"preset": "llama-3.1-8b", "layer_types": ["full_attention"] * 31}, 4096)
    assert found.flops_per_token_causal.code == "model-layer-types"
