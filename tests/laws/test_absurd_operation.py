"""Absurd numbers of storage, reliability and evaluation: forecast, curves and findings answer, or say why not; none raises."""

from __future__ import annotations

import datetime as dt
import math
import re
import warnings
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trainplan.catalogue import names
from trainplan.checks import findings
from trainplan.estimation import estimate
from trainplan.forecast.finish import forecast
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Blocked, Figure
from trainplan.views.overhead import overhead_curve, published_rates
from trainplan.views.space import space_curve

ABSURD = settings(max_examples=120)

sizes = st.sampled_from([1, "1kB/s", "100GB/s", 9e18])
rates = st.sampled_from([0, 1e-300, 0.0065, 3.0, 1e6])
waits = st.sampled_from([0, 1e-300, "5min", "3d", 1e10])
late = st.sampled_from([1e-300, "1s", "5min", "2d", 1e10])
counts = st.sampled_from([1, 2, 97, 10**9])
zeros = st.sampled_from([0, 1, 16, 10**9])
tokens = st.sampled_from([1, 10**6, 10**12, 10**17])
task = st.fixed_dictionaries(
    {"task": st.sampled_from(names("tasks"))},
    optional={"shots": zeros, "items": counts, "choices": counts, "context_tokens": st.sampled_from([5e-324, 1.0, 1e9]),
              "generated_tokens": zeros, "repeats": counts},
)  # fmt: skip
tables = st.fixed_dictionaries(
    {},
    optional={
        "schedule": st.fixed_dictionaries({}, optional={"deadline": st.sampled_from([dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
                    "budget": zeros, "planned_downtime": waits, "queue_gap": waits}),
        "storage": st.fixed_dictionaries({}, optional={"capacity": st.sampled_from([1, "1PB", 9e18]), "upload_bandwidth": sizes,
                    "write_bandwidth": st.sampled_from([1, "100GB/s", 9e18]), "raw_data": st.sampled_from([0, 9e18]),
                    "processed_copies": zeros, "async_checkpoint": st.booleans(), "checkpoint_floor": waits,
                    "keep_full_local": counts, "keep_full_every": tokens, "keep_light_every": tokens,
                    "last_restore_drill": st.sampled_from([dt.date(1, 1, 1), dt.date(9999, 12, 31)])}),
        "reliability": st.fixed_dictionaries({}, optional={"failures_per_node_day": rates, "fixed_failures_per_day": rates,
                    "detection_time": waits, "restart_time": waits, "checkpoint_interval": late, "spare_nodes": zeros,
                    "repair_time": waits, "job_time_limit": late}),
        "evaluation": st.fixed_dictionaries({}, optional={"interval_tokens": tokens,
                    "mode": st.sampled_from(["in-loop", "separate"]), "accelerators": counts,
                    "utilization": st.sampled_from([5e-324, 0.3, 1.0]),
                    "tasks": st.lists(task, max_size=3)}),
    },
)  # fmt: skip


def whole(changes: dict[str, dict[str, Any]]) -> Plan:
    """A whole plan with tables changed."""
    data: dict[str, Any] = {
        "format": 1,
        "schedule": {"start": dt.date(2026, 12, 7)},
        "model": {"preset": "llama-3.1-8b"},
        "data": {
            "train_tokens": "15.6T",
            "sequence_length": 8192,
            "sampler": "megatron-blended",
            "sources": [{"name": "web", "unique_tokens": "15T", "weight": 1.0}],
        },
        "batch": {"global_batch_sequences": 1024},
        "cluster": {"accelerator": "h100-sxm", "nodes": 128, "price_per_accelerator_hour": 2.5},
        "utilization": {"value": 0.4},
        "storage": {"write_bandwidth": "10GB/s", "read_bandwidth": "10GB/s"},
    }
    for table, fields in changes.items():
        data[table] = {**data.get(table, {}), **fields}
    return Plan.model_validate(data)


@ABSURD
@given(changes=tables)
def test_absurd_operation_is_forecast_drawn_and_checked(changes: dict[str, dict[str, Any]]) -> None:
    found = estimate(whole(changes), dt.date(2026, 12, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = forecast(found, 200)
        overhead_curve(found)
        published_rates(found)
        space_curve(found)
    for key, value in told.quantities.items():
        assert isinstance(value, Blocked) or math.isfinite(value), key
    said = findings(found)
    for item in said:
        assert not re.search(r"\b(nan|inf|None)\b", item.message + item.fix), item
    codes = {value.code for value in told.quantities.values() if isinstance(value, Blocked)} - {"none"}
    assert codes <= {item.code for item in said}
    finish = told.quantities["forecast.finish.p50"]
    assert isinstance(finish, Blocked) or isinstance(found.money.wall_time, Figure)
