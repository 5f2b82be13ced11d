"""Tokens, batches and steps."""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import ceil, maximum, minimum

DEFINITION = "definition"


@formula("tokens", source=DEFINITION)
def batch_tokens(sequences: float, sequence_length: float) -> float:
    """Tokens of one optimizer step: sequences of the global batch x tokens of a sequence, padding counted as tokens."""
    return sequences * sequence_length


@formula("tokens", source=DEFINITION)
def stretch_tokens(until: float, begin: float) -> float:
    """Tokens of one stretch of the run with one length, batch and mixture."""
    return until - begin


@formula("1", source=DEFINITION)
def stretch_steps(tokens: float, step_tokens: float) -> float:
    """Optimizer steps of one stretch, the last one full: tokens over tokens a step, rounded up."""
    return ceil(tokens / step_tokens)


@formula("tokens", source=DEFINITION)
def overshoot(consumed: float, train_tokens: float) -> float:
    """Tokens that whole steps consume beyond the tokens asked for."""
    return consumed - train_tokens


@formula("tokens", source=DEFINITION)
def consumed_tokens(steps: float, step_tokens: float) -> float:
    """Tokens that the whole steps of a stretch consume."""
    return steps * step_tokens


@formula("1", source=DEFINITION)
def sequences(tokens: float, sequence_length: float) -> float:
    """Training sequences, the last one full."""
    return ceil(tokens / sequence_length)


@formula("1", source="Hoffmann et al. 2022, arXiv 2203.15556: about 20 is compute-optimal", verified=False)
def tokens_per_parameter(train_tokens: float, active_parameters: float) -> float:
    """Train tokens over active parameters. Others divide by all parameters of a MoE model."""
    return train_tokens / active_parameters


@formula("1", source="Megatron-LM num_microbatches_calculator.py")
def microbatches(global_batch_sequences: float, micro_batch_sequences: float, data: float) -> float:
    """Microbatches of one step on one replica: global batch / (micro batch x data-parallel degree)."""
    return global_batch_sequences / (micro_batch_sequences * data)


@formula("1", source=DEFINITION)
def world_size(nodes: float, accelerators_per_node: float) -> float:
    """Accelerators that train."""
    return nodes * accelerators_per_node


@formula("1", source="Megatron-LM parallel_state.py")
def data_degree(world: float, tensor: float, pipeline: float, context: float) -> float:
    """Data-parallel replicas: accelerators / (tensor x pipeline x context). Expert parallelism is not a factor of it."""
    return world / (tensor * pipeline * context)


@formula("1", source=DEFINITION)
def at_most(value: float, limit: float) -> float:
    """The smaller of a value and its limit."""
    return minimum(value, limit)


@formula("1", source=DEFINITION)
def at_least(value: float, limit: float) -> float:
    """The larger of a value and its floor."""
    return maximum(value, limit)
