"""What fields and quantities of the predicted step and its transfers are called; 23 characters at most."""

from __future__ import annotations

from typing import Final

STEP_FIELDS: Final[dict[str, str]] = {
    "parallelism.context_type": "context exchange",
    "parallelism.overlap_data": "overlap, data",
    "parallelism.overlap_tensor": "overlap, tensor",
    "parallelism.overlap_expert": "overlap, expert",
    "parallelism.bucket_elements": "gradient bucket",
    "cluster.scale_up_domain": "scale-up domain",
    "cluster.scale_up_bandwidth": "scale-up link",
    "cluster.scale_out_bandwidth": "fabric",
}

STEP_QUANTITIES: Final[dict[str, str]] = {
    "parallelism.predicted_step_time": "predicted step",
    "parallelism.predicted_step_time_low": "predicted step, low",
    "parallelism.predicted_step_time_high": "predicted step, high",
    "parallelism.predicted_utilization": "predicted utilization",
    "parallelism.predicted_utilization_low": "predicted, low",
    "parallelism.predicted_utilization_high": "predicted, high",
    "parallelism.waterfall.products": "matrix products",
    "parallelism.waterfall.attention": "attention core",
    "parallelism.waterfall.elementwise": "memory-bound work",
    "parallelism.waterfall.host": "host floor",
    "parallelism.waterfall.head": "output head and loss",
    "parallelism.waterfall.tensor": "tensor, exposed",
    "parallelism.waterfall.context": "context, exposed",
    "parallelism.waterfall.expert": "expert, exposed",
    "parallelism.waterfall.pipeline": "stage transfers",
    "parallelism.waterfall.data": "data, exposed",
    "parallelism.waterfall.imbalance": "stage imbalance",
    "parallelism.waterfall.bubble": "pipeline bubble",
    "parallelism.waterfall.optimizer": "optimizer step",
    "parallelism.waterfall.stragglers": "stragglers",
    "communication.data": "data, sent",
    "communication.tensor": "tensor, sent",
    "communication.context": "context, sent",
    "communication.pipeline": "pipeline, sent",
    "communication.expert": "expert, sent",
    "communication.exposed_time": "exposed transfers",
    "communication.exposed_share": "exposed, of the step",
    "communication.exposed.data": "data, in sight",
    "communication.exposed.tensor": "tensor, in sight",
    "communication.exposed.context": "context, in sight",
    "communication.exposed.pipeline": "pipeline, in sight",
    "communication.exposed.expert": "expert, in sight",
}
