"""Keys of one query against counting them one by one; parameters of a layer against its matrices."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainplan.formulas import attention as at
from trainplan.quantity.figure import Blocked, Figure
from trainplan.quantity.figure import given as entered

LENGTHS = st.integers(min_value=1, max_value=600)


@given(LENGTHS, LENGTHS)
def test_window_is_the_mean_of_what_each_query_sees(length: int, window: int) -> None:
    counted = sum(min(place, window) for place in range(1, length + 1)) / length
    found = at.window_keys(float(length), float(window))
    assert found == pytest.approx(counted if window < length else length / 2, rel=1e-12)


@given(LENGTHS, LENGTHS)
def test_chunks_are_causal_squares(length: int, chunk: int) -> None:
    sizes = [min(chunk, length - start) for start in range(0, length, chunk)]
    assert at.chunk_keys(float(length), float(chunk)) == pytest.approx(
        sum(n * n for n in sizes) / (2 * length), rel=1e-12
    )


@given(LENGTHS, LENGTHS)
def test_no_mask_lets_more_through_than_the_causal_one(length: int, window: int) -> None:
    most = at.causal_keys(float(length)) + 0.5
    assert at.window_keys(float(length), float(window)) <= most
    assert at.chunk_keys(float(length), float(window)) <= most


def test_documents_are_cut_to_the_sequence() -> None:
    assert at.document_length(900.0, 8192.0) == 900
    assert at.document_length(20000.0, 8192.0) == 8192


def test_grouped_attention_is_four_matrices() -> None:
    assert at.attention_parameters(4096.0, 32.0, 8.0, 128.0) == 2 * 4096 * 4096 + 2 * 4096 * 1024
    assert at.attention_bias_parameters(32.0, 8.0, 128.0) == 4096 + 2 * 1024


def test_latent_attention_of_deepseek_v3() -> None:
    query = at.latent_query_down_parameters(7168.0, 1536.0) + at.latent_query_up_parameters(1536.0, 128.0, 128.0, 64.0)
    keys = at.latent_key_value_down_parameters(7168.0, 512.0, 64.0)
    keys += at.latent_key_value_up_parameters(512.0, 128.0, 128.0, 128.0)
    assert query + keys + at.latent_output_parameters(7168.0, 128.0, 128.0) == 187_105_280


def test_head_size_of_no_heads_is_blocked() -> None:
    hidden, none = (entered(name, value, "1", "test") for name, value in (("hidden", 64.0), ("heads", 0.0)))
    found: Figure | Blocked = at.head_size(hidden, none)
    assert isinstance(found, Blocked)
