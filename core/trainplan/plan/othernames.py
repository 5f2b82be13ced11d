"""What other programs call the fields of a plan, for the nearest name of a slip, and what a plan has no field for.

The words are those of the arguments of Megatron-LM (training/arguments.py and TransformerConfig), DeepSpeed's and torchtitan's
configurations, NeMo, Hugging Face configs, TrainingArguments and accelerate, and what people say.
Imported when there is something to refuse. It refuses to translate: a plan has one name for a thing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_OTHERS: Final = {
    # cluster
    "cluster.nodes": "num_nodes nnodes n_nodes hosts num_machines machines node_count num_hosts",
    "cluster.accelerators_per_node": "gpus_per_node num_gpus_per_node nproc_per_node gpus_per_host devices_per_node "
    "ntasks_per_node num_gpus_node accelerators_per_host chips_per_node",
    "cluster.accelerator accelerators": "gpu",
    "cluster.accelerator": "gpu_type gpu_model gpu_name device device_type hardware",
    "cluster.memory_per_accelerator": "gpu_memory hbm memory_per_gpu gpu_memory_gb",
    "cluster.price_per_accelerator_hour": "price gpu_price price_per_gpu_hour cost_per_gpu_hour usd_per_gpu_hour hourly_price",
    "cluster.scale_out_bandwidth": "network_bandwidth inter_node_bandwidth ib_bandwidth",
    "cluster.scale_up_bandwidth": "nvlink_bandwidth intra_node_bandwidth",
    "cluster.scale_up_domain": "nvlink_domain_size nvl_size",
    # model
    "model.preset": "model_name architecture arch model_type flavor model_name_or_path hf_model hf_assets_path",
    "model.num_hidden_layers": "layers num_layers n_layers n_layer depth blocks encoder_num_layers num_blocks",
    "model.hidden_size": "hidden hidden_dim d_model dim n_embd embed_dim model_dim width",
    "model.intermediate_size": "ffn_hidden_size ffn_hidden ffn_dim ffn d_ff mlp_dim mlp_hidden_size intermediate n_inner",
    "model.num_attention_heads": "heads n_heads n_head num_heads attention_heads",
    "model.num_key_value_heads": "kv_heads kv_head n_kv_heads n_kv_head num_kv_heads num_query_groups query_groups "
    "group_query_attention multi_query_attention",
    "model.head_dim": "head_size kv_channels d_head",
    "model.vocab_size": "vocab vocabulary n_vocab vocabulary_size padded_vocab_size make_vocab_size_divisible_by",
    "model.tie_word_embeddings": "tie_embeddings tied_embeddings tied weight_tying untie_embeddings_and_output_weights "
    "share_embeddings_and_output_weights",
    "model.gated_mlp": "swiglu gated_linear_unit activation_func hidden_act activation",
    "model.norm": "normalization rms_norm layer_norm norm_type",
    "model.position_embedding": "position_embedding_type use_rotary_position_embeddings rope use_rope pos_emb_type",
    "model.mlp_bias": "add_bias_linear disable_bias_linear",
    "model.attention_bias": "add_qkv_bias qkv_bias",
    "model.qk_norm": "qk_layernorm use_qk_norm",
    "model.sliding_window": "window_size window_attn_skip_freq attention_window",
    "model.moe.num_experts": "experts num_local_experts n_routed_experts n_experts num_moe_experts",
    "model.moe.num_experts_per_tok": "top_k topk moe_router_topk experts_per_token",
    "model.moe.num_shared_experts": "n_shared_experts shared_experts",
    "model.moe.moe_intermediate_size": "moe_ffn_hidden_size expert_ffn_hidden_size moe_inter_dim",
    "model.moe.shared_expert_intermediate_size": "moe_shared_expert_intermediate_size",
    "model.mtp.num_nextn_predict_layers": "mtp_num_layers mtp_depth",
    "model.mla.qk_nope_head_dim": "qk_head_dim",
    "model.mla.qk_rope_head_dim": "qk_pos_emb_head_dim",
    # data and batch
    "data.train_tokens data.sources.unique_tokens evaluation.interval_tokens": "tokens total_tokens num_tokens n_tokens "
    "token_budget training_tokens max_tokens",
    "data.sources.unique_tokens": "size",
    "data.sources.weight": "proportion ratio fraction share mix",
    "data.sources.manifest": "index",
    "data.sources": "data_path dataset datasets data_paths train_data_path dataset_name",
    "data.sequence_length": "seq_length seq_len seqlen max_seq_len max_seq_length context_length context max_length n_ctx "
    "encoder_seq_length block_size model_max_length sequence_len",
    "data.max_passes": "epochs num_epochs max_epochs passes",
    "batch.global_batch_sequences": "global_batch_size gbs batch_size global_batch train_batch_size",
    "batch.micro_batch_sequences": "micro_batch_size mbs micro_batch local_batch_size train_micro_batch_size_per_gpu "
    "per_device_train_batch_size device_batch_size pipeline_parallel_microbatch_size per_device_batch_size",
    "batch.schedule": "rampup_batch_size batch_size_rampup batch_schedule batch_rampup",
    # training
    "training.framework": "backend library",
    "training.precision": "dtype mixed_precision bf16 fp16 fp8 fp8_format fp8_recipe torch_dtype params_dtype "
    "mixed_precision_param fp32",
    "training.optimizer": "optim optimizer_type optimizer_name",
    "training.gradient_dtype": "accumulate_allreduce_grads_in_fp32 grad_reduce_in_fp32 mixed_precision_reduce grad_dtype "
    "reduce_dtype communication_data_type main_grads_dtype",
    "training.moment_dtype": "exp_avg_dtype exp_avg_sq_dtype optimizer_dtype",
    "training.attention": "attention_backend attn_implementation use_flash_attn use_flash_attention_2 flash_attention "
    "use_flash_attention flash_attn attn_type",
    "training.attention_precision": "fp8_dot_product_attention fp8_multi_head_attention fp8_mha fp8_dpa",
    "training.expert_kernels": "use_transformer_engine_op_fuser moe_grouped_gemm cutedsl_fused_grouped_mlp",
    "training.cuda_graphs": "cuda_graph_impl enable_cuda_graph external_cuda_graph cuda_graph cuda_graph_scope",
    "training.kernels": "torch_compile compile transformer_impl enable_compile use_compile",
    "training.loss": "cross_entropy_loss_fusion cross_entropy_fusion_impl loss_fn",
    "training.dropout": "attention_dropout hidden_dropout",
    "training.optimizer_offload": "cpu_offload offload_optimizer optimizer_cpu_offload enable_cpu_offload offload",
    "training.activation_offload": "cpu_offloading activation_cpu_offload offload_activations",
    # parallelism
    "parallelism.tensor": "tp tp_size tensor_parallel tensor_parallel_size tensor_parallel_degree tensor_model_parallel_size "
    "model_parallel_size",
    "parallelism.pipeline": "pp pp_size pipeline_parallel pipeline_parallel_size pipeline_parallel_degree "
    "pipeline_model_parallel_size num_stages",
    "parallelism.virtual_pipeline": "vpp vp interleave virtual_pipeline_model_parallel_size virtual_stages "
    "num_layers_per_virtual_pipeline_stage num_virtual_stages_per_pipeline_rank pipeline_parallel_layers_per_stage",
    "parallelism.context": "cp cp_size context_parallel context_parallel_size context_parallel_degree "
    "ulysses_sequence_parallel_size sequence_parallel_size ring_size",
    "parallelism.context_type": "cp_comm_type context_parallel_rotate_method",
    "parallelism.expert": "ep ep_size expert_parallel expert_parallel_size expert_parallel_degree expert_model_parallel_size",
    "parallelism.expert_tensor": "etp expert_tensor_parallel_size expert_tensor_parallel_degree",
    "parallelism.sharding": "zero zero_stage zero_optimization stage3 fsdp shard sharding_strategy fsdp_sharding_strategy "
    "data_parallel_sharding_strategy use_distributed_optimizer use_fsdp use_megatron_fsdp",
    "parallelism.shard_size": "data_parallel_shard_degree data_parallel_replicate_degree num_distributed_optimizer_instances "
    "zero_hpz_partition_size",
    "parallelism.reshard_after_forward": "fsdp_reshard_after_forward",
    "parallelism.sequence_parallel": "sp use_sequence_parallel",
    "parallelism.recompute": "activation_checkpointing gradient_checkpointing recompute_granularity remat checkpointing "
    "recompute_activations recompute_method activations_checkpoint_granularity activation_checkpoint remat_policy "
    "activations_checkpoint_method fsdp_activation_checkpointing gradient_checkpointing_enable activation_checkpoint_mode",
    "parallelism.schedule": "pipeline_schedule pipeline_parallel_schedule pp_schedule",
    "parallelism.overlap_data": "overlap_grad_reduce overlap_param_gather overlap_comm",
    "parallelism.overlap_tensor": "tp_comm_overlap async_tensor_parallel enable_async_tensor_parallel ub_tp_comm_overlap",
    "parallelism.overlap_expert": "overlap_moe_expert_parallel_comm",
    "parallelism.bucket_elements": "ddp_bucket_size reduce_bucket_size allgather_bucket_size bucket_size",
    "parallelism.first_stage_layers": "decoder_first_pipeline_num_layers num_layers_in_first_pipeline_stage "
    "pipeline_parallel_first_stage_less_layers",
    "parallelism.last_stage_layers": "decoder_last_pipeline_num_layers num_layers_in_last_pipeline_stage "
    "pipeline_parallel_last_stage_less_layers",
    # the rest
    "utilization.value": "mfu hfu",
    "storage.capacity": "disk disk_size quota",
    "storage.async_checkpoint": "async_save async_mode",
    "storage.keep_full_local": "save_total_limit keep_latest_k keep_last",
    "reliability.checkpoint_interval": "save_interval checkpoint_every save_every save_steps checkpoint checkpointing_steps",
    "reliability.spare_nodes": "spares hot_spares",
    "evaluation.interval_tokens": "eval_interval eval_steps validation_freq val_check_interval",
    "evaluation.tasks.task": "benchmark",
    "schedule.deadline": "due due_date end_date",
    "schedule.start": "begin start_date",
    "paths.tokenizer": "tokenizer_model tokenizer_path tokenizer_name_or_path",
    "paths.checkpoints": "output_dir save_dir checkpoint_dir",
}

_HERE: Final = {
    "model.preset": "name model",
    "schedule.deadline": "end",
    "utilization.value": "utilization",
    "paths.checkpoints": "save load",
}
"""Words that mean a field in its own table alone."""

ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    word: tuple(ours.split()) for ours, words in _OTHERS.items() for word in words.split()
}
"""Paths of our fields for a word, first choice first; a path without a dot is a kind of the catalogue."""

HERE: Final[Mapping[str, str]] = {word: ours for ours, words in _HERE.items() for word in words.split()}
"""The path of our field for a word, where the word stands in its table."""

_DEVICES: Final = "cluster.nodes", "All accelerators are nodes x accelerators_per_node"
_REPLICAS: Final = "", "Replicas follow: accelerators over tensor x pipeline x context"
_MICRO: Final = "", "Microbatches follow: global_batch_sequences over micro_batch_sequences x replicas"
_STEPS: Final = "data.train_tokens", "Steps follow: train_tokens over the tokens of a batch"
_UNHEARD: Final = "", "A plan has none: neither memory nor time follows from it"
_TOLD: Final = {
    _DEVICES: "gpus num_gpus n_gpus ngpus total_gpus world_size num_devices num_accelerators devices gpu_count num_processes",
    _REPLICAS: "dp dp_size data_parallel data_parallel_size data_parallel_degree dp_degree num_replicas",
    _MICRO: "gradient_accumulation_steps grad_accum accumulate_grad_batches num_microbatches grad_accum_steps microbatches "
    "gradient_accumulation_step",
    _STEPS: "train_iters max_steps steps training_steps num_train_steps train_samples train_steps iterations num_train_epochs "
    "max_iters",
    _UNHEARD: "lr learning_rate min_lr max_lr lr_decay_style lr_decay_iters lr_warmup_iters lr_warmup_samples warmup_steps "
    "warmup lr_scheduler lr_scheduler_type weight_decay adam_beta1 adam_beta2 adam_eps clip_grad max_grad_norm "
    "gradient_clipping seed random_seed init_method_std log_interval logging_steps wandb_project tensorboard_dir",
}
TOLD: Final[Mapping[str, tuple[str, str]]] = {word: said for said, words in _TOLD.items() for word in words.split()}
"""What a plan says otherwise or not at all: the path to set, if one, and the sentence, by word."""
