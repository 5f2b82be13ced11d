"""What is alive only for a while: activations in flight, logits, gathered layers, gradients on their way, temporaries.

Each belongs to a named instant; the peak is the largest instant, never the sum of all of them.
"""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import maximum, minimum, where

STUDY = "memory study, section 3.5, checked on measured peaks (tests/golden/memory.toml)"
FSDP = "PyTorch FSDP: one layer computes while the next is gathered"
ZERO_BUBBLE = "Qi et al., zero bubble pipeline parallelism, sail-sg table; read second-hand"


@formula(
    "1", source="Narayanan et al. 2021, arXiv 2104.04473; Megatron-LM schedules.py, warm-up of the interleaved schedule"
)
def one_forward_one_backward(microbatches: float, pipeline: float, virtual: float, rank: float) -> float:
    """Microbatches in flight under 1F1B: p - rank. With v chunks, in all of them: p (1 + (p-1)/(p v)) on the first rank."""
    interleaved = (2.0 * (pipeline - rank - 1.0) + (virtual - 1.0) * pipeline + 1.0) / maximum(virtual, 1.0)
    return minimum(microbatches, where(virtual > 1.0, interleaved, pipeline - rank))


@formula("1", source=ZERO_BUBBLE, verified=False)
def twice_in_flight(microbatches: float, pipeline: float, rank: float) -> float:
    """Microbatches in flight under ZB-H2: twice 1F1B less one."""
    return minimum(microbatches, 2.0 * (pipeline - rank) - 1.0)


@formula("1", source=ZERO_BUBBLE, verified=False)
def level_in_flight(microbatches: float, pipeline: float) -> float:
    """Microbatches in flight under ZB-V: as the first rank of 1F1B, on every rank."""
    return minimum(microbatches, pipeline)


@formula("1", source="DeepSeek DualPipe README, table; read second-hand", verified=False)
def dual_in_flight(microbatches: float, pipeline: float) -> float:
    """Microbatches in flight under DualPipe, of the layers of two stages each held half the time: (p+1)/2."""
    return minimum(microbatches, pipeline + 1.0) / 2.0


@formula("bytes", source="definition")
def rank_kept(
    dense_layers: float,
    dense: float,
    expert_layers: float,
    sparse: float,
    last: float,
    final_norm: float,
    output: float,
) -> float:
    """What one pipeline rank keeps of one microbatch: its layers, on the last the final norm, on the others the output sent."""
    return dense_layers * dense + expert_layers * sparse + last * final_norm + (1.0 - last) * output


@formula("bytes", source="definition")
def activations_in_flight(kept: float, in_flight: float) -> float:
    """Activations of all microbatches in flight on a rank."""
    return kept * in_flight


@formula("bytes", source="definition")
def activations_with_layer(kept: float, in_flight: float, layer: float) -> float:
    """Activations in flight and the layer that is computed again."""
    return kept * in_flight + layer


@formula("bytes", source="definition")
def activations_without_mlp(kept: float, in_flight: float, layer: float, mlp: float) -> float:
    """Activations in the attention half of the first layer's backward: its MLP is done."""
    return kept * in_flight + layer - mlp


@formula("bytes", source="definition")
def activations_left(kept: float, in_flight: float, layer: float) -> float:
    """Activations at the end of the backward of one microbatch: the others in flight, and the first layer's own."""
    return kept * maximum(in_flight - 1.0, 0.0) + layer


@formula("bytes", source="definition: two layers of one microbatch wait for their copy to the host", verified=False)
def offloaded_activations(layer: float) -> float:
    """Activations on the device when they are kept in host memory: the layer in use and the one on its way."""
    return 2.0 * layer


@formula("bytes", source="definition")
def largest_layer(dense_layers: float, dense: float, expert_layers: float, sparse: float) -> float:
    """The larger of the kinds of layer that a rank has."""
    return maximum(where(dense_layers > 0.0, dense, 0.0), where(expert_layers > 0.0, sparse, 0.0))


@formula("1", source="definition")
def largest_part(dense_layers: float, dense: float, expert_layers: float, sparse: float) -> float:
    """The larger width or count of parameters of the kinds of layer that a rank has."""
    return maximum(where(dense_layers > 0.0, dense, 0.0), where(expert_layers > 0.0, sparse, 0.0))


@formula("bytes", source=STUDY)
def backward_temporaries(
    tokens: float, element: float, hidden: float, residual_ranks: float, width: float, tensor: float
) -> float:
    """Gradients on their way through one layer: two of the stream and one of the MLP width."""
    return tokens * element * (2.0 * hidden / residual_ranks + width / tensor)


@formula(
    "bytes",
    source="Megatron-LM moe/token_dispatcher.py: backward of the scatter in combine_preprocess gathers the gradients of all "
    "expert tensor ranks; the gather in dispatch_postprocess scatters them again",
)
def gathered_temporaries(
    tokens: float,
    element: float,
    routed: float,
    hidden: float,
    tensor: float,
    expert_tensor: float,
    expert_layers: float,
) -> float:
    """Gradients of the routed tokens of the other expert tensor ranks, on a rank with experts."""
    return tokens / tensor * element * routed * hidden * (expert_tensor - 1.0) * (expert_layers > 0.0)


@formula("1", source="definition; mlc-ai/pith-train pull request 18 for the imbalance")
def routed_copies(chosen: float, imbalance: float) -> float:
    """Routed copies of a token on the fullest rank."""
    return chosen * imbalance


@formula("bytes", source=STUDY)
def attention_temporaries(
    tokens: float, element: float, hidden: float, residual_ranks: float, query: float, tensor: float
) -> float:
    """Gradients on their way through attention: two of the stream and two of the query width."""
    return tokens * element * 2.0 * (hidden / residual_ranks + query / tensor)


@formula(
    "bytes",
    source="PyTorch bbd719e, tensor/experimental/_context_parallel/_attention.py: ALL_GATHER is the default, gradients in fp32",
)
def ring_temporaries(
    tokens: float, element: float, query: float, key_value: float, context: float, tensor: float
) -> float:
    """Backward of PyTorch's ring attention: keys and values of all context ranks, fp32 gradients, and those that go round."""
    each = context * 2.0 * key_value * element + 4.0 * (query + 4.0 * key_value)
    return tokens / tensor * each * (context > 1.0)


@formula("bytes", source="definition")
def held_in_ring(held: float, context: float) -> float:
    """What the attention half of a layer's backward holds in a ring; on one context rank there is none."""
    return held * (context > 1.0)


@formula("bytes", source="softmax backward in eager attention, memory study, section 3.6")
def score_temporaries(tokens: float, heads: float, keys: float, score: float, tensor: float) -> float:
    """Score matrices alive in the backward of eager attention beside those that were kept."""
    return tokens * heads * keys * score / tensor


@formula("tokens", source="definition")
def chunk_tokens(tokens: float, chunk: float) -> float:
    """Tokens of one chunk, or all of them where they are fewer."""
    return minimum(tokens, chunk)


@formula("bytes", source="measured by loss kernel, tests/golden/saved_bytes.toml and memory.toml")
def logit_bytes(tokens: float, vocabulary: float, ranks: float, each: float, last: float) -> float:
    """Logits and their copies at the loss, on the last pipeline rank: tokens x local vocabulary x bytes of a logit."""
    return last * tokens * vocabulary / ranks * each


@formula(
    "bytes", source="measured: 12 on CPU exactly; 14 to 18 over sharded logits, from the operators of DTensor's loss"
)
def plain_logit(tensor: float, sharded: float) -> float:
    """Bytes of a logit at the peak of a plain loss in fp32; four more where tensor ranks share the vocabulary."""
    return 12.0 + 4.0 * sharded * (tensor > 1.0)


@formula(
    "bytes",
    source="Megatron-LM d98e8a6, core/tensor_parallel/cross_entropy.py: logits are cast to fp32, and every step after it is in "
    "place, the gradient too; core/fusions/fused_cross_entropy.py takes the same steps",
)
def megatron_logit(element: float, copy: float) -> float:
    """Bytes of a logit at the peak of Megatron-LM's own loss: in the compute type and its fp32 copy, one where both are fp32."""
    return copy + element * (element < copy)


@formula("bytes", source="definition: the gradient of the head's input is made from the gradient of the logits")
def head_input_gradient(
    tokens: float, element: float, hidden: float, residual_ranks: float, alive: float, last: float
) -> float:
    """Gradient of the head's input, where it lives together with the logits."""
    return last * alive * tokens * element * hidden / residual_ranks


@formula("bytes", source="definition")
def stream_bytes(tokens: float, element: float, hidden: float, ranks: float) -> float:
    """Input and output of the final norm of one microbatch."""
    return tokens * element * 2.0 * hidden / ranks


@formula(
    "bytes",
    source="DeepSpeed runtime/pipe/engine.py: outputs stay in pipe_buffers until backward; read second-hand",
    verified=False,
)
def sent_output(tokens: float, element: float, hidden: float) -> float:
    """Output of a pipeline stage for one microbatch."""
    return tokens * element * hidden


@formula("bytes", source="Megatron-LM fused weight gradients: one bf16 dummy for each shape of weight, cached")
def dummy_gradients(element: float, layer: float, last: float, head: float) -> float:
    """16-bit weight gradients that accumulation into fp32 leaves behind: those of one layer, and the head's."""
    return element * (layer + last * head)


@formula("bytes", source="DeepSpeed configuration: two reduce buckets and one gather bucket")
def bucket_bytes(buckets: float, elements: float, element: float) -> float:
    """Buckets of a sharded optimizer."""
    return buckets * elements * element


@formula("1", source=FSDP)
def root_parameters(first: float, embedding: float, last: float, head: float) -> float:
    """Parameters of the root unit of a rank: embedding and head, where it holds them."""
    return first * embedding + last * head


@formula("bytes", source=FSDP)
def gathered_bytes(layers: float, layer: float, root: float, element: float) -> float:
    """Weights gathered for compute: layers ahead and in use, and the root (embedding, head), which stays."""
    return element * (layers * layer + root)


@formula("bytes", source=FSDP)
def unreduced_bytes(parameters: float, element: float, reduced: float) -> float:
    """Gradient of one unit before and while it is reduced."""
    return parameters * (element + reduced)


@formula(
    "bytes",
    source="PyTorch issue 154888: FSDP switches to NO_SHARD on one rank; torchtitan b5bcd76, parallel_dims.py: fsdp_enabled",
)
def between_ranks(held: float, ranks: float) -> float:
    """Gathered weights and unreduced gradients beside shards in the compute type: none where one rank has all of them."""
    return held * (ranks > 1.0)


@formula("bytes", source="definition")
def work_bytes(gathered: float, gradient: float) -> float:
    """Gathered weights and gradients on their way."""
    return gathered + gradient


@formula("bytes", source="definition")
def reserved_bytes(allocated: float, fragmentation: float) -> float:
    """What the allocator holds: allocated x (1 + fragmentation)."""
    return allocated * (1.0 + fragmentation)


@formula("bytes", source="definition")
def visible_bytes(reserved: float, runtime: float, calibration: float) -> float:
    """What the driver shows: reserved and what lies outside the allocator, times what a pilot measured over it."""
    return (reserved + runtime) * calibration


@formula("bytes", source="definition")
def outside_tensors(visible: float, allocated: float) -> float:
    """Fragmentation and runtime: what the driver shows beyond the tensors."""
    return visible - allocated


@formula("bytes", source="definition")
def headroom(usable: float, visible: float) -> float:
    """Usable memory that is left over; negative where the plan does not fit."""
    return usable - visible


@formula("bytes", source="residuals on measured rows, memory study, section 6")
def band_edge(visible: float, ratio: float) -> float:
    """Edge of the band that holds at least 80 % of measured peaks."""
    return visible * ratio
