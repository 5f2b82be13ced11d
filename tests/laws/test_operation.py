"""Relations of storage, reliability and evaluation, those of the robustness notes, part D, by number: 29 to 34."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainplan.estimation import Estimate, estimate
from trainplan.formulas import reliability as f
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Figure

WHOLE = settings(max_examples=30)


def of(**changes: Any) -> Estimate:
    """A whole plan with fields changed by `table__field`."""
    data: dict[str, Any] = {
        "format": 1,
        "model": {
            "num_hidden_layers": 4,
            "hidden_size": 256,
            "intermediate_size": 512,
            "num_attention_heads": 8,
            "vocab_size": 1024,
        },
        "data": {
            "train_tokens": "1P",
            "sequence_length": 512,
            "sampler": "megatron-blended",
            "sources": [{"name": "web", "unique_tokens": "1T", "weight": 1.0}],
        },
        "batch": {"global_batch_sequences": 512},
        "cluster": {"accelerator": "h100-sxm", "nodes": 16, "price_per_accelerator_hour": 2.0},
        "utilization": {"value": 0.4},
        "storage": {"write_bandwidth": "10GB/s", "read_bandwidth": "10GB/s", "capacity": "1PB"},
    }
    for path, value in changes.items():
        table, field = path.split("__")
        data.setdefault(table, {})[field] = value
    return estimate(Plan.model_validate(data))


def number(found: Estimate, key: str) -> float:
    value = found.figure(key)
    assert isinstance(value, Figure), f"{key} is {value!r}"
    return float(value)


sizes = st.sampled_from([1, 2, 4])


@WHOLE
@given(nodes=st.sampled_from([16, 32, 128]), tensor=sizes, pipeline=sizes, context=sizes)
def test_29_checkpoint_does_not_depend_on_the_layout(nodes: int, tensor: int, pipeline: int, context: int) -> None:
    """A vocabulary of 1,024 is padded alike by tensor degrees up to 8."""
    layout = of(
        cluster__nodes=nodes, parallelism__tensor=tensor, parallelism__pipeline=pipeline, parallelism__context=context
    )
    assert number(layout, "storage.checkpoint") == number(of(), "storage.checkpoint")
    assert number(layout, "storage.light_checkpoint") == number(of(), "storage.light_checkpoint")


times = st.floats(1.0, 1e4)


@WHOLE
@given(stall=st.floats(1.0, 60.0), mtbf=st.floats(1e5, 1e7), factor=st.floats(1.1, 100.0))
def test_30_best_interval_grows_with_the_root_of_stall_and_of_mtbf(stall: float, mtbf: float, factor: float) -> None:
    young = f.young_interval(stall, mtbf)
    assert young == pytest.approx(math.sqrt(2 * stall * mtbf), rel=1e-12)
    for other in (f.young_interval(stall * factor, mtbf), f.young_interval(stall, mtbf * factor)):
        assert other == pytest.approx(young * math.sqrt(factor), rel=1e-12)
    assert f.daly_interval(stall, mtbf) < f.daly_interval(stall, mtbf * factor)


def test_30_a_minute_against_a_day() -> None:
    """60 s and 24 h: 3,220 s by Young, and the least of the exact slowdown is near it (robustness notes)."""
    assert round(f.young_interval(60.0, 86400.0), -1) == 3220
    steps = [f.slowdown(float(interval), 60.0, 0.0, 86400.0) for interval in range(1000, 6000)]
    assert steps.index(min(steps)) + 1000 == pytest.approx(f.daly_interval(60.0, 86400.0), abs=2)


@WHOLE
@given(rate=st.floats(1e-4, 0.1), nodes=st.integers(1, 5000), times=st.integers(2, 50))
def test_31_mtbf_of_the_job_is_that_of_a_node_over_the_nodes(rate: float, nodes: int, times: int) -> None:
    kept = {"reliability__failures_per_node_day": rate, "reliability__fixed_failures_per_day": 0}
    one = number(of(**kept, cluster__nodes=nodes), "reliability.mtbf")
    more = number(of(**kept, cluster__nodes=nodes * times), "reliability.mtbf")
    assert one == pytest.approx(86400 / rate / nodes, rel=1e-12)
    assert more == pytest.approx(one / times, rel=1e-12)


@WHOLE
@given(keep=st.integers(1, 50), every=st.sampled_from(["1T", "10T", "33T", "250T"]))
def test_32_storage_is_what_is_kept_and_one_being_written(keep: int, every: str) -> None:
    found = of(storage__keep_full_local=keep, storage__keep_full_every=every)
    size = number(found, "storage.checkpoint")
    kept = 1e15 // float(every[:-1]) // 1e12
    assert number(found, "storage.full_kept") + number(found, "storage.local") == (kept + keep + 1) * size
    rarer = of(storage__keep_full_local=keep, storage__keep_full_every="500T")
    assert number(rarer, "storage.peak") < number(found, "storage.peak")


@WHOLE
@given(bandwidth=st.floats(1e6, 1e12), floor=st.floats(0.0, 100.0), nodes=st.integers(1, 2000))
def test_33_a_save_takes_size_over_bandwidth_and_stalls_less_beside_training(
    bandwidth: float, floor: float, nodes: int
) -> None:
    """An asynchronous stall is the shorter one wherever hosts copy faster than the file system writes."""
    rate = {"storage__write_bandwidth": bandwidth, "storage__checkpoint_floor": floor, "cluster__nodes": nodes}
    now, later = of(**rate, storage__async_checkpoint=False), of(**rate)
    least = number(now, "storage.checkpoint") / bandwidth
    assert number(now, "storage.checkpoint_stall") >= least
    assert number(now, "storage.write_time") == pytest.approx(least, rel=1e-12)
    if nodes * 8 * 25e9 >= bandwidth:
        assert number(later, "storage.checkpoint_stall") <= number(now, "storage.checkpoint_stall")


@WHOLE
@given(items=st.integers(1, 10**6), often=st.sampled_from([1, 2, 5, 10, 50]), times=st.sampled_from([2, 4, 10]))
def test_34_evaluation_is_linear_in_items_and_frequency(items: int, often: int, times: int) -> None:
    def hours(items: int, often: int, copies: int = 1) -> float:
        one = {"task": "mmlu", "items": items, "context_tokens": 1000}
        tasks = [{"task": "mmlu", **one} for _ in range(copies)]
        settings = {"interval_tokens": int(1e15) // often, "accelerators": 8, "tasks": tasks}
        return number(
            of(**{f"evaluation__{key}": value for key, value in settings.items()}), "evaluation.accelerator_hours"
        )

    whole = hours(items, often)
    assert hours(items * times, often) == pytest.approx(whole * times, rel=1e-12)
    assert hours(items, often * times) == pytest.approx(whole * times, rel=1e-12)
    assert hours(items, often, times) == pytest.approx(whole * times, rel=1e-9)


def test_34_scoring_is_a_forward_only() -> None:
    """A third of the trained token's 6N at a prompt of no length: 2 for each parameter that multiplies."""
    task = {"task": "mmlu", "items": 1000, "context_tokens": 1e-6}
    found = of(evaluation__interval_tokens="1P", evaluation__accelerators=1, evaluation__tasks=[task])
    flops = 0.30 * 989e12 * number(found, "evaluation.time_each") / (1000 * (1 + 1e-6))
    assert flops == pytest.approx(2 * number(found, "model.matmul_parameters"), rel=1e-5)
