"""What other programs call the fields of a plan, for the nearest name of a slip.

The words are those of the arguments of Megatron-LM, DeepSpeed, torchtitan, NeMo and Hugging Face configs, and what people say.
Imported when there is something to refuse. It refuses to translate: a plan has one name for a thing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_PER_NODE: Final = ("accelerators_per_node", "accelerators", "accelerator")

_OTHERS: Final = {
    # cluster
    _PER_NODE: "gpus_per_node gpus num_gpus n_gpus ngpus num_gpus_per_node nproc_per_node gpus_per_host",
    ("accelerator", "accelerators"): "gpu",
    ("accelerator",): "gpu_type gpu_model gpu_name device",
    ("memory_per_accelerator",): "gpu_memory hbm memory_per_gpu",
    ("nodes",): "num_nodes nnodes n_nodes hosts",
    (
        "price_per_accelerator_hour",
    ): "price gpu_price price_per_gpu_hour cost_per_gpu_hour usd_per_gpu_hour hourly_price",
    # model
    ("preset",): "name model model_name architecture arch",
    ("num_hidden_layers",): "layers num_layers n_layers n_layer depth blocks",
    ("hidden_size",): "hidden hidden_dim d_model dim n_embd embed_dim model_dim width",
    ("intermediate_size",): "ffn_hidden_size ffn_hidden ffn_dim ffn d_ff mlp_dim mlp_hidden_size intermediate",
    ("num_attention_heads",): "heads n_heads n_head num_heads attention_heads",
    ("num_key_value_heads",): "kv_heads kv_head n_kv_heads n_kv_head num_kv_heads num_query_groups query_groups",
    ("head_dim",): "head_size kv_channels d_head",
    ("vocab_size",): "vocab vocabulary n_vocab vocabulary_size padded_vocab_size",
    ("tie_word_embeddings",): "tie_embeddings tied_embeddings tied weight_tying",
    ("gated_mlp",): "swiglu",
    ("num_experts",): "experts num_local_experts n_routed_experts n_experts",
    ("num_experts_per_tok",): "top_k topk moe_router_topk experts_per_token",
    ("num_shared_experts",): "n_shared_experts shared_experts",
    ("moe_intermediate_size",): "moe_ffn_hidden_size expert_ffn_hidden_size",
    # data and batch
    (
        "train_tokens",
        "unique_tokens",
        "interval_tokens",
    ): "tokens total_tokens num_tokens n_tokens token_budget training_tokens",
    ("unique_tokens",): "size",
    (
        "sequence_length",
    ): "seq_length seq_len seqlen max_seq_len max_seq_length context_length context max_length n_ctx",
    ("weight",): "proportion ratio fraction share mix",
    ("max_passes",): "epochs max_epochs passes",
    ("global_batch_sequences",): "global_batch_size gbs batch_size global_batch train_batch_size",
    ("micro_batch_sequences",): "micro_batch_size mbs micro_batch local_batch_size train_micro_batch_size_per_gpu",
    # training and parallelism
    ("precision",): "dtype mixed_precision",
    ("tensor",): "tp tp_size tensor_parallel tensor_parallel_size tensor_parallel_degree tensor_model_parallel_size",
    (
        "pipeline",
    ): "pp pp_size pipeline_parallel pipeline_parallel_size pipeline_parallel_degree pipeline_model_parallel_size",
    ("virtual_pipeline",): "vpp vp interleave virtual_pipeline_model_parallel_size virtual_stages",
    ("context",): "cp cp_size context_parallel context_parallel_size context_parallel_degree",
    ("expert",): "ep ep_size expert_parallel expert_parallel_size expert_parallel_degree expert_model_parallel_size",
    ("expert_tensor",): "etp expert_tensor_parallel_size",
    ("sharding",): "zero zero_stage fsdp shard sharding_strategy data_parallel_sharding_strategy",
    ("recompute",): "activation_checkpointing gradient_checkpointing recompute_granularity remat checkpointing",
    ("schedule",): "pipeline_schedule",
    # the rest
    ("value",): "mfu utilization hfu",
    ("capacity",): "disk disk_size quota",
    ("checkpoint_interval",): "save_interval checkpoint_every save_every",
    ("spare_nodes",): "spares hot_spares",
    ("deadline",): "end due due_date",
    ("start",): "begin start_date",
    ("task",): "benchmark",
}

ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    word: ours for ours, words in _OTHERS.items() for word in words.split()
}
"""Names of ours for a word, first choice first."""
