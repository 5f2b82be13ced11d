"""Nothing that validates can make an estimate raise: every figure is finite or says why not, and every reason has a finding.

Plans are drawn half-made, and whole with absurd values laid over them: one node or a billion, a single token or 1e17.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trainplan.catalogue import names
from trainplan.checks import findings
from trainplan.estimation import Estimate, estimate
from trainplan.labels.names import quantity_label
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Blocked, Choice, Figure, Given
from trainplan.views import asjson
from trainplan.views.explain import tree

TODAY = dt.date(2026, 12, 1)
UNITS = {"1", "bytes", "bytes/s", "s", "h", "FLOP", "FLOP/s", "tokens", "tokens/s", "currency", "J", "text"}
NO_FINDING = {"none"}
"""Codes that say nothing is wrong."""

ABSURD = settings(max_examples=150)
WHOLE: dict[str, Any] = {
    "format": 1,
    "model": {
        "num_hidden_layers": 4,
        "hidden_size": 256,
        "intermediate_size": 512,
        "num_attention_heads": 8,
        "vocab_size": 1024,
    },
    "data": {
        "train_tokens": 2**30,
        "sequence_length": 512,
        "sampler": "megatron-blended",
        "sources": [{"name": "web", "unique_tokens": "1T", "weight": 1.0}],
    },
    "batch": {"global_batch_sequences": 512},
    "cluster": {"accelerator": "h100-sxm", "nodes": 4, "price_per_accelerator_hour": 2.0},
    "utilization": {"value": 0.4},
    "storage": {"write_bandwidth": "10GB/s", "read_bandwidth": "10GB/s"},
}

edges = {
    "count": st.sampled_from([1, 2, 7, 64, 4097, 10_001, 10**9]),
    "some": st.sampled_from([1, 2, 3, 8, 97]),
    "zero": st.sampled_from([0, 1, 10**9]),
    "tokens": st.sampled_from([1, 1000, 10**12, 10**17]),
    "share": st.sampled_from([5e-324, 1e-9, 0.4, 1.0]),
    "weight": st.sampled_from([0, 1e-300, 0.2, 0.5, 1.0, 1e6]),
    "positive": st.sampled_from([5e-324, 1e-9, 1.0, 900.0, 1e9]),
    "rate": st.sampled_from([5e-324, 1.0, "100GB/s", 9e18]),
    "flops": st.sampled_from([5e-324, 1.0, "989T", 9e18]),
    "ratio": st.sampled_from([0, 1e-300, 0.0065, 1e6]),
    "time": st.sampled_from([0, 1e-300, "5min", 1e10]),
    "late": st.sampled_from([1e-300, "5min", 1e10]),
    "flag": st.booleans(),
    "day": st.sampled_from([dt.date(1, 1, 1), dt.date(2026, 12, 1), dt.date(2027, 1, 1), dt.date(9999, 12, 31)]),
}


def fields(**kinds: str | st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Tables with any of these fields, each by the edges of its kind."""
    return st.fixed_dictionaries(
        {}, optional={name: edges[kind] if isinstance(kind, str) else kind for name, kind in kinds.items()}
    )


words = st.lists(st.sampled_from(["full_attention", "sliding_attention", "chunked_attention"]), min_size=1, max_size=5)
models = fields(
    preset=st.sampled_from(sorted(names("models"))[::9]),
    num_hidden_layers="count", hidden_size="count", intermediate_size="count", num_attention_heads="some",
    num_key_value_heads="some", head_dim="count", vocab_size="count", max_position_embeddings="count",
    sliding_window="count", attention_chunk_size="some", embedding_size="count", position_offset="zero",
    tie_word_embeddings="flag", attention_bias="flag", attention_output_bias="flag", attention_sinks="flag",
    mlp_bias="flag", head_bias="flag", qk_norm="flag", qk_norm_bias="flag", parallel_block="flag", post_norms="flag",
    norms_per_block="zero", norm_bias="flag", final_norm="flag", embedding_norm="flag", gated_mlp="flag",
    activation_parameters="zero", attention_gate=st.sampled_from(["element", "head"]),
    qk_norm_scope=st.sampled_from(["head", "projection"]), norm=st.sampled_from(["layernorm", "rmsnorm", "none"]),
    position_embedding=st.sampled_from(["rope", "learned", "alibi", "none"]), layer_types=words,
    mlp_layer_types=st.lists(st.sampled_from(["dense", "sparse"]), min_size=1, max_size=4),
    moe=fields(num_experts="count", num_experts_per_tok="some", moe_intermediate_size="count", num_shared_experts="zero",
               shared_expert_intermediate_size="count", first_k_dense_replace="zero", moe_layer_freq="count",
               router_bias="flag", expert_bias="flag", shared_expert_gate="flag"),
    mla=fields(q_lora_rank="count", kv_lora_rank="count", qk_nope_head_dim="some", qk_rope_head_dim="some", v_head_dim="some"),
    mtp=fields(num_nextn_predict_layers="some"),
)  # fmt: skip
sources = st.lists(
    fields(
        unique_tokens="tokens",
        weight="weight",
        mean_document_tokens="positive",
        documents="count",
        max_passes="positive",
    ),
    max_size=3,
).map(lambda found: [{"name": f"s{i}"} | one for i, one in enumerate(found)])
stages = st.lists(
    fields(until_tokens="tokens", sequence_length="count", global_batch_sequences="count",
           weights=st.just({})),
    max_size=3,
).map(lambda found: [{"name": f"t{i}"} | one for i, one in enumerate(found)])  # fmt: skip
absurd = st.fixed_dictionaries(
    {"format": st.just(1)},
    optional={
        "schedule": fields(start="day", deadline="day", budget="zero", planned_downtime="time", queue_gap="time"),
        "model": models,
        "data": fields(
            train_tokens="tokens", sequence_length="count", document_mask="flag", bytes_per_token="positive",
            max_passes="positive", sources=sources, stages=stages,
            sampler=st.sampled_from(["megatron-blended", "megatron-exhaustive", "olmo-core", "mosaic-streaming", "levanter",
                                     "hf-interleave", "torchdata-weighted", "webdataset", "torchtitan", "nanoset"]),
            packing=st.sampled_from(["concat", "best-fit", "pad"]),
        ),
        "batch": fields(
            global_batch_sequences="count", micro_batch_sequences="some",
            schedule=st.lists(fields(from_tokens="zero", global_batch_sequences="count"), max_size=2),
        ),
        "training": fields(
            framework=st.sampled_from(["megatron", "deepspeed", "torchtitan", "fsdp", "maxtext"]),
            precision=st.sampled_from(["fp32", "bf16-mixed", "bf16-pure", "fp16-mixed", "fp8-mixed"]),
            optimizer=st.sampled_from(["adamw", "adamw-8bit", "muon", "adafactor", "lion", "sgd-momentum"]),
            moment_dtype=st.sampled_from(["fp32", "bf16"]),
        ),
        "cluster": fields(
            accelerator=st.sampled_from(names("accelerators")), nodes="count", accelerators_per_node="some",
            price_per_accelerator_hour="zero", peak_flops="flops", pue=st.sampled_from([1.0, 1e6]),
        ),
        "parallelism": fields(
            tensor="some", pipeline="some", context="count", expert="count",
            recompute=st.sampled_from(["none", "selective", "full"]),
        ),
        "utilization": fields(
            value="share", low="share", high="share", date="day",
            convention=st.sampled_from(["6n", "causal", "full", "hardware"]),
            evidence=st.sampled_from(["measured-here", "published", "assumed"]), source=st.just("on A100 and H100"),
        ),
        "storage": fields(
            write_bandwidth="rate", read_bandwidth="rate", upload_bandwidth="rate", async_checkpoint="flag",
            checkpoint_floor="time",
        ),
        "reliability": fields(
            failures_per_node_day="ratio", fixed_failures_per_day="ratio", detection_time="time", restart_time="time",
            checkpoint_interval="late", job_time_limit="late", spare_nodes="zero", repair_time="time",
        ),
    },
)  # fmt: skip


def completed(data: dict[str, Any]) -> dict[str, Any]:
    """What is drawn laid over a whole plan, so that the formulas behind a missing field are reached too."""
    whole = dict(WHOLE)
    for table, drawn in data.items():
        if isinstance(drawn, dict) and isinstance(whole.get(table), dict):
            whole[table] = whole[table] | {key: value for key, value in drawn.items() if value != []}
        else:
            whole[table] = drawn
    return whole


@ABSURD
@given(data=absurd)
def test_half_made_plan_is_estimated_and_checked(data: dict[str, Any]) -> None:
    holds(data)


@ABSURD
@given(data=absurd.map(completed))
def test_absurd_plan_is_estimated_and_checked(data: dict[str, Any]) -> None:
    holds(data)


def holds(data: dict[str, Any]) -> None:
    found = estimate(Plan.model_validate(data), TODAY)
    for key, value in found.quantities.items():
        is_closed(key, value)
    keys = found.all_keys_of
    for key, value in found.all_quantities.items():
        if isinstance(value, Figure):
            open_inputs = [
                name
                for name, item in value.named_inputs()
                if not isinstance(item.origin, Given) and id(item) not in keys
            ]
            assert not open_inputs, f"{key} has inputs without a key: {open_inputs}"
    said_about(found)
    written = {key: asjson.quantity(key, value, found) for key, value in found.quantities.items()}
    json.dumps(written, allow_nan=False)
    for key in ("compute.cost", "compute.required_accelerators", "storage.checkpoint_stall"):
        tree(found, key)


def is_closed(key: str, value: object) -> None:
    assert isinstance(value, Figure | Blocked | Choice), f"{key} is {value!r}"
    assert quantity_label(key), f"{key} has no label"
    if isinstance(value, Figure):
        assert math.isfinite(value), f"{key} is {float(value)}"
    if not isinstance(value, Choice):
        assert value.unit in UNITS, f"{key} has the unit {value.unit}"
    if isinstance(value, Blocked):
        assert value.code, f"{key} is blocked without a code"


def said_about(found: Estimate) -> None:
    """Findings are sentences about this plan, and every code that blocks has one."""
    said = findings(found)
    for finding in said:
        assert finding.severity in ("error", "warning", "info")
        assert not re.search(r"\b(nan|inf|None)\b", finding.message + finding.fix), finding
        assert finding.message
        assert finding.paths
    blocking = {value.code for value in found.quantities.values() if isinstance(value, Blocked)} - NO_FINDING
    unsaid = blocking - {finding.code for finding in said}
    assert not unsaid, f"blocked without a finding: {unsaid}"
