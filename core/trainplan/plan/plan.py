"""The plan as a value: every table, frozen and validated; nothing in it is derived."""

# No `from __future__ import annotations`: pydantic would compile each annotation from its text, which takes 4 ms.

from typing import Annotated, Literal

from pydantic import Field

from trainplan.plan.shape import Model
from trainplan.plan.tables import (
    Batch,
    Calendar,
    Cluster,
    Data,
    Evaluation,
    Memory,
    Parallelism,
    Paths,
    ReadinessItem,
    Reliability,
    Rung,
    Storage,
    Table,
    Text,
    Training,
    UtilizationClaim,
)


class Plan(Table):
    """A training run as people decide it, format 1."""

    format: Literal[1] = Field(description="Version of the plan format.")
    name: Text | None = Field(default=None, description="Name of the plan; the file's name when absent.")
    description: Text | None = Field(default=None, description="One line for people.")
    schedule: Calendar = Field(default=Calendar(), description="Start, deadline, budget.")
    paths: Paths = Field(default=Paths(), description="What automatic checks look at.")
    model: Model = Field(default=Model(), description="Shape of the network.")
    data: Data = Field(default=Data(), description="Tokens and sources.")
    batch: Batch = Field(default=Batch(), description="Batch sizes.")
    training: Training = Field(default=Training(), description="Framework, precision, optimizer, kernels.")
    cluster: Cluster = Field(default=Cluster(), description="Accelerators and links.")
    parallelism: Parallelism = Field(default=Parallelism(), description="Degrees and kinds of parallelism.")
    utilization: UtilizationClaim = Field(default=UtilizationClaim(), description="Utilization and its evidence.")
    memory: Memory = Field(default=Memory(), description="Headroom and overheads.")
    storage: Storage = Field(default=Storage(), description="Space and bandwidth.")
    reliability: Reliability = Field(default=Reliability(), description="Failures and what they cost.")
    evaluation: Evaluation = Field(default=Evaluation(), description="Evaluation tasks and cadence.")
    pilot: Annotated[tuple[Rung, ...], Field(strict=False)] = Field(
        default=(), description="Rungs of the pilot ladder."
    )
    readiness: Annotated[tuple[ReadinessItem, ...], Field(strict=False)] = Field(
        default=(), description="Readiness items."
    )
