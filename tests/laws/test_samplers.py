"""Sampler contracts simulated on small data, and the budget of the same plan held to them; laws of mixtures.

Counts that a sampler fixes agree exactly or within one sample. Draws by chance agree within four standard errors, which a
right formula misses once in 16,000 runs; seeds are fixed, so a run that passed passes again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainplan.budgets.exhaustion import interleaved
from trainplan.budgets.mixture import MixtureBudget, mixture_budget
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import token_budget
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Figure, blocked

SIGMAS = 4.0
LENGTH = 64  # tokens of a sequence


def budget(sampler: str, tokens: float, sources: Sequence[dict[str, Any]], **data: Any) -> MixtureBudget:
    """The mixture of a plan of so many tokens in sequences of LENGTH."""
    fields = {"train_tokens": tokens, "sequence_length": LENGTH, "sampler": sampler, "sources": list(sources)} | data
    plan = Plan.model_validate({"format": 1, "data": fields, "batch": {"global_batch_sequences": 8}})
    s = Situation(plan)
    return mixture_budget(s, token_budget(s, blocked("none"), blocked("none")))


def source(name: str, unique: int, weight: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "unique_tokens": unique, "weight": weight} | more


def blend(weights: Sequence[float], samples: int) -> np.ndarray[Any, Any]:
    """Samples of each source by the largest deficit, as Megatron's build_blending_indices and nanoset draw them."""
    share, counts = np.array(weights) / sum(weights), np.zeros(len(weights))
    for place in range(samples):
        counts[int(np.argmax(share * max(place, 1.0) - counts))] += 1
    return counts


def megatron_epochs(samples: int, tokens: int) -> int:
    """gpt_dataset.py, _get_num_epochs: epochs are added until they hold the samples and one token more."""
    epochs, have = 1, tokens
    while have < samples * LENGTH + 1:
        epochs, have = epochs + 1, have + tokens
    return epochs


def megatron_order(rng: np.random.Generator, documents: int, samples: int) -> np.ndarray[Any, Any]:
    """Documents of LENGTH tokens in the order of the shuffled index: epochs together, the last apart if little is needed."""
    tokens = documents * LENGTH
    epochs = megatron_epochs(samples, tokens)
    apart = epochs > 1 and samples - ((epochs - 1) * tokens - 1) // LENGTH < int(0.80 * ((tokens - 1) // LENGTH))
    joint = np.tile(np.arange(documents), epochs - 1 if apart else epochs)
    rng.shuffle(joint)
    return np.concatenate([joint, rng.permutation(documents)]) if apart else joint


@pytest.mark.parametrize("share", [0.25, 0.5])
@pytest.mark.parametrize("passes", [0.4, 0.997, 1.0, 1.3, 1.7, 1.79, 1.85, 1.95, 2.5, 3.9, 7.83])
def test_megatron_blended(passes: float, share: float) -> None:
    """Epochs built exactly; unique tokens within four standard errors of documents missed independently."""
    documents = 20000
    drawn = round(passes * documents)
    run = round(drawn / share)
    found = budget(
        "megatron-blended", run * LENGTH, [source("a", documents * LENGTH, share), source("b", 10**12, 1 - share)]
    )
    row = found.rows[0]
    samples = math.ceil(math.ceil(run * share) * 1.005)
    assert row.epochs == megatron_epochs(samples, documents * LENGTH)
    order = megatron_order(np.random.default_rng(11), documents, samples)
    seen = len(np.unique(order[:drawn])) / documents
    told = row.seen / (documents * LENGTH)
    error = math.sqrt(max(told * (1 - told), 1 / documents) / documents)
    assert seen == pytest.approx(told, abs=SIGMAS * error)


@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=6), st.integers(10, 2000))
@settings(max_examples=40)
def test_blends_by_deficit_stay_within_two_samples(weights: list[float], samples: int) -> None:
    """What Megatron and nanoset draw of a source is its share of the samples, to two of them."""
    sources = [source(f"s{i}", 10**9, weight) for i, weight in enumerate(weights)]
    for sampler in ("megatron-blended", "nanoset"):
        rows = budget(sampler, samples * LENGTH, sources).rows
        told = np.array([float(row.drawn) / LENGTH for row in rows])
        assert np.abs(blend(weights, samples) - told).max() <= 2.0


def test_megatron_exhaustive() -> None:
    """Every sample of every source once: weights have no part in it."""
    sizes = {"a": 300, "b": 700}
    order = np.random.default_rng(2).permutation(np.repeat(list(sizes), list(sizes.values())))
    found = budget("megatron-exhaustive", 1000 * LENGTH, [source(name, n * LENGTH, 0.5) for name, n in sizes.items()])
    for row in found.rows:
        assert np.count_nonzero(order == row.name) * LENGTH == row.drawn == row.seen
        assert row.passes == 1


def quotas(weights: Sequence[float], instances: int) -> np.ndarray[Any, Any]:
    """Hamilton rounding: whole parts, then one each to the largest remainders."""
    exact = np.array(weights) * instances
    counts = np.floor(exact)
    for place in np.argsort(counts - exact)[: int(instances - counts.sum())]:
        counts[place] += 1
    return counts


def test_olmo_core() -> None:
    """Quotas in whole instances are shares within one; drawn without replacement, all of the quota is new."""
    weights = [0.517, 0.281, 0.202]
    counts = quotas(weights, 997)
    found = budget("olmo-core", 997 * LENGTH, [source(f"s{i}", 997 * LENGTH, w) for i, w in enumerate(weights)])
    assert counts.sum() == 997
    for row, count in zip(found.rows, counts, strict=True):
        assert abs(row.drawn / LENGTH - count) < 1
        assert row.seen == row.drawn


def test_mosaic_streaming() -> None:
    """Proportions of one epoch: whole repeats of a stream, and a random part of it without replacement."""
    rng, samples, sizes, weights = np.random.default_rng(3), 1000, [800, 100], [0.7, 0.3]
    found = budget(
        "mosaic-streaming",
        samples * LENGTH,
        [source(f"s{i}", n * LENGTH, w) for i, (n, w) in enumerate(zip(sizes, weights, strict=True))],
    )
    for row, size, weight in zip(found.rows, sizes, weights, strict=True):
        chosen = round(weight * samples)
        whole, rest = divmod(chosen, size)
        drawn = np.concatenate([np.tile(np.arange(size), whole), rng.permutation(size)[:rest]])
        assert len(drawn) * LENGTH == pytest.approx(row.drawn, rel=1e-12)
        assert len(np.unique(drawn)) * LENGTH == pytest.approx(row.seen, rel=1e-12)


@given(st.lists(st.floats(0.001, 1.0), min_size=1, max_size=8), st.integers(1, 65535))
@settings(max_examples=60)
def test_levanter_shares_exactly(weights: list[float], block: int) -> None:
    """mixture.py, _compute_expected_counts_per_block: truncated counts, what is left to the largest."""
    whole = math.fsum(weights)
    found = budget("levanter", 10**6, [source(f"s{i}", 10**6, w) for i, w in enumerate(weights)], mixture_block=block)
    told = weights if abs(whole - 1) <= 1e-6 else [float(one) / _left_to_right(weights) for one in weights]
    counts = np.zeros(len(weights), dtype=np.int32)
    for place, weight in enumerate(told):
        counts[place] = weight * block
    counts[np.argmax(counts)] += block - counts.sum()
    assert [float(row.share) for row in found.rows] == [int(count) / block for count in counts]


def _left_to_right(weights: Sequence[float]) -> float:
    value = 0.0
    for weight in weights:
        value += weight
    return value


def test_levanter_restarts_by_index() -> None:
    """Blocks of 16: 12 and 4 sequences; the index wraps, so that nothing comes twice before everything came once."""
    blocks, sizes = 50, [1000, 150]
    found = budget(
        "levanter",
        blocks * 16 * LENGTH,
        [source(f"s{i}", n * LENGTH, w) for i, (n, w) in enumerate(zip(sizes, (0.75, 0.25), strict=True))],
        mixture_block=16,
    )
    for row, size, each in zip(found.rows, sizes, (12, 4), strict=True):
        order = np.arange(blocks * each) % size
        assert len(order) * LENGTH == row.drawn
        assert len(np.unique(order)) * LENGTH == row.seen


ITEMS = [("web", 0.7, 900.0), ("code", 0.2, 2100.0), ("math", 0.1, 300.0)]


def _items(sampler: str, tokens: float, unique: float = 1e9) -> MixtureBudget:
    return budget(sampler, tokens, [source(name, int(unique), w, mean_document_tokens=m) for name, w, m in ITEMS])


@pytest.mark.parametrize("sampler", ["hf-interleave", "torchdata-weighted", "webdataset"])
def test_items_by_chance_make_token_shares(sampler: str) -> None:
    """Independent draws of documents with exponential lengths; the shares of their tokens within four standard errors."""
    rng, draws = np.random.default_rng(7), 200_000
    chosen = rng.choice(3, size=draws, p=[weight for _, weight, _ in ITEMS])
    means = np.array([mean for _, _, mean in ITEMS])
    lengths = rng.exponential(means[chosen])
    whole = lengths.sum()
    for place, row in enumerate(_items(sampler, 1e6).rows):
        part = np.where(chosen == place, lengths, 0.0)
        error = (part - row.share * lengths).std() * math.sqrt(draws) / whole
        assert part.sum() / whole == pytest.approx(float(row.share), abs=SIGMAS * error)


def test_hf_interleave_stops_with_its_first_source() -> None:
    """Items until the first of three sources ends, over 300 runs: the mean within four standard errors and one percent.

    The formula takes the source with the least n / p; a second source that ends at nearly the same time would lower the mean.
    """
    rng, weights, sizes = np.random.default_rng(13), [0.7, 0.2, 0.1], [9000, 2000, 400]
    ends = []
    for _ in range(300):
        needed = [rng.negative_binomial(n, w) + n for n, w in zip(sizes, weights, strict=True)]
        ends.append(min(needed))
    found = budget(
        "hf-interleave",
        1e6,
        [
            source(f"s{i}", n * 500, w, mean_document_tokens=500)
            for i, (n, w) in enumerate(zip(sizes, weights, strict=True))
        ],
    )
    items, tokens = interleaved(found)
    assert isinstance(items, Figure)
    assert isinstance(tokens, Figure)
    assert items == pytest.approx(4000, rel=1e-12)
    assert tokens == pytest.approx(4000 * 500, rel=1e-12)
    error = np.std(ends) / math.sqrt(len(ends))
    assert np.mean(ends) == pytest.approx(4000, abs=SIGMAS * error)


def test_torchdata_weighted_cycles() -> None:
    """A node is reset when it ends: passes of a source are its draws over its items, and all items are seen after one."""
    rng, draws, size = np.random.default_rng(17), 50_000, 2000
    chosen = rng.choice(3, size=draws, p=[weight for _, weight, _ in ITEMS])
    mean = sum(weight * length for _, weight, length in ITEMS)
    sources = [source(name, int(size * m), w, mean_document_tokens=m) for name, w, m in ITEMS]
    for place, row in enumerate(budget("torchdata-weighted", round(draws * mean), sources).rows):
        order = np.arange(np.count_nonzero(chosen == place)) % size
        weight = ITEMS[place][1]
        error = math.sqrt(draws * weight * (1 - weight)) / size
        assert len(order) / size == pytest.approx(float(row.passes), abs=SIGMAS * error)
        assert len(np.unique(order)) / size == min(1.0, len(order) / size)
        assert row.seen == min(row.drawn, row.unique)


@pytest.mark.parametrize("passes", [0.5, 1.0, 2.0, 4.0])
def test_webdataset_draws_shards_with_replacement(passes: float) -> None:
    """Shares of 20,000 shards seen; finite numbers shift the mean by exp(-e) e / 2n, far below the error."""
    shards = 20000
    chosen = np.random.default_rng(19).integers(0, shards, round(passes * shards))
    one = [source("a", shards * 1000, 1.0, mean_document_tokens=100)]
    row = budget("webdataset", passes * shards * 1000, one).rows[0]
    told = row.seen / row.unique
    error = math.sqrt(told * (1 - told) / shards)
    assert len(np.unique(chosen)) / shards == pytest.approx(told, abs=SIGMAS * error)


def test_torchtitan_reads_one_mix_over_and_over() -> None:
    """1,000 sequences over 8 ranks, 1,600 drawn: each rank wraps its own 125."""
    ranks, size = 8, 1000
    parts = [np.arange(rank, size, ranks) for rank in range(ranks)]
    drawn = np.concatenate([part[np.arange(200) % len(part)] for part in parts])
    found = budget("torchtitan", 1600 * LENGTH, [source("a", 600 * LENGTH, 0.6), source("b", 400 * LENGTH, 0.4)])
    assert all(row.passes == pytest.approx(1.6, rel=1e-12) for row in found.rows)
    assert len(np.unique(drawn)) * LENGTH == pytest.approx(found.unique_seen, rel=1e-12)


def test_nanoset_wraps() -> None:
    """Sample numbers modulo the length of the source: 375 draws of 150 samples see them all."""
    counts = blend([0.75, 0.25], 1500)
    found = budget("nanoset", 1500 * LENGTH, [source("a", 2000 * LENGTH, 0.75), source("b", 150 * LENGTH, 0.25)])
    for row, count, size in zip(found.rows, counts, (2000, 150), strict=True):
        assert abs(row.drawn / LENGTH - count) <= 1
        assert len(np.unique(np.arange(int(row.drawn / LENGTH)) % size)) * LENGTH == row.seen


WEIGHTS = st.lists(st.floats(0.001, 100.0), min_size=1, max_size=8)
NORMALISING = st.sampled_from(["megatron-blended", "mosaic-streaming", "nanoset"])


def _shares(sampler: str, weights: Sequence[float]) -> list[float]:
    return [
        float(row.share)
        for row in budget(sampler, 1e12, [source(f"s{i}", 10**9 + i, w) for i, w in enumerate(weights)]).rows
    ]


@given(WEIGHTS, NORMALISING, st.floats(0.01, 100.0))
@settings(max_examples=60)
def test_shares_sum_to_one_whatever_the_scale_and_order(weights: list[float], sampler: str, scale: float) -> None:
    """Relation 26. Where raw weights sum to 1 within 1e-6 they stand as they are, so 2e-6 is what a scale may move."""
    shares = _shares(sampler, weights)
    assert math.fsum(shares) == pytest.approx(1.0, abs=1e-6)
    scaled = _shares(sampler, [weight * scale for weight in weights])
    assert scaled == pytest.approx(shares, rel=2e-6)
    assert _shares(sampler, weights[::-1]) == pytest.approx(shares[::-1], rel=1e-12)


@given(WEIGHTS, st.integers(10**6, 10**13), st.integers(2, 9))
@settings(max_examples=60)
def test_passes_are_linear_in_tokens_and_give_them_back(weights: list[float], tokens: int, times: int) -> None:
    """Relation 27: passes x size sums to the train tokens."""
    sources = [source(f"s{i}", 10**6 * (i + 1), w / math.fsum(weights)) for i, w in enumerate(weights)]
    rows, more = budget("nanoset", tokens, sources).rows, budget("nanoset", tokens * times, sources).rows
    assert math.fsum(row.passes * row.unique for row in rows) == pytest.approx(tokens, rel=1e-9)
    for one, other in zip(rows, more, strict=True):
        assert other.passes == pytest.approx(one.passes * times, rel=1e-12)


@given(st.integers(2, 10**9), st.floats(0.01, 0.99), st.floats(0.1, 0.9))
@settings(max_examples=60)
def test_a_source_split_in_two_keeps_its_passes(size: int, weight: float, cut: float) -> None:
    """Relation 28: split size and share alike; the cut falls on a whole token."""
    first = max(1, min(size - 1, round(size * cut)))
    part = first / size
    rest = source("rest", 10**9, 1 - weight)
    whole = budget("nanoset", 1e10, [source("a", size, weight), rest]).rows[0]
    halves = [source("a", first, weight * part), source("b", size - first, weight * (1 - part)), rest]
    for row in budget("nanoset", 1e10, halves).rows[:2]:
        assert row.passes == pytest.approx(whole.passes, rel=1e-9)


@given(
    st.lists(st.floats(0.01, 1.0), min_size=2, max_size=5),
    st.sampled_from(["megatron-blended", "levanter", "webdataset"]),
)
@settings(max_examples=40)
def test_seen_is_never_more_than_there_is_or_was_drawn(weights: list[float], sampler: str) -> None:
    """And what repeats are worth is never more than what was drawn."""
    sources = [source(f"s{i}", 10**6 * (i + 1), w, mean_document_tokens=100) for i, w in enumerate(weights)]
    for row in budget(sampler, 5 * 10**6, sources).rows:
        assert row.seen <= row.unique * (1 + 1e-12)
        assert row.seen <= row.drawn * (1 + 1e-12)
        assert row.effective <= row.drawn * (1 + 1e-12)
