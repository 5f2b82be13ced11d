"""Rows of the parallelism budget: the layout that people decide, the predicted step part by part, and what is sent."""

from __future__ import annotations

from typing import Final

from trainplan.budgets.steptime import WATERFALL
from trainplan.quantity import numbers
from trainplan.rows.table import FieldRow, FigureRow, RuleRow, Table

PARALLELISM: Final = Table(
    "Parallelism",
    "parallelism",
    (
        FieldRow("parallelism.tensor"),
        FieldRow("parallelism.pipeline"),
        FieldRow("parallelism.context"),
        FieldRow("parallelism.virtual_pipeline"),
        FieldRow("parallelism.expert"),
        FieldRow("parallelism.expert_tensor"),
        FieldRow("parallelism.sharding"),
        FieldRow("parallelism.shard_size"),
        FieldRow("parallelism.schedule"),
        FieldRow("parallelism.recompute"),
        FieldRow("batch.micro_batch_sequences", "sequences"),
        FieldRow("parallelism.sequence_parallel"),
        FieldRow("parallelism.context_type"),
        FieldRow("parallelism.overlap_data", "", numbers.share),
        FieldRow("parallelism.overlap_tensor", "", numbers.share),
        FieldRow("parallelism.overlap_expert", "", numbers.share),
        FieldRow("cluster.scale_up_domain"),
        FieldRow("cluster.scale_up_bandwidth", "B/s", numbers.prefixed),
        FieldRow("cluster.scale_out_bandwidth", "B/s", numbers.prefixed),
        RuleRow(),
        FigureRow("parallelism.data"),
        FigureRow("tokens.microbatches"),
        FigureRow("parallelism.world_size"),
        FigureRow("parallelism.bubble", numbers.percent),
        RuleRow("one step, predicted"),
        *(FigureRow(f"parallelism.waterfall.{part}") for part in WATERFALL),
        FigureRow("parallelism.predicted_step_time"),
        FigureRow("parallelism.predicted_step_time_low"),
        FigureRow("parallelism.predicted_step_time_high"),
        FigureRow("compute.step_time", label="planned step"),
        FigureRow("parallelism.predicted_utilization", numbers.share),
        FigureRow("parallelism.predicted_utilization_low", numbers.share),
        FigureRow("parallelism.predicted_utilization_high", numbers.share),
        FigureRow("compute.utilization", numbers.share, label="planned utilization"),
        RuleRow("sent in a step by one accelerator"),
        FigureRow("communication.data"),
        FigureRow("communication.tensor"),
        FigureRow("communication.context"),
        FigureRow("communication.pipeline"),
        FigureRow("communication.expert"),
        FigureRow("communication.exposed_time"),
        FigureRow("communication.exposed_share", numbers.percent),
    ),
    (
        "parallelism.tensor",
        "parallelism.pipeline",
        "parallelism.context",
        "parallelism.sharding",
        "parallelism.recompute",
        "parallelism.bubble",
        "parallelism.waterfall.products",
        "parallelism.waterfall.data",
        "parallelism.predicted_step_time",
        "compute.step_time",
        "parallelism.predicted_utilization",
        "communication.data",
    ),
)
