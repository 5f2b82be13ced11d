"""Findings on the token budget, D1 to D28: passes, weights, the sampler, how data is handled; and here batch, model size, store."""

from __future__ import annotations

from typing import Final

from trainplan.checks.amounts import at_least
from trainplan.checks.handling import HANDLING_CHECKS
from trainplan.checks.passes import PASS_CHECKS
from trainplan.checks.sampler import SAMPLER_CHECKS
from trainplan.checks.weights import WEIGHT_CHECKS
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import amount, whole

RULE: Final = 20.0
"""Tokens for each parameter that are compute-optimal by the rule of thumb (Hoffmann et al. 2022)."""

PADDED: Final = 0.01
"""Share of padding above which packing would matter: best-fit leaves a thousandth (Ding et al. 2024, arXiv 2404.10830)."""

TWO_BYTES: Final = 65_499
"""Ids that Megatron stores in two bytes: uint16 below a vocabulary of 65,500 (indexed_dataset.py, optimal_dtype)."""


def changing_batch(estimate: Estimate) -> list[Finding]:
    """D16: the batch changes during the run, and the learning rate should be looked at."""
    sizes = [one.global_batch_sequences * one.sequence_length for one in estimate.tokens.stretches if _told(one)]
    if len(set(sizes)) < 2:
        return []
    message = (
        f"the batch goes from {amount(sizes[0])} to {amount(sizes[-1])} tokens a step; the learning rate belongs to it"
    )
    fix = "Marin took sqrt(3) of the learning rate for 3 x the batch"
    path = "batch.schedule" if estimate.plan.batch.schedule else "data.stages"
    return [Finding("D16", "info", "tokens", message, fix, (path,))]


def _told(one: object) -> bool:
    return all(isinstance(getattr(one, name), Figure) for name in ("global_batch_sequences", "sequence_length"))


def less_than_a_step(estimate: Estimate) -> list[Finding]:
    """D27: a run or a stage of fewer tokens than its batch: there is no whole step, and tokens may have been meant as sequences.

    Or as billions: what is missing is many times what is there.
    """
    several = len(estimate.tokens.stretches) > 1
    for one in estimate.tokens.stretches:
        if (
            not isinstance(one.tokens, Figure)
            or not isinstance(one.step_tokens, Figure)
            or one.tokens >= one.step_tokens
        ):
            continue
        said = f"{whole(one.tokens)} tokens of {one.name}" if several else f"{whole(one.tokens)} train tokens"
        message = f"{said} are less than one batch of {whole(one.step_tokens)}"
        first = "data.train_tokens" if not several else "data.stages" if estimate.plan.data.stages else "batch.schedule"
        fix = f"at least {whole(one.step_tokens)} {'train tokens' if not several else 'tokens in it'}"
        paths = (first, "batch.global_batch_sequences")
        return [Finding("D27", "error", "tokens", message, fix, paths, 1e5)]
    return []


def padded_batches(estimate: Estimate) -> list[Finding]:
    """D28: much of the batches is padding, which steps, compute and passes take for tokens of documents."""
    train, share = estimate.tokens.train_tokens, estimate.packing.padding_share
    if estimate.plan.data.packing != "pad" or not isinstance(train, Figure) or not isinstance(share, Figure):
        return []
    if share <= PADDED:
        return []
    message = (
        f"{100 * share:.1f} % of a batch is padding: {amount((1.0 - share) * train, 3)} of {amount(train)} train tokens are of "
        "documents, and steps and passes count all"
    )
    return [
        Finding("D28", "warning", "tokens", message, 'packing = "best-fit"', ("data.packing", "data.train_tokens"), 55)
    ]


def few_tokens(estimate: Estimate) -> list[Finding]:
    """D17: fewer tokens for each parameter than the compute-optimal mark."""
    ratio, size = estimate.tokens.tokens_per_parameter, estimate.model.active_parameters
    if not isinstance(ratio, Figure) or ratio >= RULE:
        return []
    message = f"{ratio:.3g} tokens for each active parameter; 20 are compute-optimal by the rule of thumb"
    return [
        Finding(
            "D17", "info", "tokens", message, f"{amount(at_least(RULE * size))} train tokens", ("data.train_tokens",)
        )
    ]


def narrow_store(estimate: Estimate) -> list[Finding]:
    """D17: the vocabulary does not fit the bytes of a token in the shards."""
    width, vocabulary = estimate.plan.data.bytes_per_token, estimate.situation["model.vocab_size"]
    if width is None or not isinstance(vocabulary, Figure):
        return []
    holds = TWO_BYTES if 2 <= width < 3 else 256.0 ** min(float(width), 8.0)
    if vocabulary <= holds:
        return []
    message = f"{whole(vocabulary)} ids do not fit {width:g} byte{'' if width == 1 else 's'} a token, which hold {whole(holds)}"
    paths = ("data.bytes_per_token", "model.vocab_size")
    return [
        Finding("D17", "error", "tokens", message, f"{2 if vocabulary <= TWO_BYTES else 4} bytes a token", paths, 1e4)
    ]


TOKEN_CHECKS: Final = (
    *PASS_CHECKS,
    *WEIGHT_CHECKS,
    *SAMPLER_CHECKS,
    *HANDLING_CHECKS,
    changing_batch,
    less_than_a_step,
    padded_batches,
    few_tokens,
    narrow_store,
)
