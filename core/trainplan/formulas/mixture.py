"""The mixture: what a weight becomes under a sampler, how often a source is drawn, and what repeats still teach.

Tokens count as drawn whether or not they are padding. A stage is a stretch of the run with one set of weights.
"""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import ceil, exp, floor, maximum, minimum, power, where

DEFINITION = "definition"
MUENNIGHOFF = "Muennighoff et al. 2023, arXiv 2305.16264; huggingface/datablations README"
MEGATRON = "Megatron-LM megatron/core/datasets/gpt_dataset.py"
LEVANTER = "levanter src/levanter/data/mixture.py"


@formula("1", source="mT5, arXiv 2010.11934, and XLM: sampling by a power of the size", verified=False)
def temperature_weight(unique: float, temperature: float) -> float:
    """Size of a source raised to the temperature exponent; 1 leaves sizes alone, 0 makes all sources equal."""
    return power(unique, temperature)


@formula("1", source=DEFINITION)
def weight_share(weight: float, weights: float) -> float:
    """Weight of one source over the sum of all."""
    return weight / weights


@formula("tokens", source=DEFINITION)
def weighted_length(share: float, length: float) -> float:
    """Share of documents times their mean length: the tokens that one draw brings from a source."""
    return share * length


@formula("1", source="a draw brings a whole document: share of draws x mean length, over the sum of that")
def document_share(weighted: float, lengths: float) -> float:
    """Token share of a source where the sampler draws documents by weight."""
    return weighted / lengths


@formula("1", source=LEVANTER)
def block_count(weight: float, block: float) -> float:
    """Sequences of a source in one block, rounded down."""
    return floor(weight * block)


@formula("1", source=LEVANTER)
def block_rest(block: float, others: float) -> float:
    """Sequences of the largest source in one block: what the others leave."""
    return block - others


@formula("1", source=LEVANTER)
def block_share(count: float, block: float) -> float:
    """Realised share of a source whose counts in a block are exact."""
    return count / block


@formula("tokens", source=DEFINITION)
def drawn_tokens(share: float, tokens: float) -> float:
    """Tokens drawn from a source in one stage."""
    return share * tokens


@formula("1", source=DEFINITION)
def drawn_share(drawn: float, train_tokens: float) -> float:
    """Share of a source in all tokens of the run."""
    return drawn / train_tokens


@formula("1", source=DEFINITION)
def passes(drawn: float, unique: float) -> float:
    """Expected passes over a source: tokens drawn over unique tokens, in all stages together.

    A mean: inside a source with quality-aware sampling some documents come far oftener.
    """
    return drawn / unique


@formula("tokens", source="sampling without replacement: nothing comes twice before everything came once")
def seen_once(drawn: float, unique: float) -> float:
    """Unique tokens seen where every pass ends before the next begins."""
    return minimum(drawn, unique)


@formula("tokens", source="sampling with replacement: a token is missed with probability exp(-passes)")
def seen_with_replacement(unique: float, drawn: float) -> float:
    """Unique tokens seen where draws are independent of what was drawn before."""
    return unique * (1.0 - exp(-drawn / unique))


@formula("1", source=MEGATRON + ": ceil(ceil(samples x weight) x 1.005), mid_level_dataset_surplus")
def samples_built(tokens: float, length: float, share: float, surplus: float) -> float:
    """Samples that Megatron builds of one source: its share of those of the run, rounded up, and the surplus.

    Stages count as one index over the run; a relaunch with other weights builds a new one.
    """
    return ceil(ceil(ceil(tokens / length) * share) * surplus)


@formula("1", source=MEGATRON + ": least E with E x tokens >= samples x length + 1")
def epochs_built(samples: float, length: float, unique: float) -> float:
    """Epochs of a source that Megatron puts into its index; at least one."""
    return maximum(1.0, ceil((samples * length + 1.0) / unique))


@formula("1", source=MEGATRON + ": separate_final_epoch")
def epochs_together(epochs: float, samples: float, length: float, unique: float, kept_apart: float) -> float:
    """Epochs that are shuffled together: all built, or all but a last one of which less than `kept_apart` is needed."""
    last = samples - floor(((epochs - 1.0) * unique - 1.0) / length)
    few = last < floor(kept_apart * floor((unique - 1.0) / length))
    return epochs - where((epochs > 1.0) & few, 1.0, 0.0)


@formula(
    "tokens", source="of E epochs in random order a document is missed with probability (1 - x)^E up to progress x"
)
def seen_in_epochs(unique: float, drawn: float, together: float) -> float:
    """Unique tokens seen where so many epochs are shuffled together, at the progress drawn / (unique x together).

    An epoch that stays apart comes when all others are over, and so when everything was seen.
    """
    return unique * (1.0 - power(1.0 - minimum(drawn / (unique * together), 1.0), together))


@formula("tokens", source=MUENNIGHOFF + ", effective data D'")
def effective_tokens(unique: float, drawn: float, repetition: float) -> float:
    """Tokens of fresh data that teach as much: all of the first pass, less and less of each later one.

    R* is a fit to models up to 9 billion parameters; it counts passes past the first, whichever tokens they repeat.
    arXiv 2605.01640 adds a penalty, by which much repetition harms.
    """
    later = maximum(drawn / unique, 1.0) - 1.0
    return unique * (minimum(drawn / unique, 1.0) + repetition * (1.0 - exp(-later / repetition)))


@formula("1", source=DEFINITION)
def lost_share(effective: float, train_tokens: float) -> float:
    """Share of the train tokens that repetition makes worthless."""
    return 1.0 - effective / train_tokens


@formula("tokens", source=DEFINITION)
def capacity(unique: float, limit: float) -> float:
    """Tokens that may be drawn from a source up to its pass limit."""
    return unique * limit


@formula("tokens", source=DEFINITION)
def reached_at(capacity: float, share: float) -> float:
    """Train tokens at which so many tokens were drawn from a source, in the first stage or the only one."""
    return capacity / share


@formula("tokens", source=DEFINITION)
def reached_later(begin: float, capacity: float, before: float, share: float) -> float:
    """Train tokens at which so many tokens were drawn from a source, in a later stage; the last one goes on."""
    return begin + (capacity - before) / share


@formula("1", source=DEFINITION)
def headroom(at: float, train_tokens: float) -> float:
    """Train tokens that could be added before a source reaches its limit, over the train tokens; negative is too late."""
    return at / train_tokens - 1.0


@formula("1", source=DEFINITION)
def step_at(before: float, at: float, begin: float, step_tokens: float) -> float:
    """Optimizer step in which a number of train tokens is reached."""
    return before + ceil((at - begin) / step_tokens)


@formula("s", source=DEFINITION)
def time_at(before: float, at: float, begin: float, tokens: float, time: float, slowdown: float) -> float:
    """Time from the start until a number of train tokens is reached, failures and checkpoints in, planned downtime out."""
    return (before + time * (at - begin) / tokens) * slowdown


@formula("1", source=DEFINITION)
def documents(unique: float, length: float) -> float:
    """Documents of a source, from its tokens and their mean length."""
    return unique / length


@formula("tokens", source=DEFINITION)
def mean_length(unique: float, documents: float) -> float:
    """Mean tokens of a document, from a source's tokens and documents."""
    return unique / documents


@formula(
    "1", source="huggingface/datasets combine.py: the first source to end stops the rest; the expectation is near this"
)
def interleaved_items(documents: float, weight: float) -> float:
    """Items that interleave_datasets gives under first_exhausted, by the source that ends first."""
    return documents / weight


@formula("tokens", source=DEFINITION)
def interleaved_tokens(items: float, length: float) -> float:
    """Tokens of so many items at the mixture's mean length."""
    return items * length
