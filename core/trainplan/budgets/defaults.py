"""Defaults that the plan format states, with their source, and the unit of each numeric field.

A default is shown as a default; one that was not read again in its source is shown as unverified.
"""

from __future__ import annotations

from typing import Any, Final

from trainplan.frozen import frozen


@frozen
class Default:
    """The value that an absent field means, and where it comes from."""

    value: Any
    source: str
    verified: bool = False


PLAIN: Final = "plan format, default"
_FORMAT: Final = PLAIN
_SHAPE: Final = "Hugging Face config default"

DEFAULTS: Final[dict[str, Default]] = {
    "model.tie_word_embeddings": Default(False, _FORMAT, True),
    "model.attention_bias": Default(False, _FORMAT, True),
    "model.attention_output_bias": Default(False, _FORMAT, True),
    "model.mlp_bias": Default(False, _FORMAT, True),
    "model.qk_norm": Default(False, _FORMAT, True),
    "model.parallel_block": Default(False, _FORMAT, True),
    "model.post_norms": Default(False, _FORMAT, True),
    "model.gated_mlp": Default(True, _FORMAT, True),
    "model.norm": Default("rmsnorm", _FORMAT, True),
    "model.position_embedding": Default("rope", _FORMAT, True),
    "model.moe.num_shared_experts": Default(0, _FORMAT, True),
    "model.moe.first_k_dense_replace": Default(0, _FORMAT, True),
    "model.moe.moe_layer_freq": Default(1, _FORMAT, True),
    "model.moe.router_bias": Default(False, _FORMAT, True),
    "model.moe.expert_bias": Default(False, _FORMAT, True),
    "model.moe.shared_expert_gate": Default(False, _FORMAT, True),
    "model.attention_sinks": Default(False, _FORMAT, True),
    "model.head_bias": Default(False, _FORMAT, True),
    "model.qk_norm_scope": Default("head", _FORMAT, True),
    "model.qk_norm_bias": Default(False, _FORMAT, True),
    "model.final_norm": Default(True, _FORMAT, True),
    "model.embedding_norm": Default(False, _FORMAT, True),
    "model.activation_parameters": Default(0, _FORMAT, True),
    "model.position_offset": Default(0, _FORMAT, True),
    "data.temperature": Default(1, "Megatron-LM blended_megatron_dataset_config.py: in proportion to size", True),
    "data.max_passes": Default(4, "Muennighoff et al. 2023, arXiv 2305.16264: up to about 4 passes near-free"),
    "memory.fragmentation": Default(0.06, "allocator fragmentation 5 to 10 %, Megatron-LM and ml-engineering", True),
    "memory.runtime_overhead": Default(2.5 * 2**30, "context 1.0 GiB and communicators 1.5 GiB, ml-engineering", True),
    "memory.target_fraction": Default(0.85, "product judgement: estimates are good to 5 to 10 % before a measurement"),
    "storage.usable_fraction": Default(0.80, "ml-engineering storage chapter, Lustre-like systems", True),
    "storage.checkpoint_floor": Default(5.0, "barriers and metadata, product judgement"),
    "reliability.failures_per_node_day": Default(
        0.0065, "Kokolis et al., HPCA 2025, arXiv 2410.21680, RSC-1, read second-hand"
    ),
    "reliability.fixed_failures_per_day": Default(
        1.0, "product judgement: small jobs fail for size-independent reasons"
    ),
    "reliability.detection_time": Default(300.0, "product judgement"),
    "reliability.restart_time": Default(900.0, "product judgement"),
    "reliability.repair_time": Default(3 * 86400.0, "product judgement"),
    "evaluation.utilization": Default(0.30, "product judgement"),
    "cluster.pue": Default(1.2, "product judgement"),
    "training.moe_imbalance": Default(1.2, "mlc-ai/pith-train pull request 18", True),
    "batch.micro_batch_sequences": Default(1, _FORMAT, True),
    "parallelism.tensor": Default(1, _FORMAT, True),
    "parallelism.pipeline": Default(1, _FORMAT, True),
    "parallelism.virtual_pipeline": Default(1, _FORMAT, True),
    "parallelism.context": Default(1, _FORMAT, True),
    "parallelism.expert": Default(1, _FORMAT, True),
    "parallelism.expert_tensor": Default(1, _FORMAT, True),
    "schedule.planned_downtime": Default(0.0, _FORMAT, True),
    "schedule.queue_gap": Default(0.0, _FORMAT, True),
    "training.dropout": Default(0.0, _FORMAT, True),
    "storage.raw_data": Default(0.0, _FORMAT, True),
    "storage.processed_copies": Default(1, _FORMAT, True),
    "storage.keep_full_local": Default(2, "ml-engineering: keep two, the last may be broken", True),
    "reliability.spare_nodes": Default(0, _FORMAT, True),
}

AFTER_A_PEAK: Final[dict[str, Default]] = {
    "memory.target_fraction": Default(0.92, "product judgement: memory.calibration is set: a measured peak"),
}
"""Defaults that stand in place of the others once memory.calibration says that a peak was measured."""

UNITS: Final[dict[str, str]] = {
    "schedule.budget": "currency",
    "schedule.planned_downtime": "s",
    "schedule.queue_gap": "s",
    "data.train_tokens": "tokens",
    "data.sequence_length": "tokens",
    "data.bytes_per_token": "bytes",
    "cluster.price_per_accelerator_hour": "currency/h",
    "cluster.scale_up_bandwidth": "bytes/s",
    "cluster.scale_out_bandwidth": "bytes/s",
    "cluster.memory_per_accelerator": "bytes",
    "cluster.peak_flops": "FLOP/s",
    "cluster.host_memory_per_node": "bytes",
    "memory.runtime_overhead": "bytes",
    "storage.capacity": "bytes",
    "storage.write_bandwidth": "bytes/s",
    "storage.read_bandwidth": "bytes/s",
    "storage.upload_bandwidth": "bytes/s",
    "storage.raw_data": "bytes",
    "storage.checkpoint_floor": "s",
    "storage.keep_full_every": "tokens",
    "storage.keep_light_every": "tokens",
    "reliability.detection_time": "s",
    "reliability.restart_time": "s",
    "reliability.checkpoint_interval": "s",
    "reliability.repair_time": "s",
    "reliability.job_time_limit": "s",
    "evaluation.interval_tokens": "tokens",
}
