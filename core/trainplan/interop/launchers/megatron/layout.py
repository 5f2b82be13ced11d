"""How Megatron's arguments split a model and a batch, and which states they shard, in the plan's terms.

NVIDIA/Megatron-LM d98e8a6, training/arguments.py: validate_args; bigscience-workshop/Megatron-DeepSpeed 8387ae1 for
`--checkpoint-activations` and `--pp-partition-method`; microsoft/Megatron-DeepSpeed f4157be for its own sequence parallelism.
"""

from __future__ import annotations

from typing import Final

from trainplan.interop.launchers.megatron.saying import Saying

_STRATEGIES: Final = {"no_shard": "none", "optim": "zero-1", "optim_grads": "zero-2", "optim_grads_params": "zero-3"}
_CONTEXT: Final = {"p2p": "ring", "a2a": "all-to-all", "allgather": "", "a2a+p2p": ""}
_EMBEDDING: Final = "type:transformer|embedding"
_TRANSFORMER: Final = "type:transformer"


_UNEVEN: Final = (
    "num_layers_per_virtual_pipeline_stage",
    "num_virtual_stages_per_pipeline_rank",
    "decoder_first_pipeline_num_layers",
    "decoder_last_pipeline_num_layers",
    "account_for_embedding_in_pipeline_split",
    "account_for_loss_in_pipeline_split",
    "virtual_pipeline_model_parallel_size",
)
"""Options without an effect where there is one stage."""


def layout(s: Saying) -> None:
    """Everything under `parallelism.`."""
    a = s.arguments
    a.used.update(("pp_partition_method", *_UNEVEN))
    tensor = s.count("parallelism.tensor", "tensor_model_parallel_size") or 1
    pipeline = s.count("parallelism.pipeline", "pipeline_model_parallel_size") or 1
    if a.flag("no_pipeline_parallel") and not a.listing:
        s.given("parallelism.pipeline", "no_pipeline_parallel", 1)
        pipeline = 1
    if pipeline > 1:
        _stages(s, pipeline)
    _context(s)
    _experts(s, tensor)
    if tensor > 1:
        s.flag("parallelism.sequence_parallel", "sequence_parallel", "no --sequence-parallel")
    a.used.add("sequence_parallel")
    _sharding(s)
    _recompute(s, pipeline)
    s.count("parallelism.bucket_elements", "ddp_bucket_size")


def _stages(s: Saying, pipeline: int) -> None:
    a, layers = s.arguments, s.telling.value("model.num_hidden_layers")
    each = a.count("num_layers_per_virtual_pipeline_stage")
    chunks = a.count("num_virtual_stages_per_pipeline_rank")
    name = "num_virtual_stages_per_pipeline_rank"
    counted = ("account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split")
    if each and layers and not chunks:
        name = "num_layers_per_virtual_pipeline_stage"
        chunks, rest = divmod(layers + sum(1 for one in counted if a.flag(one)), pipeline * each)
        if rest or not chunks:
            s.problem(
                name,
                f"{a.names[name].words}: {pipeline} stages of chunks of {each} do not divide {layers} layers. "
                "A number that divides the layers of a stage is right",
            )
            return
    if a.listing and not chunks:
        name = "virtual_pipeline_model_parallel_size"
        chunks = a.count(name)
    if chunks and chunks > 1:
        s.given("parallelism.virtual_pipeline", name, chunks)
        s.given("parallelism.schedule", name, "interleaved")
    elif a.flag("enable_zbh1_pipeline"):
        s.given("parallelism.schedule", "enable_zbh1_pipeline", "zb-h1")
    a.used.add("enable_zbh1_pipeline")
    _ends(s, layers, pipeline)


def _ends(s: Saying, layers: int | None, pipeline: int) -> None:
    """Layers of the first and the last stage, where they have fewer or more than the others."""
    a = s.arguments
    first = s.count("parallelism.first_stage_layers", "decoder_first_pipeline_num_layers")
    last = s.count("parallelism.last_stage_layers", "decoder_last_pipeline_num_layers")
    before = 1 if a.flag("account_for_embedding_in_pipeline_split") else 0
    behind = 1 if a.flag("account_for_loss_in_pipeline_split") else 0
    name = "account_for_embedding_in_pipeline_split" if before else "account_for_loss_in_pipeline_split"
    method = a.token("pp_partition_method")
    if method is not None and method.text == _EMBEDDING:
        before, behind, name = 1, 1, "pp_partition_method"
    elif method is not None and method.text != _TRANSFORMER:
        s.note("pp_partition_method", f"{a.names['pp_partition_method'].words} has no field in a plan; left out")
    if first or last or not (before or behind) or layers is None:
        return
    each, rest = divmod(layers + before + behind, pipeline)
    if rest or each < 2:
        s.note(
            name,
            f"{a.names[name].words}: {layers} layers and what counts as one are no two or more "
            f"on each of {pipeline} stages; left out",
        )
        return
    if before:
        s.given("parallelism.first_stage_layers", name, each - 1)
    if behind:
        s.given("parallelism.last_stage_layers", name, each - 1)


def _context(s: Saying) -> None:
    a = s.arguments
    degree = s.count("parallelism.context", "context_parallel_size")
    deep = a.count("ds_sequence_parallel_size")
    if deep and deep > 1:
        s.given("parallelism.context", "ds_sequence_parallel_size", deep)
        s.given("parallelism.context_type", "ds_sequence_parallel_size", "all-to-all")
    token = a.option("cp_comm_type")
    if token is None or not token.values or (degree or 1) == 1:
        return
    words = {one.text.strip("[]'\",") for one in token.values if not one.unknown}
    kinds = {_CONTEXT.get(word) for word in words}
    if None in kinds:
        s.problem("cp_comm_type", f"{token.words}: one of {', '.join(_CONTEXT)} is right")
    elif len(kinds) == 1 and "" not in kinds:
        s.given("parallelism.context_type", "cp_comm_type", kinds.pop())
    elif kinds:
        s.note(
            "cp_comm_type", f"{token.words} is neither ring nor all-to-all alone; parallelism.context_type is left out"
        )


def _experts(s: Saying, tensor: int) -> None:
    """Expert-tensor ranks are as many as tensor ranks where they are not said: validate_args."""
    a = s.arguments
    name = "moe_expert_parallel_size" if a.has("moe_expert_parallel_size") else "expert_model_parallel_size"
    degree = a.count(name)
    own = a.count("expert_tensor_parallel_size")
    if s.telling.value("model.moe.num_experts") is None:
        return
    s.given("parallelism.expert", name, degree)
    if not s.deep:
        s.either(
            "parallelism.expert_tensor", "expert_tensor_parallel_size", tensor, "no --expert-tensor-parallel-size", own
        )
    elif a.flag("enable_expert_tensor_parallelism"):
        s.given("parallelism.expert_tensor", "enable_expert_tensor_parallelism", tensor)


def _sharding(s: Saying) -> None:
    a = s.arguments
    a.used.update(("use_megatron_fsdp", "use_torch_fsdp2", "use_distributed_optimizer"))
    copies = a.count("num_distributed_optimizer_instances")
    strategy = a.word("data_parallel_sharding_strategy", _STRATEGIES)
    outer = a.word("outer_dp_sharding_strategy", ("no_shard", "optim"))
    if s.deep:
        stage = a.count("zero_stage", 0)
        s.given("run.zero_stage", "zero_stage", stage)
        return
    if a.flag("use_megatron_fsdp"):
        name = "data_parallel_sharding_strategy" if strategy else "use_megatron_fsdp"
        sharding = _STRATEGIES[strategy or "optim_grads_params"]
        if copies and copies > 1:
            if sharding == "zero-3" and outer != "optim":
                s.given("run.shard_copies", "num_distributed_optimizer_instances", copies)
                sharding = "hsdp"
            else:
                s.note(
                    "num_distributed_optimizer_instances",
                    f"groups of {sharding} that hold copies have no name in a plan; left out",
                )
        s.given("parallelism.sharding", name, sharding)
    elif a.flag("use_torch_fsdp2"):
        s.given("parallelism.sharding", "use_torch_fsdp2", "zero-3")
        if a.flag("torch_fsdp2_reshard_after_forward", default=True) is False:
            s.given("parallelism.reshard_after_forward", "torch_fsdp2_reshard_after_forward", False)
    elif a.flag("use_megatron_fsdp") is None or a.flag("use_torch_fsdp2") is None:
        return  # it stands under a condition, and neither it nor what goes without it is taken
    elif a.flag("use_distributed_optimizer"):
        s.given("parallelism.sharding", "use_distributed_optimizer", "zero-1")
        if copies and copies > 1:
            s.note(
                "num_distributed_optimizer_instances",
                "groups that shard states among themselves have no name in a plan; left out",
            )
    elif a.flag("use_distributed_optimizer") is False:
        s.taken("parallelism.sharding", "none", "no --use-distributed-optimizer")


def _recompute(s: Saying, pipeline: int) -> None:
    a = s.arguments
    kind = a.word("recompute_granularity", ("full", "selective"))
    name = "recompute_granularity"
    if kind is None and a.flag("recompute_activations"):
        kind, name = "selective", "recompute_activations"
    if kind is None and a.flag("checkpoint_activations"):
        kind, name = "full", "checkpoint_activations"
    if kind is None and a.word("activations_checkpoint_method", ("uniform", "block")):
        kind, name = "full", "activations_checkpoint_method"  # the name of recompute_method until 2022
    a.used.update(("recompute_activations", "checkpoint_activations", "activations_checkpoint_method"))
    s.given("parallelism.recompute", name, kind)
    method, layers = a.word("recompute_method", ("uniform", "block")), a.count("recompute_num_layers")
    depth = s.telling.value("model.num_hidden_layers")
    if kind == "full" and method == "block" and layers and depth and layers * pipeline < depth:
        s.note(
            "recompute_num_layers", f"{layers} layers of a stage are computed again; a plan computes all of them again"
        )
    modules = a.option("recompute_modules")
    words = [one.text.strip("[]'\",") for one in modules.values] if modules is not None else []
    if kind == "selective" and words and words != ["core_attn"]:
        s.note("recompute_modules", f"{', '.join(words)} are computed again; a plan's selective is attention alone")
