"""Packing: how documents of one length fill sequences of another, what is cut and what is padded.

Every source is taken at its mean length unless a histogram says more. A spread of lengths cuts and pads more evenly.
"""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import minimum, where

DEFINITION = "definition"
PHASE = "a border falls inside a document with probability length / sequence, at uniform phase"


@formula("1", source=PHASE)
def cut_by_concatenation(length: float, sequence: float) -> float:
    """Probability that a document is cut where documents are strung together and chopped into sequences."""
    return minimum(1.0, length / sequence)


@formula(
    "1", source="Ding et al. 2024, arXiv 2404.10830: only documents longer than a sequence are cut", verified=False
)
def cut_where_longer(length: float, sequence: float) -> float:
    """1 for a document longer than a sequence, else 0: padding and best-fit packing cut no other."""
    return where(length > sequence, 1.0, 0.0)


@formula("tokens", source=DEFINITION)
def kept_length(length: float, sequence: float) -> float:
    """Tokens of a document that one padded sequence holds; the rest is cut off."""
    return minimum(length, sequence)


@formula("1", source=DEFINITION)
def document_rate(share: float, length: float) -> float:
    """Documents that one token of the mixture brings from a source."""
    return share / length


@formula("1", source=DEFINITION)
def weighted_part(rate: float, part: float) -> float:
    """A part of each document, times the documents."""
    return rate * part


@formula("1", source=DEFINITION)
def weighted_mean(weighted: float, rates: float) -> float:
    """Mean of a part of each document, or of each token: the weighted sum over the sum of the weights."""
    return weighted / rates


@formula("tokens", source=DEFINITION)
def stage_part(tokens: float, part: float) -> float:
    """A part of each token in one stage, times its tokens."""
    return tokens * part


@formula("1", source=DEFINITION)
def padding_share(kept: float, sequence: float) -> float:
    """Share of a batch that is padding where every sequence holds one document: `kept` is the mean kept length."""
    return 1.0 - kept / sequence


@formula(
    "1", source="Megatron-LM training.py, seqlen_squared_sum_in_batch: sum of squared lengths in place of the square"
)
def mask_saving(masked_scores: float, causal_scores: float) -> float:
    """Share of attention's score FLOP that document masks leave out; a kernel has to skip the blocks to gain it."""
    return 1.0 - masked_scores / causal_scores
