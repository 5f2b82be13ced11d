"""The plan's tables: what a user decides, each field with one sentence that help, `schema` and the inspector show.

Values are frozen and strict. An absent table means its defaults; a field without a default is None when absent and blocks what
needs it. Derived things never sit here.
"""

# No `from __future__ import annotations`: pydantic would compile each annotation from its text, which takes 4 ms.

import datetime as dt
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from trainplan.plan.fields import (
    AtLeastOne,
    Bytes,
    Count,
    CountOrZero,
    Documents,
    FlopRate,
    Interval,
    Money,
    Positive,
    PositiveTime,
    Rate,
    Ratio,
    Share,
    Size,
    Time,
    Tokens,
    TokensOrZero,
    Utilization,
    Weight,
    rung_name,
)
from trainplan.quantity.unit import Quantity

Framework: TypeAlias = Literal["megatron", "deepspeed", "torchtitan", "fsdp", "maxtext"]
Sampler: TypeAlias = Literal[
    "megatron-blended",
    "megatron-exhaustive",
    "olmo-core",
    "mosaic-streaming",
    "levanter",
    "hf-interleave",
    "torchdata-weighted",
    "webdataset",
    "torchtitan",
    "nanoset",
]
Precision: TypeAlias = Literal["fp32", "bf16-mixed", "bf16-pure", "fp16-mixed", "fp8-mixed"]
Optimizer: TypeAlias = Literal["adamw", "adamw-8bit", "muon", "adafactor", "lion", "sgd-momentum"]
Sharding: TypeAlias = Literal["none", "zero-1", "zero-2", "zero-3", "hsdp"]
Schedule: TypeAlias = Literal["gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe"]
Evidence: TypeAlias = Literal["measured-here", "measured-scaled", "measured-node", "published", "assumed"]
Convention: TypeAlias = Literal["6n", "causal", "full", "hardware"]

Text: TypeAlias = Annotated[str, Field(max_length=4000)]


Sha256: TypeAlias = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]


class Table(BaseModel):
    """A frozen, strict table that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


def default(value: float, text: str = "") -> Any:
    """A default in base units with the spelling of the plan format."""
    return Quantity(value, text)


class Calendar(Table):
    """When the run starts and by when, and for how much, it has to end."""

    start: dt.date | None = Field(
        default=None, description="First day of the run; without it, durations instead of dates."
    )
    deadline: dt.date | None = Field(default=None, description="Day by whose start the run has to be finished.")
    budget: Money | None = Field(default=None, description="Most that the run may cost, in the plan's currency.")
    planned_downtime: Time = Field(
        default=default(0, "0h"), description="Time without training that is planned, over the whole run."
    )
    queue_gap: Time = Field(default=default(0, "0h"), description="Wait between two segments of a time-limited job.")


class Paths(Table):
    """What automatic checks look at, relative to the plan file."""

    code: Text | None = Field(default=None, description="Folder of the training code, a git checkout.")
    data: Text | None = Field(default=None, description="Folder of the token shards.")
    checkpoints: Text | None = Field(default=None, description="Folder that checkpoints are written to.")
    tokenizer: Text | None = Field(default=None, description="The tokenizer file.")
    launch_script: Text | None = Field(default=None, description="The script that submits the run.")
    container: Text | None = Field(default=None, description="The container image, by digest.")
    manifests: Text | None = Field(default=None, description="Folder of the data manifests.")


Lengths: TypeAlias = Annotated[
    tuple[Annotated[tuple[Positive, Positive], Field(strict=False)], ...], Field(strict=False, max_length=1000)
]


class Source(Table):
    """One source of training text."""

    name: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^.\"'\x00-\x1f\x7f-\x9f]+$")] | None = Field(
        default=None, description="Name of the source, unique in the plan; no dot, quote or control character."
    )
    unique_tokens: Tokens | None = Field(
        default=None, description="Tokens of the source after deduplication, counted once."
    )
    weight: Weight | None = Field(
        default=None, description="Share of the mixture that the sampler is told for this source."
    )
    mean_document_tokens: Positive | None = Field(default=None, description="Mean length of a document in tokens.")
    documents: Documents | None = Field(default=None, description="Documents of the source.")
    manifest: Text | None = Field(default=None, description="Manifest that the counts were read from.")
    max_passes: Positive | None = Field(default=None, description="Most passes over this source without a warning.")
    tokenizer_sha256: Sha256 | None = Field(default=None, description="Checksum of the tokenizer that made the shards.")
    built: dt.date | None = Field(default=None, description="Day on which the shards were built.")
    document_lengths: Lengths | None = Field(
        default=None, description="Histogram of document lengths: pairs of tokens and documents, in place of the mean."
    )


class Stage(Table):
    """A stretch of the run with its own mixture, length or batch."""

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="Name of the stage."
    )
    until_tokens: Tokens | None = Field(
        default=None, description="Train tokens at which the stage ends; the last ends with the run."
    )
    weights: dict[str, Weight] | None = Field(
        default=None,
        description="Mixture of the stage by source name; sources left out are 0. Absent: the sources' own weights.",
    )
    sequence_length: Count | None = Field(default=None, description="Sequence length of the stage in tokens.")
    global_batch_sequences: Count | None = Field(
        default=None, description="Sequences in one optimizer step of the stage."
    )


class Data(Table):
    """Tokens, their sources and the sampler that draws them."""

    train_tokens: Tokens | None = Field(
        default=None, description="Tokens consumed over the whole run, repeats included."
    )
    sequence_length: Count | None = Field(default=None, description="Tokens in one training sequence.")
    sampler: Sampler | None = Field(
        default=None, description="Loader whose contract says how sources are drawn and repeated."
    )
    packing: Literal["concat", "best-fit", "pad"] = Field(default="concat", description="How documents fill sequences.")
    document_mask: bool = Field(
        default=True,
        description="Whether attention stops at document borders; the predicted step counts no time saved by it.",
    )
    bytes_per_token: Positive | None = Field(default=None, description="Bytes that one token takes in the shards.")
    max_passes: Positive = Field(default=default(4), description="Passes over a source above which a warning is given.")
    held_out: Literal["explicit", "split-tail"] | None = Field(
        default=None, description="How held-out text is chosen: a list of its own, or the tail of a split."
    )
    shuffle: Literal["sequences", "documents", "affine", "none"] | None = Field(
        default=None, description="What is shuffled before it is read, and how."
    )
    ngram_filter: bool | None = Field(
        default=None, description="Whether documents with long repeats of n-grams were filtered."
    )
    critical_batch_tokens: Tokens | None = Field(
        default=None, description="Tokens in a step above which a larger batch no longer pays, as measured."
    )
    preprocessing_changed: dt.date | None = Field(
        default=None, description="Day of the last change of the code that makes the shards."
    )
    temperature: Ratio | None = Field(
        default=None, description="Exponent of unique tokens that gives weights where no source has one."
    )
    mixture_block: Count | None = Field(
        default=None, description="Sequences in one block of levanter's mixture; 2,048 where it is absent."
    )
    sources: Annotated[tuple[Source, ...], Field(strict=False)] = Field(
        default=(), description="The sources of the mixture."
    )
    stages: Annotated[tuple[Stage, ...], Field(strict=False)] = Field(
        default=(), description="Stages, consecutive from token 0."
    )


class BatchChange(Table):
    """One entry of a batch schedule."""

    from_tokens: TokensOrZero | None = Field(default=None, description="Train tokens at which this batch begins.")
    global_batch_sequences: Count | None = Field(
        default=None, description="Sequences in one optimizer step from there."
    )


class Batch(Table):
    """How many sequences make one optimizer step."""

    global_batch_sequences: Count | None = Field(
        default=None, description="Sequences in one optimizer step over all replicas."
    )
    micro_batch_sequences: Count = Field(
        default=default(1), description="Sequences that one replica computes at a time."
    )
    schedule: Annotated[tuple[BatchChange, ...], Field(strict=False)] = Field(
        default=(), description="Batch sizes by train tokens; empty means constant."
    )


class Training(Table):
    """Framework, precision, optimizer and kernels."""

    framework: Framework = Field(
        default="megatron", description="Framework whose recipe of states, buckets and padding holds."
    )
    precision: Precision = Field(default="bf16-mixed", description="Recipe of weight, compute and master precision.")
    optimizer: Optimizer = Field(
        default="adamw",
        description="Optimizer, which decides the states kept and moved for each parameter; its own products are not predicted.",
    )
    moment_dtype: Literal["fp32", "bf16"] = Field(default="fp32", description="Type of the optimizer's moments.")
    gradient_dtype: Literal["fp32", "bf16", "fp16"] | None = Field(
        default=None, description="Type that gradients are reduced and kept in."
    )
    gradient_accumulation: Literal["sharded", "full"] | None = Field(
        default=None, description="Whether gradients stay reduced between microbatches."
    )
    kernels: Literal["megatron-te", "torch-compile", "torch-eager"] | None = Field(
        default=None,
        description="Kernel set, which decides what a layer keeps, and whether operators pass over memory one by one.",
    )
    attention: Literal["flash", "eager"] = Field(default="flash", description="Attention kernel.")
    attention_precision: Literal["16-bit", "fp8"] = Field(
        default="16-bit",
        description="Number type of the products of attention; fp8 is Megatron's, on Hopper and Blackwell.",
    )
    expert_kernels: Literal["grouped", "fused"] = Field(
        default="grouped",
        description="Kernels of routed experts: grouped products alone, or fused with gate and quantization, which "
        "Megatron has in fp8 on Blackwell.",
    )
    cuda_graphs: Literal["none", "full-iteration"] = Field(
        default="none", description="Whether a whole step is launched as one graph; its buffers are not in the ledger."
    )
    loss: Literal["plain", "compiled", "fused", "fused-in-place", "chunked"] | None = Field(
        default=None,
        description="Loss kernel, which decides the copies of the logits and how often they pass through memory.",
    )
    head: Literal["vocab-parallel", "gathered"] | None = Field(
        default=None, description="How the output head is split."
    )
    dropout: Share = Field(
        default=default(0),
        description="Dropout probability; its masks are kept, its time is not predicted.",
    )
    optimizer_offload: bool = Field(default=False, description="Whether optimizer states live in host memory.")
    activation_offload: bool = Field(default=False, description="Whether saved activations live in host memory.")
    moe_imbalance: AtLeastOne = Field(
        default=default(1.2), description="Tokens on the fullest expert rank against the mean; the others wait for it."
    )


class Cluster(Table):
    """Accelerators, nodes, links and prices."""

    accelerator: Text | None = Field(default=None, description="Accelerator, an entry of the catalogue.")
    nodes: Count | None = Field(default=None, description="Nodes that train.")
    accelerators_per_node: Count | None = Field(default=None, description="Accelerators in one node.")
    price_per_accelerator_hour: Money | None = Field(default=None, description="Price of one accelerator for one hour.")
    currency: Annotated[str, Field(min_length=1, max_length=8, pattern=r"^[A-Za-z]+$")] = Field(
        default="USD", description="Currency of every amount in the plan."
    )
    pue: AtLeastOne = Field(default=default(1.2), description="Power of the site over power of the machines.")
    scale_up_domain: Count | None = Field(default=None, description="Accelerators joined by the scale-up link.")
    scale_up_bandwidth: Rate | None = Field(
        default=None, description="Scale-up link, one way and for each accelerator."
    )
    scale_out_bandwidth: Rate | None = Field(default=None, description="Fabric, one way and for each accelerator.")
    memory_per_accelerator: Size | None = Field(default=None, description="Device memory that the runtime reports.")
    peak_flops: FlopRate | None = Field(
        default=None,
        description="Dense peak of one accelerator in 16 bits, for fp8 too; in fp32 where a run trains so.",
    )
    host_memory_per_node: Size | None = Field(default=None, description="Host memory of one node.")
    nodes_per_failure_domain: Count | None = Field(default=None, description="Nodes that fail together.")


class Parallelism(Table):
    """How the model and the batch are split."""

    tensor: Count = Field(default=default(1), description="Tensor-parallel degree.")
    pipeline: Count = Field(default=default(1), description="Pipeline stages.")
    virtual_pipeline: Count = Field(default=default(1), description="Model chunks on each pipeline rank.")
    context: Count = Field(default=default(1), description="Context-parallel degree.")
    expert: Count = Field(default=default(1), description="Expert-parallel degree.")
    expert_tensor: Count = Field(default=default(1), description="Tensor-parallel degree inside experts.")
    sharding: Sharding | None = Field(default=None, description="What is sharded over the data-parallel ranks.")
    shard_size: Count | None = Field(default=None, description="Ranks in one shard group of hsdp.")
    schedule: Schedule = Field(default="1f1b", description="Pipeline schedule.")
    sequence_parallel: bool = Field(
        default=True, description="Whether norms and residuals are split over the tensor ranks."
    )
    context_type: Literal["ring", "all-to-all"] = Field(
        default="ring", description="How context-parallel attention exchanges."
    )
    recompute: Literal["none", "selective", "full"] = Field(
        default="none",
        description="What forward is computed again in backward; the framework decides what selective is.",
    )
    reshard_after_forward: bool = Field(default=True, description="Whether gathered weights are dropped after forward.")
    first_stage_layers: Count | None = Field(default=None, description="Layers on the first pipeline rank.")
    last_stage_layers: Count | None = Field(default=None, description="Layers on the last pipeline rank.")
    bucket_elements: Count | None = Field(default=None, description="Elements in one gradient bucket.")
    overlap_data: Share | None = Field(
        default=None, description="Share of data-parallel communication that compute can hide."
    )
    overlap_tensor: Share | None = Field(
        default=None,
        description="Share of tensor-parallel communication that compute can hide; Megatron without user buffers: 0.2.",
    )
    overlap_expert: Share | None = Field(
        default=None, description="Share of expert-parallel communication that compute can hide."
    )


class UtilizationClaim(Table):
    """Model FLOP utilization and what it stands on."""

    value: Utilization | None = Field(default=None, description="Model FLOP / (peak x time), by the convention below.")
    convention: Convention = Field(default="causal", description="Which FLOPs of a token count.")
    evidence: Evidence = Field(default="assumed", description="What kind of evidence the value has.")
    source: Text | None = Field(default=None, description="What was measured, where, by whom.")
    date: dt.date | None = Field(default=None, description="Day of the measurement.")
    low: Utilization | None = Field(default=None, description="Least utilization that the forecast draws.")
    high: Utilization | None = Field(default=None, description="Largest utilization that the forecast draws.")


class Memory(Table):
    """What is kept free, and what lies outside the tensors."""

    target_fraction: Utilization | None = Field(
        default=None,
        description="Share of usable memory that a plan may fill; by default 0.85, and 0.92 once memory.calibration is set.",
    )
    fragmentation: Share = Field(default=default(0.06), description="Reserved over allocated memory, minus 1.")
    runtime_overhead: Bytes = Field(default=default(2.5 * 2**30, "2.5GiB"), description="Memory outside the allocator.")
    calibration: Positive | None = Field(default=None, description="Measured peak over estimated peak, from a pilot.")


class Storage(Table):
    """Space and bandwidth of the whole file system, and what is kept."""

    capacity: Size | None = Field(default=None, description="Space of the file system.")
    usable_fraction: Utilization = Field(default=default(0.80), description="Share of the capacity that may be filled.")
    write_bandwidth: Rate | None = Field(default=None, description="Write bandwidth of the whole system.")
    read_bandwidth: Rate | None = Field(default=None, description="Read bandwidth of the whole system.")
    upload_bandwidth: Rate | None = Field(default=None, description="Bandwidth to the remote copy.")
    raw_data: Bytes = Field(default=default(0), description="Raw snapshots kept on the file system.")
    processed_copies: CountOrZero = Field(default=default(1), description="Copies of the token shards.")
    async_checkpoint: bool = Field(default=True, description="Whether training goes on while a checkpoint is written.")
    checkpoint_floor: Time = Field(
        default=default(5, "5s"), description="Least time that a save stalls: barriers and metadata."
    )
    keep_full_local: Count = Field(default=default(2), description="Newest full checkpoints kept on the file system.")
    keep_full_every: Tokens | None = Field(default=None, description="Tokens between full checkpoints kept for good.")
    keep_light_every: Tokens | None = Field(
        default=None, description="Tokens between weights-only checkpoints kept for good."
    )
    restore_drill_days: Positive = Field(
        default=default(30), description="Days after which a restore drill is too old."
    )
    last_restore_drill: dt.date | None = Field(default=None, description="Day of the last restore drill.")


class Reliability(Table):
    """How often the job fails and what a failure costs."""

    failures_per_node_day: Ratio = Field(
        default=default(0.0065), description="Job-stopping failures of one node in a day."
    )
    fixed_failures_per_day: Ratio = Field(
        default=default(1), description="Job-stopping failures in a day whatever the size."
    )
    detection_time: Time = Field(default=default(300, "5min"), description="Time from a failure until it is noticed.")
    restart_time: Time = Field(default=default(900, "15min"), description="Time from noticing until training goes on.")
    checkpoint_interval: Interval = Field(default="auto", description="Useful work between two checkpoints, or auto.")
    spare_nodes: CountOrZero = Field(default=default(0), description="Nodes kept ready for replacement.")
    repair_time: Time = Field(default=default(3 * 86400, "3d"), description="Time until a failed node is back.")
    job_time_limit: PositiveTime | None = Field(default=None, description="Longest time that one job may run.")


class EvaluationTask(Table):
    """One evaluation task, an entry of the catalogue."""

    task: Text | None = Field(default=None, description="Task, an entry of the catalogue.")
    shots: CountOrZero | None = Field(default=None, description="Examples in the prompt.")
    items: Count | None = Field(default=None, description="Items of the task.")
    choices: Count | None = Field(default=None, description="Answers scored for each item.")
    context_tokens: Positive | None = Field(default=None, description="Mean prompt length in tokens, shots included.")
    generated_tokens: CountOrZero | None = Field(
        default=None, description="Tokens generated for each item; 0 is scoring only."
    )
    repeats: Count | None = Field(default=None, description="Generations for each item.")


class Evaluation(Table):
    """What is evaluated, how often and where."""

    interval_tokens: Tokens | None = Field(default=None, description="Train tokens between two evaluations.")
    mode: Literal["in-loop", "separate"] = Field(default="separate", description="Whether evaluation stops training.")
    accelerators: Count | None = Field(default=None, description="Accelerators of a separate evaluation.")
    utilization: Utilization = Field(default=default(0.30), description="Model FLOP utilization while scoring.")
    harness_revision: Text | None = Field(default=None, description="Revision of the evaluation harness.")
    tasks: Annotated[tuple[EvaluationTask, ...], Field(strict=False)] = Field(default=(), description="The tasks.")


class Check(Table):
    """One threshold of a pilot rung and what was measured."""

    metric: Text | None = Field(default=None, description="What is measured.")
    pass_if: Annotated[str, Field(pattern=r"^\s*(<=|>=|<|>|=|==)\s*\S+.*$", max_length=200)] | None = Field(
        default=None, description="Comparison that passes, such as <= 0.10."
    )
    measured: float | None = Field(default=None, description="Measured value.", allow_inf_nan=False)
    evidence: Text | None = Field(default=None, description="File that shows it.")


RungName: TypeAlias = Literal["unit", "one-batch", "one-device", "one-node", "few-nodes", "short-scaled", "full"]


class Rung(Table):
    """One rung of the pilot ladder: one of the seven, or one of the team's own that comes `after` one of them."""

    after: RungName | None = Field(default=None, description="Rung that a rung of one's own comes after.")
    rung: Annotated[str, AfterValidator(rung_name)] | None = Field(
        default=None, description="Which of the seven rungs, or a name of one's own where after is given."
    )
    question: Text | None = Field(default=None, description="What a rung of one's own asks.")
    status: Literal["open", "passed", "failed", "waived"] = Field(default="open", description="State of the rung.")
    reason: Text | None = Field(default=None, description="Why it is waived.")
    checks: Annotated[tuple[Check, ...], Field(strict=False)] = Field(
        default=(), description="Its thresholds and measured values."
    )


class EvidenceFile(Table):
    """A file that a sign-off stands on."""

    path: Text | None = Field(default=None, description="Path relative to the plan file.")
    sha256: Sha256 | None = Field(default=None, description="Checksum when it was attached.")


class ReadinessItem(Table):
    """Mirror of the last line about one item in the append-only record."""

    item: (
        Literal[
            "configs",
            "data-manifests",
            "tokenizer",
            "sample-batches",
            "contamination",
            "measured",
            "dashboards",
            "resume",
            "ownership",
            "cost",
        ]
        | None
    ) = Field(default=None, description="Which of the ten items.")
    status: Literal["open", "signed", "waived", "failed"] = Field(default="open", description="State of the item.")
    owner: Text | None = Field(default=None, description="Who answers for it.")
    evidence: Annotated[tuple[EvidenceFile, ...], Field(strict=False)] = Field(
        default=(), description="Files that it stands on."
    )
    signed_by: Text | None = Field(default=None, description="Who signed.")
    author: Text | None = Field(default=None, description="Who made the evidence.")
    signed_at: dt.datetime | None = Field(default=None, description="When it was signed, with an offset.")
    covers: dict[str, Any] | None = Field(
        default=None, description="Plan fields and figures that the sign-off stood on."
    )
    note: Text | None = Field(default=None, description="Note of the signer.")
    waiver_reason: Text | None = Field(default=None, description="Why it is waived.")
    waiver_until: dt.date | None = Field(default=None, description="Day on which the waiver ends.")
