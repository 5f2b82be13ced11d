"""Findings on how the data was made and is read: D11 to D15, D18, D19, D21. Each stands on a field in which the plan says it."""

from __future__ import annotations

import math
from typing import Final

from trainplan.checks.amounts import at_most, listed
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import amount, whole

BATCH: Final = "batch.global_batch_sequences"


def split_tail(estimate: Estimate) -> list[Finding]:
    """D11: held-out text is the tail of a split, a contiguous range of documents before shuffling."""
    if estimate.plan.data.held_out != "split-tail":
        return []
    message = (
        "held-out text is the tail of a split, a contiguous range before shuffling: a sorted corpus gives a biased one"
    )
    return [Finding("D11", "warning", "tokens", message, 'data.held_out = "explicit"', ("data.held_out",), 25)]


def unshuffled(estimate: Estimate) -> list[Finding]:
    """D12: MosaicML Streaming shuffles only when told to, and nothing says that it was."""
    data = estimate.plan.data
    if data.sampler != "mosaic-streaming" or data.shuffle not in (None, "none"):
        return []
    message = "mosaic-streaming does not shuffle unless told to, and the plan does not say that it is"
    fix = 'shuffling turned on in the loader, and data.shuffle = "sequences" here'
    return [Finding("D12", "error", "tokens", message, fix, ("data.shuffle", "data.sampler"), 60)]


def affine_shuffle(estimate: Estimate) -> list[Finding]:
    """D13: an affine permutation on data that was not shuffled before."""
    if estimate.plan.data.shuffle != "affine":
        return []
    message = "an affine shuffle keeps distances: Marin 32B saw the loss shift phase near step 190k"
    return [
        Finding("D13", "warning", "tokens", message, "a Feistel permutation, or shuffle before", ("data.shuffle",), 30)
    ]


def ordered_sequences(estimate: Estimate) -> list[Finding]:
    """D14: documents are shuffled, and the sequences cut from them are read in order."""
    if estimate.plan.data.shuffle != "documents":
        return []
    message = "documents are shuffled and sequences read in order: one long document fills batches"
    return [
        Finding("D14", "warning", "tokens", message, "shuffle sequences once for each epoch", ("data.shuffle",), 30)
    ]


LARGEST: Final = 15_360 * 4096
"""Tokens of the largest batch of the published plans: DeepSeek-V3, arXiv 2412.19437, 15,360 sequences of 4,096."""

ABSURD: Final = 8
"""Times the largest published batch above which a number of sequences was meant as tokens: product judgement."""


def tokens_for_sequences(estimate: Estimate) -> list[Finding]:
    """D15: a batch of so many sequences that tokens were meant, with the sequences that so many tokens are."""
    found = [one for one in estimate.tokens.stretches if isinstance(one.step_tokens, Figure)]
    worst = max(found, key=lambda one: float(one.step_tokens), default=None)
    if worst is None or worst.step_tokens <= ABSURD * LARGEST:
        return []
    count, length = float(worst.global_batch_sequences), float(worst.sequence_length)
    path = _batch_path(estimate, worst.name)
    message = (
        f"{whole(count)} sequences are {amount(worst.step_tokens, 3)} tokens a step, {worst.step_tokens / LARGEST:,.0f} times the "
        "largest published batch"
    )
    near = 2 ** max(0, round(math.log2(count / length)))
    told = f"{near:,} sequences" if path == BATCH else f"{near:,} in place of {whole(count)}"
    fix = f"{told} of {whole(length)} tokens, {amount(near * length)} a step, where {amount(count)} tokens were meant"
    return [Finding("D15", "warning", "tokens", message, fix, (path, "data.sequence_length"), 70)]


def _batch_path(estimate: Estimate, stretch: str) -> str:
    """The field that gives a stretch its batch."""
    plan = estimate.plan
    if plan.batch.schedule:
        return "batch.schedule"
    own = next((i for i, one in enumerate(plan.data.stages) if (one.name or str(i)) == stretch), None)
    if own is not None and plan.data.stages[own].global_batch_sequences is not None:
        return f"data.stages.{stretch}.global_batch_sequences"
    return BATCH


def large_batch(estimate: Estimate) -> list[Finding]:
    """D15: a batch above the critical one that the plan states."""
    limit = estimate.plan.data.critical_batch_tokens
    sizes = [one.step_tokens for one in estimate.tokens.stretches if isinstance(one.step_tokens, Figure)]
    if limit is None or not sizes or max(sizes) <= limit or tokens_for_sequences(estimate):
        return []
    message = f"a step has {amount(max(sizes))} tokens, above the critical batch of {amount(limit)}: more steps would learn more"
    paths = ("batch.global_batch_sequences", "data.critical_batch_tokens")
    return [Finding("D15", "warning", "tokens", message, f"at most {amount(at_most(limit))} tokens a step", paths, 35)]


def tokenizer_hashes(estimate: Estimate) -> list[Finding]:
    """D18: sources were made with different tokenizers, or some do not say with which."""
    sources = [(one.name or str(i), one.tokenizer_sha256) for i, one in enumerate(estimate.plan.data.sources)]
    told = {hash_ for _, hash_ in sources if hash_}
    if not told:
        return []
    path = f"data.sources.{next((name for name, hash_ in sources if not hash_), sources[0][0])}.tokenizer_sha256"
    if len(told) > 1:
        message = f"sources were made with {len(told)} different tokenizers"
        return [Finding("D18", "error", "tokens", message, "one tokenizer for all sources", (path,), 80)]
    silent = [name for name, hash_ in sources if not hash_]
    if not silent:
        return []
    message = f"{listed(silent)}: the tokenizer of the shards is not recorded, that of other sources is"
    return [Finding("D18", "error", "tokens", message, "give tokenizer_sha256", (path,), 70)]


def stale_shards(estimate: Estimate) -> list[Finding]:
    """D19: shards older than the code that makes them."""
    changed, today = estimate.plan.data.preprocessing_changed, estimate.today
    if changed is None or (today is not None and changed > today):
        return []
    old = [one for one in estimate.plan.data.sources if one.built is not None and one.built < changed]
    if not old:
        return []
    names = [one.name or "?" for one in old]
    message = f"{listed(names)}: built before the preprocessing changed on {changed}; a cache may hold what was mended"
    path = f"data.sources.{names[0]}.built"
    return [
        Finding(
            "D19", "warning", "tokens", message, "build again, or check that the change does not touch it", (path,), 45
        )
    ]


def repeated_ngrams(estimate: Estimate) -> list[Finding]:
    """D21: documents with long repeats were not filtered."""
    if estimate.plan.data.ngram_filter is not False:
        return []
    message = "documents with repeated n-grams are not filtered; OLMo 2 links gradient spikes to them"
    return [Finding("D21", "info", "tokens", message, "filter long repeats", ("data.ngram_filter",))]


HANDLING_CHECKS: Final = (
    split_tail,
    unshuffled,
    affine_shuffle,
    ordered_sequences,
    tokens_for_sequences,
    large_batch,
    tokenizer_hashes,
    stale_shards,
    repeated_ngrams,
)
