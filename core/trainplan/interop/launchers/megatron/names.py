"""Options of Megatron that no plan rests on, and those that a plan has no field for, so that an import can sort what it read.

Names alone: NVIDIA/Megatron-LM d98e8a6 (training/arguments.py and the dataclasses that it makes options of),
bigscience-workshop/Megatron-DeepSpeed 8387ae1 and microsoft/Megatron-DeepSpeed f4157be (megatron/arguments.py). No name stands
among the silent ones that adds, shares or reshapes weights of a decoder of text.
"""

from __future__ import annotations

from typing import Final

_PREFIXES: Final = (
    "rl_ retro_ grpo_ inprocess_ fault_injector_ dino_ fim_ yarn_ mup_ dsa_ mamba_ logits_ flight_recorder_ "
    "no_flight_recorder_ disable_flight_recorder_ wandb_ otel_ one_logger_ no_one_logger ckpt_ no_ckpt_ "
    "disable_ckpt_ adlr_ log_ no_log_ disable_log_ inference_ tokenizer_ no_tokenizer_ disable_tokenizer_ lr_ "
    "adam_ muon_ lion_ tp_comm_ no_tp_comm_ disable_tp_comm_ no_dsa_ disable_dsa_ fp8_ fp4_ rope_ rotary_ "
    "moe_router_ moe_routing_ moe_upcycling_ mhc_ gtp_ img_ vision_ profile_ straggler_ load_ no_load_ "
    "disable_load_ save_ no_save_ disable_save_ hf_ tensorboard_ consumed_ valid_ test_ eval_ gdp_ qk_clip "
    "moe_paged_ moe_hybridep_ dist_ckpt_ async_ckpt_ iteration exit_ init_ indexer_ biencoder_ bert_ cuda_graph_ "
    "ddp_ manual_gc pytorch_profiler_ kitchen_ non_persistent_ lazy_ nccl_ kill_switch_ data_cache_ codecarbon_ "
    "min_loss null_tokenizer_ mscale aml_ random_ltd_ data_efficiency_ megatron_fsdp_ kill_ dataloader_ ict_ "
    "object_storage_ yaml_"
)
PREFIXES: Final = tuple(_PREFIXES.split())
"""Beginnings of names of whole groups: learning rate, checkpoints, logs, inference, data files, other models."""

_FLAGS: Final = (
    "abort_on_unmet_fused_kernel_constraints adlr_autoresume align_grad_reduce align_param_gather "
    "allow_ambiguous_pad_tokens apply_layernorm_1p apply_query_key_layer_scaling "
    "apply_residual_connection_post_layernorm apply_rope_fusion apply_wd_to_qk_layernorm async_ckpt_use_cpu_shm "
    "async_tensor_model_parallel_allreduce attention_softmax_in_fp32 auto_detect_ckpt_format barrier_with_L1_time "
    "batch_invariant_mode bert_binary_head bert_no_binary_head bias_dropout_fusion bias_gelu_fusion "
    "bias_swiglu_fusion biencoder_shared_query_context_model cache_mla_latents calc_ft_timeouts "
    "calculate_per_token_loss check_for_large_grads check_for_nan_in_loss check_for_nan_in_loss_and_grad "
    "check_for_spiky_loss ckpt_assume_constant_structure ckpt_convert_update_legacy_dist_opt_format "
    "ckpt_drop_redundant_extra_state ckpt_fully_parallel_load ckpt_fully_parallel_load_per_rank_objects "
    "ckpt_fully_parallel_save ckpt_fully_parallel_save_deprecated ckpt_load_validate_sharding_integrity "
    "ckpt_pg_tensors_cache_create clone_scatter_output_in_embedding contigious_checkpointing "
    "cpu_offloading_retain_pinned_cpu_buffers cpu_torch_adam create_all_gather_group "
    "create_attention_mask_in_dataloader create_moe_param_group data_parallel_random_init data_sharding "
    "dataloader_defer_npy_index_mmap dataloader_fast_cache_load ddp_average_in_collective "
    "ddp_pad_buckets_for_high_nccl_busbw ddp_reduce_scatter_with_fp32_accumulation decode_only_cuda_graphs "
    "decrease_batch_size_if_needed deepspeed_activation_checkpointing defer_embedding_wgrad_compute "
    "delay_offload_until_cuda_graph delay_wgrad_compute deprecated_use_mcore_models deterministic_mode "
    "dino_norm_last_layer disable_align_grad_reduce disable_bf16_reduced_precision_matmul "
    "disable_check_for_nan_in_loss disable_ckpt_load_validate_sharding_integrity "
    "disable_clone_scatter_output_in_embedding disable_dsa_indexer_rotate_activation "
    "disable_dsa_indexer_scoring_relu disable_filter_warnings disable_flight_recorder_dump_on_timeout "
    "disable_flight_recorder_extra_dump_on_exec disable_flight_recorder_include_only_active disable_fp8_wgrad "
    "disable_gloo_process_groups disable_jit_fuser disable_load_optim disable_load_rng "
    "disable_log_loss_scale_to_tensorboard disable_mamba_mem_eff_path disable_manual_gc_eval "
    "disable_mem_efficient_ln disable_moe_token_dropping disable_moe_top2_2nd_expert_sampling disable_msc "
    "disable_msc_deprecated disable_pad_vocab_size disable_save_optim disable_save_rng "
    "disable_save_tokenizer_assets disable_straggler_on_startup disable_strict_fsdp_dtensor_load "
    "disable_symmetric_registration disable_tokenizer_sentencepiece_ignore_extra_whitespaces "
    "disable_tp_comm_bulk_dgrad disable_tp_comm_bulk_wgrad disable_tp_comm_overlap_ag disable_tp_comm_overlap_rs "
    "disable_tp_comm_split_ag disable_tp_comm_split_rs disable_use_tokenizer_model_from_checkpoint_args "
    "dist_ckpt_optim_fully_reshardable dist_ckpt_save_pre_mcore_014 distrib_optim_fully_reshardable_mem_efficient "
    "ds_fused_adam ds_sequence_parallel_fpdt_offloading dsa_indexer_k_norm_fp32 dsa_indexer_rope_interleaved "
    "dsa_indexer_rotate_activation dsa_indexer_scoring_relu dsa_indexer_use_sparse_loss embedding_weights_in_fp32 "
    "enable_chunked_prefill enable_cuda_graph enable_experimental enable_ft_package enable_full_sharding_in_hsdp "
    "enable_msc enable_one_logger enable_zbh1_exact_semantics enable_zbh1_pipeline eod_mask_loss "
    "ep_overlap_early_attn_memory_release exit_on_missing_checkpoint exit_signal_handler "
    "exit_signal_handler_for_dataloader exit_signal_handler_for_training external_cuda_graph fake_process_group "
    "filter_warnings fim_data finetune flash_decode flight_recorder_dump_on_timeout "
    "flight_recorder_extra_dump_on_exec flight_recorder_include_only_active flight_recorder_include_stack_trace "
    "force_ds_sequence_parallel fp16_lm_cross_entropy fp32_residual_connection fp8_e4m3 fp8_hybrid "
    "fp8_output_proj fp8_wgrad freeze_all_layers fsdp_db_use_persist_buf_on_alloc_fail fsdp_double_buffer "
    "fsdp_manual_registration full_validation fully_parallel_load fully_parallel_save fused_residual_rmsnorm "
    "gdp_cutedsl_kernel gradient_accumulation_fusion gradient_reduce_div_fusion "
    "grpo_filter_groups_with_same_reward gtp_expert_remat_nccl_ub gtp_remat_nccl_ub "
    "gtp_remat_reduce_scatter_with_fp32_accumulation high_priority_a2a_comm_stream init_method_xavier_uniform "
    "init_model_with_meta_device inprocess_empty_cuda_cache inprocess_restart keep_fp8_transpose_cache "
    "layernorm_zero_centered_gamma lazy_mpu_init load_main_params_from_ckpt load_optim load_rng "
    "log_batch_size_to_tensorboard log_device_memory_used log_energy log_l2_norm_grad_to_tensorboard "
    "log_learning_rate_to_tensorboard log_loss_scale_to_tensorboard log_max_attention_logit "
    "log_memory_to_tensorboard log_num_zeros_in_grad log_optimizer_states_to_tensorboard log_params_norm "
    "log_progress log_runtime_to_tensorboard log_straggler log_throughput log_throughput_to_tensorboard "
    "log_timers_to_tensorboard log_validation_ppl_to_tensorboard log_world_size_to_tensorboard "
    "logits_load_ignore_errors loss_on_targets_only manual_gc manual_gc_eval masked_softmax_fusion "
    "megatron_fsdp_enable_fine_grained_param_gather megatron_fsdp_max_pool_double_buffer mem_efficient_ln "
    "mla_down_proj_fusion mmap_bin_files mmap_warmup mock_data moe_apply_probs_on_input moe_enable_routing_replay "
    "moe_grouped_gemm moe_hybridep_pad_uneven_dispatch_inputs moe_ncclep_zero_copy moe_paged_stash "
    "moe_per_layer_logging moe_permute_fusion moe_permute_fusion_into_hybridep moe_router_enable_expert_bias "
    "moe_router_force_load_balancing moe_router_fusion moe_router_pre_softmax "
    "moe_routing_trace_capture_hidden_states moe_routing_trace_capture_logits moe_routing_trace_dump_weights "
    "moe_single_grouped_bias moe_single_grouped_weight moe_token_dropping moe_top2_2nd_expert_sampling "
    "moe_use_grouped_tensor moe_use_upcycling mtp_detach_heads mtp_standalone multiple_validation_sets "
    "muon_nesterov muon_no_split_qkv muon_split_qkv muon_use_syrk nccl_all_reduce_for_prefill nccl_ub "
    "no_align_grad_reduce no_align_param_gather no_async_tensor_model_parallel_allreduce "
    "no_barrier_with_level_1_timing no_bias_dropout_fusion no_bias_gelu_fusion no_bias_swiglu_fusion "
    "no_check_for_nan_in_loss no_check_for_nan_in_loss_and_grad no_ckpt_fully_parallel_save "
    "no_ckpt_load_validate_sharding_integrity no_clone_scatter_output_in_embedding "
    "no_contiguous_buffers_in_local_ddp no_create_attention_mask_in_dataloader no_data_sharding "
    "no_dsa_indexer_rotate_activation no_dsa_indexer_scoring_relu no_filter_warnings "
    "no_flight_recorder_dump_on_timeout no_flight_recorder_extra_dump_on_exec "
    "no_flight_recorder_include_only_active no_fp8_wgrad no_gradient_accumulation_fusion "
    "no_gradient_reduce_div_fusion no_initialization no_load_lr_state no_load_optim no_load_rng "
    "no_log_learnig_rate_to_tensorboard no_log_loss_scale_to_tensorboard no_manual_gc_eval "
    "no_masked_softmax_fusion no_mmap_bin_files no_one_logger no_overlap_p2p_communication no_pad_vocab_size "
    "no_persist_layer_norm no_pin_cpu_grads no_pin_cpu_params no_query_key_layer_scaling no_rope_fusion "
    "no_save_optim no_save_rng no_save_tokenizer_assets no_scatter_gather_tensors_in_pipeline "
    "no_strict_fsdp_dtensor_load no_tokenizer_sentencepiece_ignore_extra_whitespaces no_tp_comm_bulk_dgrad "
    "no_tp_comm_bulk_wgrad no_tp_comm_overlap_ag no_tp_comm_overlap_rs no_tp_comm_split_ag no_tp_comm_split_rs "
    "no_use_layer_wise_param_layout no_use_tokenizer_model_from_checkpoint_args "
    "no_yarn_correction_range_round_to_int nvtx_ranges offset_sampling_seed_by_dp_rank one_logger_async "
    "openai_gelu optimizer_cuda_graph otel_enabled output_bert_embeddings overlap_cpu_optimizer_d2h_h2d "
    "overlap_dispatch_backward_with_experts_wgrad overlap_p2p_comm overlap_p2p_comm_warmup_flush "
    "overlap_p2p_communication overlap_p2p_communication_warmup_flush override_lr_scheduler "
    "override_opt_param_scheduler pad_vocab_size perform_initialization pin_cpu_grads pin_cpu_params profile "
    "profile_backward pytorch_profiler_collect_callstack pytorch_profiler_collect_chakra "
    "pytorch_profiler_collect_shapes qk_clip qk_l2_norm record_memory_history record_shapes repeated_dataloader "
    "replication reset_iteration reset_position_ids retriever_score_scaling retro_return_doc_ids "
    "return_data_index reuse_grad_buf_for_mxfp8_param_ag reweight_loss_based_on_position_frequency "
    "rl_durable_rollout_bank rl_profile rotary_interleaved run_workload_inspector_server save_optim save_rng "
    "save_tokenizer_assets scatter_gather_tensors_in_pipeline scattered_embeddings set_level_for_all_loggers sft "
    "skip_train split_transformers squared_relu strict_fsdp_dtensor_load sync_tp_duplicated_parameters "
    "synchronize_each_layer te_rng_tracker test_mode tokenizer_hf_no_include_special_tokens "
    "tokenizer_hf_no_use_fast tokenizer_sentencepiece_ignore_extra_whitespaces tokenizer_sentencepiece_legacy "
    "tp_comm_bulk_dgrad tp_comm_bulk_wgrad tp_comm_overlap_ag tp_comm_overlap_rs tp_comm_overlap_rs_dgrad "
    "tp_comm_split_ag tp_comm_split_rs trust_remote_code universal_checkpoint use_bnb_optimizer "
    "use_checkpoint_args use_checkpoint_lr_scheduler use_checkpoint_opt_param_scheduler "
    "use_contiguous_buffers_in_ddp use_contiguous_buffers_in_local_ddp use_cpu_initialization use_dist_ckpt "
    "use_dist_ckpt_deprecated use_fused_weighted_squared_relu use_gloo_process_groups "
    "use_grouped_gemm_for_dense_mlp use_grouped_gemm_for_shared_expert use_kitchen_attention "
    "use_layer_wise_param_layout use_legacy_static_engine use_mamba_mem_eff_path use_mcore_models "
    "use_mp_args_from_checkpoint_args use_mup use_nccl_ub use_nsys_profiler use_one_sent_docs "
    "use_persistent_ckpt_worker use_pin_memory use_pytorch_profiler use_ring_exchange_p2p use_rope_scaling "
    "use_same_sampling_seed_across_dp_ranks use_sharp use_te_activation_func "
    "use_tokenizer_model_from_checkpoint_args use_torch_optimizer_for_cpu_offload use_tp_pp_dp_mapping "
    "use_tutel verify_integrity vision_pretraining "
    "yarn_correction_range_round_to_int zero_contigious_gradients zero_reduce_scatter"
)
FLAGS: Final = frozenset(_FLAGS.split())
"""Options without a value."""

_SILENT: Final = (
    "DDP_impl activation_func_clamp_value actual_seq_length allow_transformer_engine app_tag_run_name "
    "app_tag_run_version async_strategy batch_invariant_backend block_data_path chat_template "
    "check_weight_hash_across_dp_replicas_interval classes_fraction clip_grad compression_training "
    "config_logger_dir cpu_offloading curr_iteration curriculum_learning curriculum_learning_legacy "
    "curriculum_scheduler curriculum_seqlen data_args_path data_impl data_per_class_fraction decoupled_lr "
    "decoupled_min_lr deepscale deepscale_config deepspeed_config_dict deepspeed_configuration "
    "deepspeed_dataloader deepspeed_mpi delta_offload_bytes_across_pp_ranks distributed_backend "
    "distributed_timeout_minutes distributed_timeout_seconds_after_init do_test do_train do_valid "
    "ds_pipeline_enabled ds_sequence_parallel_fpdt_chunk_size dump_param_to_param_group_map "
    "embedding_init_method_std embedding_path empty_unused_memory_level end_weight_decay error_injection_rate "
    "error_injection_type evidence_data_path fine_grained_offloading_max_inflight_offloads "
    "flash_attention_version ft_num_warmup_iters gigaflos_no_embeds glu_linear_offset gpu_sniff_test_interval "
    "head_lr_mult hidden_size_teacher high_priority_stream_groups hysteresis initial_loss_scale iter_per_epoch "
    "kd_alpha_ce kd_beta_ce kd_temp langrl_env_config layernorm_epsilon linear_attention_freq "
    "linear_conv_kernel_dim linear_key_head_dim linear_num_key_heads linear_num_value_heads linear_value_head_dim "
    "load local_rank logger_iteration logging_level logit_dtype loss_scale loss_scale_window lr mask_factor "
    "mask_prob mask_type master_addr master_port max_seqlen_per_dp_cp_rank max_tokens_to_oom "
    "mean_noise_span_length memory_keys memory_snapshot_path merge_file metadata_path "
    "microbatch_group_size_per_virtual_pipeline_stage microbatch_group_size_per_vp_stage "
    "mid_level_dataset_surplus min_lr min_offloaded_tensor_size mlp_chunks_for_prefill mlp_chunks_for_training "
    "model_type modules_to_filter moe_aux_loss_coeff moe_combine_bwd_dtype moe_deepep_num_sms "
    "moe_dispatch_fwd_dtype moe_eval_capacity_factor moe_expert_rank_capacity_factor moe_flex_dispatcher_num_sms "
    "moe_input_jitter_eps moe_loss_coeff moe_min_capacity moe_mlp_glu_interleave_size "
    "moe_shared_expert_glu_interleave_size moe_token_drop_policy moe_z_loss_coeff most_recent_k mrope_section "
    "mtp_loss_scaling_factor no_rope_freq no_weight_decay_cond_type noise_density norm_epsilon "
    "num_attention_heads_teacher num_channels num_classes num_dataset_builder_threads num_experts_teacher "
    "num_floating_point_operations_so_far num_key_value_heads_teacher num_layers_at_end_in_bf16 "
    "num_layers_at_start_in_bf16 num_layers_teacher num_speculative_tokens num_workers onnx_safe "
    "output_logit_dtype override_ckpt_iteration parameters_in_billions_no_embedding params_dtype patch_dim "
    "per_dataset_sequences_path per_split_data_args_path pipeline_model_parallel_comm_backend "
    "pipeline_model_parallel_split_rank pretrained_checkpoint query_in_block_prob rank refit_method "
    "relative_attention_max_distance relative_attention_num_buckets replication_factor replication_jump "
    "rerun_mode result_rejected_tracker_filename retriever_report_topk_accuracies retriever_seq_length "
    "runtime_time_unit sample_rate seed sft_tokenizer_prompt_format sgd_momentum sharp_enabled_group "
    "short_seq_prob skip_train_iteration_range skipped_train_samples spec special_tokens split start_eval_at_iter "
    "start_weight_decay suggested_communication_unit_size swin_backbone_type symmetric_ar_type teacher_forward "
    "teacher_model throughput_window_size tiktoken_num_special_tokens tiktoken_pattern tile_factor "
    "timing_log_level timing_log_option titles_data_path train_desc_path train_doc_idx_path train_idx_path "
    "train_sample_idx_path train_shuffle_idx_path train_sync_interval train_weighted_split_paths "
    "train_weighted_split_paths_path transformer_pipeline_model_parallel_size use_dataset_only use_gigatoken "
    "use_layer_wise_distributed_optimizer use_tensorboard validation_set_names variable_seq_lengths vocab_file "
    "warmup wd_incr_steps weight_decay weight_decay_incr_style wgrad_deferral_limit wsd_decay_steps"
)
SILENT: Final = frozenset(_SILENT.split())
"""Options with a value, and arguments that a log lists."""

FIELDLESS: Final = {
    "pipeline_model_parallel_layout": "a plan says the layers of the first and the last stage",
    "standalone_embedding_stage": "a plan's stages all have layers",
    "tensor_parallel_num_weight_shards": "a plan shards over tensor and data ranks",
    "expert_tensor_parallel_num_weight_shards": "a plan shards over tensor and data ranks",
    "hierarchical_context_parallel_sizes": "a plan has one context degree",
    "hybrid_context_parallel": "a plan has one context degree",
    "fine_grained_activation_offloading": "a plan offloads all activations or none",
    "cpu_offloading_num_layers": "a plan offloads all activations or none",
    "offload_modules": "a plan offloads all activations or none",
    "activation_offload_fraction": "a plan offloads all activations or none",
    "main_grads_dtype": "a plan says what gradients are reduced in, training.gradient_dtype",
    "main_params_dtype": "a plan's master copy is fp32",
    "megatron_fsdp_main_params_dtype": "a plan's master copy is fp32",
    "megatron_fsdp_main_grads_dtype": "a plan says what gradients are reduced in, training.gradient_dtype",
    "megatron_fsdp_grad_comm_dtype": "a plan says what gradients are reduced in, training.gradient_dtype",
    "fp8_param_gather": "a plan's weights are gathered in the compute type",
    "fp4_param_gather": "a plan's weights are gathered in the compute type",
    "first_last_layers_bf16": "a plan has one precision",
    "overlap_grad_reduce": "a plan says a share, parallelism.overlap_data",
    "overlap_param_gather": "a plan says a share, parallelism.overlap_data",
    "overlap_param_gather_with_optimizer_step": "a plan says a share, parallelism.overlap_data",
    "tp_comm_overlap": "a plan says a share, parallelism.overlap_tensor",
    "overlap_moe_expert_parallel_comm": "a plan says a share, parallelism.overlap_expert",
    "moe_shared_expert_overlap": "a plan says a share, parallelism.overlap_expert",
    "moe_router_num_groups": "only an entry of the catalogue says it",
    "moe_router_group_topk": "only an entry of the catalogue says it",
    "moe_expert_capacity_factor": "a plan says training.moe_imbalance",
    "moe_train_capacity_factor": "a plan says training.moe_imbalance",
    "moe_pad_expert_input_to_capacity": "a plan says training.moe_imbalance",
    "moe_token_dispatcher_type": "a plan has one way to send tokens to experts",
    "moe_enable_deepep": "a plan has one way to send tokens to experts",
    "moe_flex_dispatcher_backend": "a plan has one way to send tokens to experts",
    "moe_layer_recompute": "a plan's recompute is that of all layers",
    "distribute_saved_activations": "a plan keeps saved activations whole",
    "distribute_checkpointed_activations": "a plan keeps saved activations whole",
    "partition_activations": "a plan keeps saved activations whole",
    "checkpoint_in_cpu": "a plan offloads all activations or none",
    "checkpoint_num_layers": "a plan recomputes layer by layer",
    "save_interval": "a plan says a time, reliability.checkpoint_interval",
    "save_retain_interval": "a plan says tokens, storage.keep_full_every",
    "persistent_save_interval": "a plan says a time, reliability.checkpoint_interval",
    "non_persistent_save_interval": "a plan says a time, reliability.checkpoint_interval",
    "random_ltd": "a plan's sequences have one length in a stage",
    "data_efficiency_curriculum_learning": "a plan's sequences have one length in a stage",
    "perform_rl_step": "a plan is of pretraining",
    "kd": "a plan has no teacher",
    "mos": "a plan has no teacher",
    "remote_device": "a plan offloads optimizer states alone",
    "make_vocab_size_divisible_by": "padding is the framework's, 128 x tensor",
    "vocab_extra_ids": "a plan says model.vocab_size, all rows in it",
    "decoder_seq_length": "a plan has a decoder alone",
    "ddp_num_buckets": "a plan says parallelism.bucket_elements",
    "mtp_use_repeated_layer": "a plan's prediction depths have weights of their own",
    "ds_sequence_parallel_fpdt": "a plan keeps a whole sequence on the device",
    "zero_reduce_bucket_size": "a plan says parallelism.bucket_elements",
    "zero_allgather_bucket_size": "a plan says parallelism.bucket_elements",
    "mtp_hsm": "a plan's prediction depths mix nothing",
    "memory_centric_tiled_linear": "a plan's projections are whole",
    "te_precision_config_file": "a plan has one precision",
    "phase_transition_iterations": "a plan says data.stages",
    "train_data_exact_num_epochs": "a plan says data.train_tokens",
}
"""Options that change what a run takes and have no field, with what a plan says instead."""


def silent(name: str) -> bool:
    """Whether an option is known, and no plan rests on it."""
    return name in FLAGS or name in SILENT or name.startswith(PREFIXES)
