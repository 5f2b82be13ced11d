"""Parameters that one rank holds, and the bytes of weights, gradients and optimizer states that come with them.

Three buckets: what tensor ranks split, what every rank holds, and routed experts, which have their own data-parallel size. The last
formulas are of a run that has not begun: a checkpoint is read, kernels are tuned. Working sets and activations are not here.
"""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import maximum, minimum, where

DEFINITION = "definition"
MEGATRON = "Megatron-LM megatron/training/theoretical_memory_usage.py"
STEP_COPIES = "DeepSpeed edaa722, runtime/zero/stage_1_and_2.py, step; stage3.py, _prepare_fp32_grad_for_sub_group"
OPTIMIZER = "Megatron-LM docs dist_optimizer.md; ZeRO, arXiv 1910.02054, table 1"


@formula("1", source=MEGATRON)
def held_parameters(split: float, whole: float, tensor: float) -> float:
    """Parameters of one layer on one rank: the split ones over the tensor ranks, and norms and router whole."""
    return split / tensor + whole


@formula("1", source="NVIDIA-NeMo/Megatron-Bridge pull request 3744: experts divide by expert and expert tensor ranks")
def held_experts(split: float, whole: float, experts: float, expert: float, expert_tensor: float) -> float:
    """Parameters of routed experts of one layer on one rank; tensor ranks do not divide them."""
    return experts / expert * (split / expert_tensor + whole)


@formula("1", source=MEGATRON)
def held_table(table: float, tensor: float, others: float) -> float:
    """Parameters of an embedding table or head on one rank: rows over the tensor ranks, and small parts held whole."""
    return table / tensor + others


@formula("1", source=DEFINITION)
def table_parameters(rows: float, width: float) -> float:
    """Elements of an embedding table with padded rows."""
    return rows * width


@formula("1", source="Megatron-LM: the last stage keeps a copy of a tied embedding")
def tied_copy(table: float, pipeline: float) -> float:
    """Second copy of a tied embedding table on the last rank; none where that is the first."""
    return table * (pipeline > 1.0)


@formula("1", source=DEFINITION)
def repeated(count: float, parameters: float) -> float:
    """The same part several times."""
    return count * parameters


@formula("1", source=DEFINITION)
def rank_parameters(
    dense_layers: float,
    dense_layer: float,
    expert_layers: float,
    expert_layer: float,
    first: float,
    embedding: float,
    last: float,
    head: float,
) -> float:
    """Parameters of one pipeline rank but for routed experts; `first` and `last` are 1 on the end ranks, else 0."""
    return dense_layers * dense_layer + expert_layers * expert_layer + first * embedding + last * head


@formula("1", source=DEFINITION)
def rank_experts(expert_layers: float, experts: float) -> float:
    """Parameters of routed experts of one pipeline rank."""
    return expert_layers * experts


@formula("1", source="Megatron Bridge: context ranks partition the optimizer too")
def shard_ranks(data: float, context: float) -> float:
    """Ranks that share the sharded states: data x context."""
    return data * context


@formula("1", source="Megatron-LM: expert data-parallel size = world / (expert tensor x expert x pipeline)")
def expert_shard_ranks(ranks: float, tensor: float, expert: float, expert_tensor: float) -> float:
    """Ranks that share the sharded states of routed experts, one at least."""
    return maximum(1.0, ranks * tensor / (expert * expert_tensor))


@formula("bytes", source=OPTIMIZER)
def resident_bytes(
    parameters: float, experts: float, whole: float, shared: float, ranks: float, expert_ranks: float
) -> float:
    """Bytes of one kind of state: `whole` bytes a parameter on every rank, `shared` bytes over the shard ranks."""
    return parameters * (whole + shared / ranks) + experts * (whole + shared / expert_ranks)


@formula("bytes", source="torchtitan: full gradients in the reduce type while microbatches accumulate")
def accumulated_bytes(microbatches: float, accumulated: float, otherwise: float) -> float:
    """Bytes a parameter where gradients are kept unsharded between microbatches: only with more than one of them."""
    return where(microbatches > 1.0, accumulated, otherwise)


@formula("bytes", source=DEFINITION)
def optimizer_bytes(master: float, moments: float, moment_bytes: float, copy: float) -> float:
    """Bytes a parameter of the optimizer: master copy, moments, and the fp32 copy of a 16-bit gradient in the step."""
    return master + moments * moment_bytes + copy


@formula("1", source=DEFINITION)
def sum_of(parameters: float, experts: float) -> float:
    """A layer with its routed experts."""
    return parameters + experts


@formula("bytes", source=STEP_COPIES)
def step_copies(gradients: float, element: float) -> float:
    """Copies of a rank's reduced gradients in DeepSpeed's step: flat in their own type, and in fp32."""
    return gradients / element * (element + 4.0)


@formula("bytes", source=STEP_COPIES)
def group_copies(gradients: float, element: float, most: float) -> float:
    """The same where parameters are sharded: of one group of parameters at a time."""
    return minimum(gradients / element, most) * (element + 4.0)


@formula("bytes", source=DEFINITION)
def restored_bytes(
    master: float, moments: float, moment_bytes: float, master_again: float, moments_again: float
) -> float:
    """Bytes a parameter of the optimizer while a checkpoint is read: what stays, and what is held once more."""
    return master * (1.0 + master_again) + moments * moment_bytes * (1.0 + moments_again)


@formula("bytes", source=DEFINITION)
def held_more(bytes_held: float, again: float) -> float:
    """A state and its copies."""
    return bytes_held * (1.0 + again)


@formula("bytes", source=DEFINITION)
def share_allocated(bytes_held: float, share: float) -> float:
    """The part of a state that is allocated before the first step."""
    return bytes_held * share


@formula("bytes", source="PyTorch inductor tunes a kernel where it first runs: of backward, with all activations alive")
def tuned_temporaries(temporaries: float, workspace: float) -> float:
    """Temporaries of the first layer of backward, and what tuning its kernels takes beside them."""
    return temporaries + workspace
