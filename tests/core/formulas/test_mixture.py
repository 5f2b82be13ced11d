"""Formulas of mixture, packing and scaling: golden vectors to the printed digits, and values worked out by hand."""

from __future__ import annotations

import pytest

from trainplan.budgets.mixture import REPETITION
from trainplan.formulas import mixture as f
from trainplan.formulas import packing, scaling

R_STAR = float(REPETITION)


@pytest.mark.parametrize(
    ("passes", "effective"), [(1, "1.00"), (2, "1.97"), (4, "3.73"), (8, "6.62"), (16, "10.58"), (40, "15.17")]
)
def test_effective_passes_to_the_printed_digits(passes: float, effective: str) -> None:
    """Golden vectors of the domain notes, section 13, with R* = 15.39; the fit's 15.387756 gives the same digits."""
    assert f"{f.effective_tokens(1.0, passes, 15.39):.2f}" == effective
    assert f"{f.effective_tokens(1.0, passes, R_STAR):.2f}" == effective


def test_effective_tokens_of_less_than_a_pass_are_those_drawn() -> None:
    assert f.effective_tokens(1000.0, 250.0, R_STAR) == 250.0


def test_effective_tokens_stay_below_their_limit() -> None:
    """1 + R* = 16.39 times the unique tokens, however often they are drawn."""
    assert f.effective_tokens(1.0, 1e4, R_STAR) == pytest.approx(1 + R_STAR, rel=1e-12)


@pytest.mark.parametrize(
    ("epochs", "progress", "share"),
    [
        (2, 0.25, "0.438"),
        (2, 0.5, "0.750"),
        (2, 0.75, "0.938"),
        (4, 0.25, "0.684"),
        (4, 0.5, "0.938"),
        (4, 0.75, "0.996"),
    ],
)
def test_joint_shuffle_to_the_printed_digits(epochs: float, progress: float, share: str) -> None:
    """Golden vectors of the domain notes, section 13."""
    assert f"{f.seen_in_epochs(1e9, progress * epochs * 1e9, epochs) / 1e9:.3f}" == share


@pytest.mark.parametrize(
    ("samples", "together"), [(1508.0, 1.0), (1797.0, 1.0), (1799.0, 2.0), (1910.0, 2.0), (2000.0, 2.0)]
)
def test_last_epoch_stays_apart_when_little_of_it_is_needed(samples: float, together: float) -> None:
    """Epochs of 1,000,000 tokens, samples of 1,000: apart below int(0.8 x 999) = 799 samples after the first 999."""
    assert f.epochs_together(2.0, samples, 1000.0, 1e6, 0.8) == together


def test_everything_was_seen_when_the_last_epoch_begins() -> None:
    """1.5 passes with one epoch apart; 1.9 passes of two together."""
    assert f.seen_in_epochs(1e6, 1.5e6, 1.0) == 1e6
    assert f.seen_in_epochs(1e6, 1.9e6, 2.0) == pytest.approx(1e6 * (1 - 0.05**2))


def test_with_replacement_a_pass_shows_63_percent() -> None:
    assert f.seen_with_replacement(1.0, 1.0) == pytest.approx(0.6321205588, rel=1e-9)


@pytest.mark.parametrize(
    ("tokens", "share", "unique", "samples", "epochs"),
    [
        (1000.0, 1.0, 1000.0, 101.0, 2.0),  # one pass asked, and the surplus opens a second epoch
        (990.0, 1.0, 1000.0, 100.0, 2.0),  # 100 samples of 10 need 1,001 tokens
        (980.0, 1.0, 1000.0, 99.0, 1.0),
        (1000.0, 0.333, 100.0, 35.0, 4.0),  # ceil(ceil(100 x 0.333) x 1.005) = 35
    ],
)
def test_megatron_epochs_by_hand(tokens: float, share: float, unique: float, samples: float, epochs: float) -> None:
    built = f.samples_built(tokens, 10.0, share, 1.005)
    assert (built, f.epochs_built(built, 10.0, unique)) == (samples, epochs)


def test_megatron_case_of_24_million_samples() -> None:
    """EleutherAI/gpt-neox issue 1140: 31,267,487 samples of 2,048 cover 2 passes; 24,000,000 samples are 1.535 of them."""
    unique = 31267487 / 2 * 2048
    assert f.passes(24000000.0 * 2048, unique) == pytest.approx(1.535, abs=5e-4)


def test_equal_use_of_unequal_sources_needs_weights_by_size() -> None:
    """NVIDIA/Megatron-LM issue 547: 1:1 over 30 draws of 10 and 20 repeats the first 1.5 times and uses 0.75 of the other."""
    assert (f.passes(15.0, 10.0), f.passes(15.0, 20.0)) == (1.5, 0.75)
    weights = [f.weight_share(size, 30.0) for size in (10.0, 20.0)]
    assert [f.passes(f.drawn_tokens(one, 30.0), size) for one, size in zip(weights, (10.0, 20.0), strict=True)] == [
        1,
        1,
    ]


def test_temperature_brings_sources_together() -> None:
    """Sizes 1 and 16: alpha 1 keeps 16:1, alpha one half makes 4:1, alpha 0 makes them equal."""
    ratios = [f.temperature_weight(16.0, alpha) / f.temperature_weight(1.0, alpha) for alpha in (1.0, 0.5, 0.0)]
    assert ratios == [16.0, 4.0, 1.0]


def test_cut_and_padding_by_hand() -> None:
    assert packing.cut_by_concatenation(900.0, 8192.0) == 0.10986328125
    assert packing.cut_by_concatenation(9000.0, 8192.0) == 1.0
    assert (packing.cut_where_longer(8192.0, 8192.0), packing.cut_where_longer(8193.0, 8192.0)) == (0.0, 1.0)
    assert packing.padding_share(packing.kept_length(1024.0, 4096.0), 4096.0) == 0.75


@pytest.mark.golden("data_limits")
def test_compute_optimal_marks(row: dict[str, float]) -> None:
    """Published constants at a compute budget C = 6 N D: the optimal parameters lead back to the optimal tokens."""
    fit = {key: float(value) for key, value in scaling.FITS[str(row["fit"])].items()}
    tokens = scaling.optimal_tokens(row["parameters"], fit["a"], fit["b"], fit["alpha"], fit["beta"])
    assert tokens == pytest.approx(row["tokens"], rel=1e-9)
    assert 6 * row["parameters"] * tokens == pytest.approx(row["flops"], rel=1e-9)


@pytest.mark.parametrize(
    ("epochs", "tokens"),
    [(1, 25000000000.0), (2, 49204980594.71791), (4, 93141828076.53316), (40, 379186620038.2947)],
)
def test_effective_tokens_of_25_billion(epochs: float, tokens: float) -> None:
    """Worked from huggingface/datablations constants; to rounding of the last digits."""
    assert f.effective_tokens(25e9, 25e9 * epochs, R_STAR) == pytest.approx(tokens, rel=1e-12)
