"""Parts of a model against counting them another way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trainplan.formulas import flops as fl
from trainplan.formulas import model as mo

SMALL = st.integers(min_value=0, max_value=40)


@given(st.integers(min_value=1, max_value=130), SMALL, st.integers(min_value=1, max_value=12))
def test_expert_layers_are_counted_one_by_one(layers: int, first: int, frequency: int) -> None:
    counted = sum(layer >= first and layer % frequency == 0 for layer in range(layers))
    assert mo.expert_layers(float(layers), float(first), float(frequency)) == counted


@given(st.integers(min_value=1, max_value=10**6), st.integers(min_value=1, max_value=64))
def test_padded_vocabulary_is_the_next_multiple(vocabulary: int, tensor: int) -> None:
    step = mo.vocabulary_step(128.0, float(tensor))
    padded = mo.padded_vocabulary(float(vocabulary), float(step))
    assert padded % step == 0
    assert 0 <= padded - vocabulary < step


def test_a_gate_is_one_more_matrix() -> None:
    assert mo.gated_mlp_parameters(8.0, 32.0) - mo.plain_mlp_parameters(8.0, 32.0) == 8 * 32


def test_counts_stay_whole_beyond_a_trillion() -> None:
    assert mo.routed_parameters(60.0, 384.0, 44_040_192.0) == 60 * 384 * 44_040_192


def test_published_formula_of_narayanan_without_recompute() -> None:
    """72 B s l h^2 (1 + s/6h + V/12lh), eq. 3 without the extra forward; weights and scores of the GPT shape give the same."""
    layers, hidden, heads, length, vocabulary = 96.0, 12288.0, 96.0, 2048.0, 51200.0
    published = 72 * layers * hidden**2 * (1 + length / (6 * hidden) + vocabulary / (12 * layers * hidden))
    weights = layers * 12 * hidden**2 + vocabulary * hidden
    scores = fl.score_flops(heads, hidden / heads, hidden / heads, layers * length)
    assert abs(fl.token_flops(fl.linear_flops(weights), scores) / published - 1) < 1e-12
