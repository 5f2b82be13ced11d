"""What rows mean whose formula is a bare sum, a largest part, or nothing in this plan; one sentence each."""

from __future__ import annotations

from typing import Final

SENTENCES: Final[dict[str, str]] = {
    "model.parameters": "All weights of the model, embeddings and output head among them.",
    "model.active_parameters": "Weights that one token passes: of the experts only those that it is routed to.",
    "model.matmul_parameters": "Weights that a token is multiplied with: no embedding, no norms, no biases.",
    "model.nonembedding_parameters": "Weights without the embedding and the output head.",
    "tokens.steps": "Optimizer steps of the run: each stage's tokens over the tokens of its step, rounded up.",
    "tokens.sequences": "Sequences of the run: each stage's tokens over its sequence length.",
    "tokens.unique": "Unique tokens of all sources together.",
    "tokens.unique_seen": "Unique tokens that the run reads at least once, all sources together.",
    "tokens.effective": "What the drawn tokens are worth once repeats lose their value, all sources together.",
    "tokens.first_exhausted": "Source that is the first to reach its pass limit.",
    "tokens.first_repeat": "Source that is the first to have been read once in full.",
    "tokens.first_repeat_date": "Day on which the first source has been read once in full.",
    "compute.training_flops": "FLOP of the run under the convention of utilization, stage by stage.",
    "compute.compute_time": "Time of all optimizer steps, without failures, evaluation and waits.",
    "parallelism.predicted_step_time": "Sum of the waterfall: products, attention, the other work, and transfers in sight.",
    "parallelism.predicted_compute_time": "Time of all optimizer steps as predicted, each stretch at its own length and batch.",
    "parallelism.predicted_mean_step_time": "Mean of all predicted steps, which is the step itself where length and batch stay.",
    "parallelism.predicted_utilization": "Model FLOP of the whole run over what its accelerators could do in its predicted steps.",
    "memory.logits": "Logits of the output head with their gradient and the copies that the loss kernel keeps.",
    "memory.attention_temporaries": "What an attention core holds while it runs: statistics of flash attention, scores without it.",
    "memory.weights": "Weights that a rank holds, in the precision of the products and in shards where they are sharded.",
    "memory.gradients": "Gradients that a rank holds, in shards where they are sharded.",
    "memory.optimizer_states": "Moments and main weights that a rank holds, in shards where they are sharded.",
    "memory.communication_buffers": "Buffers of collectives: gradient buckets, gathered layers, 16-bit gradients on their way.",
    "memory.allocated": "Tensors at the worst instant of the worst rank: the largest of its instants.",
    "memory.total": "What the driver shows on the worst rank: reserved memory and the runtime, calibrated.",
    "memory.usable": "Memory of one device that a process can take.",
    "memory.worst_instant": "Instant at which the worst rank holds most: in a step, in evaluation, while kernels are tuned.",
    "storage.index": "Indices of the shards and the loader's caches, source by source.",
    "storage.peak": "Most space in use at once: everything that is kept, and the saves in flight.",
    "storage.restore_drill_age": "Days since a checkpoint was last restored to test it.",
    "reliability.shortest_interval": "Least useful interval: the longest of one step, the write of a save, its upload.",
    "evaluation.time_each": "Time of one evaluation, all tasks one after the other.",
    "evaluation.tokens_each": "Tokens of one evaluation over all tasks.",
    "communication.exposed_time": "Transfers of one step that computing does not hide, all dimensions.",
}
"""By key; every other row is told by the docstring of its formula."""
