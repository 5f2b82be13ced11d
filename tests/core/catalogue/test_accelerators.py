"""Every accelerator: base units, a source for each value, and no number that contradicts another of the same part."""

from __future__ import annotations

import pytest

from trainplan.catalogue import Entry, entry, names
from trainplan.plan.faults import nearest_name

UNITS = {
    "peak_flops": "FLOP/s",
    "peak_flops_fp8": "FLOP/s",
    "peak_flops_fp4": "FLOP/s",
    "peak_flops_fp32": "FLOP/s",
    "sparse_bf16": "FLOP/s",
    "sparse_fp8": "FLOP/s",
    "measured_matmul_bf16": "FLOP/s",
    "measured_matmul_fp8": "FLOP/s",
    "memory_nominal": "bytes",
    "memory_per_accelerator": "bytes",
    "memory_bandwidth": "bytes/s",
    "scale_up_bandwidth": "bytes/s",
    "scale_up_bidirectional": "bytes/s",
    "scale_up_pair_bandwidth": "bytes/s",
    "scale_out_bandwidth": "bytes/s",
    "host_bandwidth": "bytes/s",
    "scale_up_domain": "1",
    "accelerators_per_node": "1",
    "compute_capability": "1",
    "power": "W",
    "vendor": "1",
    "topology": "1",
    "device_unit": "1",
}
EACH = pytest.mark.parametrize("name", names("accelerators"))


def part(name: str) -> Entry:
    found = entry("accelerators", name)
    assert found is not None
    return found


@EACH
def test_values_are_known_sourced_dated_and_in_base_units(name: str) -> None:
    for key, fact in part(name).facts.items():
        assert fact.unit == UNITS[key], f"{name}.{key} is in {fact.unit}. {UNITS[key]} is right."
        assert fact.source, f"{name}.{key} has no source."
        assert fact.date, f"{name}.{key} has no date."
        assert isinstance(fact.value, str) or fact.value > 0, (
            f"{name}.{key} is {fact.value}. Leave out what is not known."
        )


@EACH
def test_what_every_plan_needs_is_there(name: str) -> None:
    for key in ("peak_flops", "memory_nominal", "memory_per_accelerator", "memory_bandwidth"):
        assert part(name).get(key) is not None


@EACH
def test_numbers_of_one_part_agree(name: str) -> None:
    found = {key: fact.value for key, fact in part(name).facts.items()}
    told = found["memory_nominal"] / 1e9 + (1 if name == "tpu-v5p" else 0)  # 95 in print, 95.74 GiB to XLA
    assert found["memory_per_accelerator"] <= told * 2**30
    assert found.get("measured_matmul_bf16", 0) < found["peak_flops"]
    assert found.get("measured_matmul_fp8", 0) < found.get("peak_flops_fp8", 1)
    assert found.get("peak_flops_fp8", found["peak_flops"]) >= found["peak_flops"]
    if "scale_up_bidirectional" in found:
        assert found["scale_up_bidirectional"] == 2 * found["scale_up_bandwidth"]
    if "sparse_bf16" in found and found["vendor"] != "aws":
        assert found["sparse_bf16"] / found["peak_flops"] == pytest.approx(2, rel=0.03)


def test_dense_and_sparse_headlines_are_not_mixed_up() -> None:
    found = part("h100-sxm")
    assert (found["peak_flops"].value, found["sparse_bf16"].value) == (989e12, 1979e12)
    assert found["memory_per_accelerator"].value == round(79.1 * 2**30)


@pytest.mark.parametrize(
    ("name", "peak", "measured"),
    [("a100-sxm-80", 312e12, 271.2e12), ("h100-sxm", 989e12, 794.5e12), ("mi300x", 1307e12, 668.4e12)],
)
def test_peaks_and_measured_ceilings_as_published(name: str, peak: float, measured: float) -> None:
    found = part(name)
    assert (found["peak_flops"].value, found["measured_matmul_bf16"].value) == (peak, measured)


def test_typical_networks_are_never_shown_as_verified() -> None:
    facts = [part(name).get("scale_out_bandwidth") for name in names("accelerators")]
    assert not any(fact.verified for fact in facts if fact is not None)


@pytest.mark.parametrize(
    ("name", "gibibytes"),
    [("b200-sxm", 178.35), ("gb200-nvl72", 184.31), ("gb300-nvl72", 276.5), ("a100-sxm-40", 39.38), ("tpu-v5e", 15.75)],
)
def test_usable_memory_is_what_a_runtime_reports(name: str, gibibytes: float) -> None:
    """pytorch/ao pull 4002 and out-of-memory messages of public reports: the sizes in print are nearly binary ones."""
    fact = part(name)["memory_per_accelerator"]
    assert fact.value == round(gibibytes * 2**30)
    assert fact.verified


@pytest.mark.parametrize("written", ["a100-80g-sxm", "NVIDIA A100-SXM4-80GB", "a100_sxm_80gb", "A100-80-SXM"])
def test_a_part_named_in_another_order_is_offered(written: str) -> None:
    """The driver's own name of a part, and the words of ours in another order; difflib alone offers an H100."""
    assert nearest_name(written, names("accelerators")) == "a100-sxm-80"


def test_cards_that_reports_of_small_machines_name_are_parts() -> None:
    """llama-cookbook issue 100, axolotl issue 1717 and DeepSpeed issue 4867 run on the first, Megatron-LM issue 495 on the last."""
    assert {"rtx-3090", "a40", "a10g", "t4", "a800-sxm-80"} <= set(names("accelerators"))
    assert part("rtx-3090")["peak_flops"].value < part("rtx-4090")["peak_flops"].value
    assert part("a800-sxm-80")["scale_up_bandwidth"].value < part("a100-sxm-80")["scale_up_bandwidth"].value


@pytest.mark.parametrize(
    ("written", "offered"),
    [("h200", "h200-sxm"), ("a100", "a100-sxm-80"), ("V100", "v100-sxm2-32"), ("gb200", "gb200-nvl72")],
)
def test_the_head_of_a_name_is_met_by_a_name_that_begins_with_it(written: str, offered: str) -> None:
    """By letters alone an `h200` would be an h20, and an `a100` an a10g."""
    assert nearest_name(written, names("accelerators")) == offered
