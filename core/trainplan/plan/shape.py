"""The plan's [model] table: the shape of the network under the Hugging Face config names.

Fields that the Hugging Face configs do not have say what an architecture does by itself there: whether a norm has a
bias, how many norms a block has, whether attention has sinks. Nothing here is derived, and no architecture is named.
"""

# No `from __future__ import annotations`: pydantic would compile each annotation from its text, which takes 4 ms.

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from trainplan.plan.fields import Count, CountOrZero
from trainplan.plan.tables import Table, Text

LayerType: TypeAlias = Literal["full_attention", "sliding_attention", "chunked_attention"]
MlpType: TypeAlias = Literal["dense", "sparse"]


class Moe(Table):
    """Experts of a mixture-of-experts model."""

    num_experts: Count | None = Field(default=None, description="Routed experts in one layer.")
    num_experts_per_tok: Count | None = Field(default=None, description="Routed experts that one token goes through.")
    moe_intermediate_size: Count | None = Field(default=None, description="Width of one routed expert.")
    num_shared_experts: CountOrZero | None = Field(
        default=None, description="Shared experts in one layer, 0 when absent."
    )
    shared_expert_intermediate_size: Count | None = Field(default=None, description="Width of each shared expert.")
    first_k_dense_replace: CountOrZero | None = Field(
        default=None, description="Dense layers before the first expert layer."
    )
    moe_layer_freq: Count | None = Field(
        default=None, description="Every how many layers one has experts, 1 when absent."
    )
    router_bias: bool | None = Field(
        default=None, description="Whether the router has a bias that is a trained parameter."
    )
    expert_bias: bool | None = Field(default=None, description="Whether the projections of routed experts have a bias.")
    shared_expert_gate: bool | None = Field(
        default=None, description="Whether a gate of one output scales the shared experts."
    )


class Mla(Table):
    """Multi-head latent attention."""

    q_lora_rank: Count | None = Field(
        default=None, description="Rank of the query projection; absent means a full one."
    )
    kv_lora_rank: Count | None = Field(default=None, description="Rank of the shared key and value projection.")
    qk_nope_head_dim: Count | None = Field(default=None, description="Head size of queries and keys without rotation.")
    qk_rope_head_dim: Count | None = Field(default=None, description="Head size of queries and keys that rotates.")
    v_head_dim: Count | None = Field(default=None, description="Head size of values.")


class Mtp(Table):
    """Multi-token prediction."""

    num_nextn_predict_layers: Count | None = Field(default=None, description="Blocks that predict further tokens.")


class Model(Table):
    """The shape; a field here overrides the preset's."""

    preset: Text | None = Field(default=None, description="Model, an entry of the catalogue; fields below override it.")
    num_hidden_layers: Count | None = Field(default=None, description="Transformer blocks.")
    hidden_size: Count | None = Field(default=None, description="Width of the residual stream.")
    intermediate_size: Count | None = Field(default=None, description="Width of the dense MLP.")
    num_attention_heads: Count | None = Field(default=None, description="Query heads.")
    vocab_size: Count | None = Field(default=None, description="Entries of the model's own vocabulary.")
    max_position_embeddings: Count | None = Field(
        default=None, description="Longest position; counts where positions are learned."
    )
    sliding_window: Count | None = Field(default=None, description="Keys that a windowed layer sees.")
    attention_chunk_size: Count | None = Field(
        default=None, description="Keys in one chunk of a chunked layer; sliding_window when absent."
    )
    num_key_value_heads: Count | None = Field(
        default=None, description="Key and value heads; num_attention_heads when absent."
    )
    head_dim: Count | None = Field(
        default=None, description="Size of one head; hidden_size / num_attention_heads when absent."
    )
    embedding_size: Count | None = Field(
        default=None,
        description="Width of the embedding table and the head; another one than hidden_size adds two projections.",
    )
    position_offset: CountOrZero | None = Field(
        default=None, description="Rows of the position table before the first position; 2 in OPT."
    )
    tie_word_embeddings: bool | None = Field(default=None, description="Whether the head is the input table.")
    attention_bias: bool | None = Field(
        default=None, description="Whether query, key and value projections have a bias."
    )
    attention_output_bias: bool | None = Field(default=None, description="Whether the output projection has a bias.")
    attention_sinks: bool | None = Field(
        default=None, description="Whether each query head has a trained sink in its softmax."
    )
    attention_gate: Literal["element", "head"] | None = Field(
        default=None,
        description="Gate on the output of attention: one for each element or for each head; absent means none.",
    )
    mlp_bias: bool | None = Field(default=None, description="Whether the dense MLP has biases.")
    head_bias: bool | None = Field(default=None, description="Whether the output head has a bias.")
    qk_norm: bool | None = Field(
        default=None, description="Whether queries and keys are normalised with trained weights."
    )
    qk_norm_scope: Literal["head", "projection"] | None = Field(
        default=None,
        description="What the query and key norms span: one head, whose weights all share, or the projection.",
    )
    qk_norm_bias: bool | None = Field(default=None, description="Whether the query and key norms have a bias.")
    parallel_block: bool | None = Field(default=None, description="Whether attention and MLP run side by side.")
    post_norms: bool | None = Field(
        default=None, description="Whether outputs of attention and MLP are normalised too."
    )
    norms_per_block: CountOrZero | None = Field(
        default=None,
        description="Norms of full width in one block: 2 when absent, 1 in a parallel block, 4 with post_norms.",
    )
    norm_bias: bool | None = Field(
        default=None, description="Whether norms have a bias; true for layernorm when absent."
    )
    final_norm: bool | None = Field(
        default=None, description="Whether a norm stands before the head, true when absent."
    )
    embedding_norm: bool | None = Field(default=None, description="Whether a norm stands after the embedding table.")
    gated_mlp: bool | None = Field(default=None, description="Whether the MLP has a gate, true when absent.")
    activation_parameters: CountOrZero | None = Field(
        default=None, description="Trained scalars in one MLP's activation; 2 with xIELU."
    )
    norm: Literal["layernorm", "rmsnorm", "none"] | None = Field(
        default=None, description="Kind of norm, rmsnorm when absent; none means norms without weights."
    )
    position_embedding: Literal["rope", "learned", "alibi", "none"] | None = Field(
        default=None, description="Kind of positions, rope when absent."
    )
    layer_types: Annotated[tuple[LayerType, ...], Field(strict=False)] | None = Field(
        default=None, description="Kind of attention of each layer, full_attention when absent."
    )
    mlp_layer_types: Annotated[tuple[MlpType, ...], Field(strict=False)] | None = Field(
        default=None,
        description="Kind of MLP of each layer, where first_k_dense_replace and moe_layer_freq cannot say it.",
    )
    moe: Moe | None = Field(default=None, description="Experts.")
    mla: Mla | None = Field(default=None, description="Latent attention.")
    mtp: Mtp | None = Field(default=None, description="Multi-token prediction.")
