"""What evaluation reads, generates, takes and can resolve. It knows no task: sizes come in, tokens, times and errors go out."""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import floor, sqrt, where

DEFINITION = "definition"
NOTES = "section 7.2 of the research notes"
HARNESS = NOTES + ": the harness groups requests by context and keeps their logits (logits_cache)"


@formula("tokens", source=NOTES)
def context_tokens(question: float, shot: float, shots: float) -> float:
    """Mean prompt of one item: its question, and so many worked examples before it."""
    return question + shot * shots


@formula("1", source=HARNESS)
def passes_per_item(choices: float, continuation: float, generated: float) -> float:
    """Forward passes over the prompt of one item.

    One for each answer that is scored; a single one where answers are one token long or are generated.
    """
    return where((generated > 0) | (continuation <= 1), 1.0, choices)


@formula("tokens", source=HARNESS)
def read_tokens(items: float, repeats: float, passes: float, context: float, continuation: float) -> float:
    """Tokens read in one evaluation of a task: every pass reads the prompt and the answer that it scores."""
    return items * repeats * passes * (context + continuation)


@formula("tokens", source=DEFINITION)
def written_tokens(items: float, repeats: float, generated: float) -> float:
    """Tokens generated in one evaluation of a task."""
    return items * repeats * generated


@formula("FLOP", source="definition: forward is a third of forward and backward")
def forward_flops(linear: float, scores: float) -> float:
    """Forward of one token read: 2 for each weight that multiplies, and scores over the keys that a prompt's tokens see.

    Both are told for a trained token, forward and backward, the scores at the prompt's length and not at the training's.
    """
    return (linear + scores) / 3.0


@formula("s", source=NOTES)
def reading_time(tokens: float, flops: float, utilization: float, peak: float, accelerators: float) -> float:
    """Time to read prompts: FLOP over what the accelerators do at the utilization of scoring."""
    return tokens * flops / (utilization * peak * accelerators)


@formula("bytes", source=NOTES + ": 4 x layers x key/value heads x head size x context at two bytes each")
def cache_bytes(layers: float, heads: float, key_size: float, value_size: float, context: float) -> float:
    """Keys and values that one sequence keeps, in bf16."""
    return 2.0 * layers * heads * (key_size + value_size) * context


@formula("tokens/s", source=NOTES + ": one decode step reads the weights once and every sequence's cache")
def decode_rate(batch: float, bandwidth: float, active: float, cache: float, reached: float) -> float:
    """Tokens generated a second by one accelerator: a share of what its memory bandwidth allows.

    A batch of a mixture-of-experts model touches more experts than one token does; that is not counted.
    """
    return reached * batch * bandwidth / (2.0 * active + batch * cache)


@formula("s", source=DEFINITION)
def writing_time(tokens: float, rate: float, accelerators: float) -> float:
    """Time to generate tokens."""
    return tokens / (rate * accelerators)


@formula("1", source=DEFINITION)
def evaluations(train_tokens: float, interval: float) -> float:
    """Evaluations in the run: one each time so many more tokens are consumed."""
    return floor(train_tokens / interval + 1e-9)


@formula("tokens", source=DEFINITION)
def run_tokens(count: float, tokens: float) -> float:
    """Tokens of all evaluations of the run."""
    return count * tokens


@formula("s", source=DEFINITION)
def run_time(count: float, time: float) -> float:
    """Time of all evaluations of the run."""
    return count * time


@formula("h", source=DEFINITION)
def run_hours(time: float, accelerators: float) -> float:
    """Accelerator-hours of all evaluations of the run."""
    return time * accelerators / 3600.0


@formula("1", source=DEFINITION)
def run_share(hours: float, beside: float, run: float) -> float:
    """Evaluation as a share of all accelerator-hours; `beside` are those that training does not count already."""
    return hours / (run + beside)


@formula("1", source="standard error of a share: sqrt(p (1 - p) / n) at p = 1/2, its largest")
def standard_error(items: float) -> float:
    """Standard error of a score of one half over independent items; repeats of an item do not lower it here."""
    return sqrt(0.25 / items)


@formula("1", source="two-sided test at 95 % of two independent scores: 1.96 x sqrt(2) x standard error")
def smallest_difference(error: float) -> float:
    """The least difference of two scores that is not chance."""
    return 1.96 * sqrt(2.0) * error


@formula("s", source=DEFINITION)
def time_between(interval: float, train_tokens: float, wall: float) -> float:
    """Wall time between two evaluations."""
    return interval / train_tokens * wall
