"""Every finding of the compute budget: a plan that brings it, its words and fix, and a plan beside it that does not."""

from __future__ import annotations

import datetime as dt
import math
import re
from typing import Any

import pytest

from trainplan.checks import findings
from trainplan.finding import Finding


def one(found: Any, code: str) -> Finding:
    """The only finding of that code."""
    (finding,) = [item for item in findings(found) if item.code == code]
    return finding


def codes(found: Any) -> set[str]:
    return {item.code for item in findings(found)}


def test_small_plan_has_nothing_to_say(varied: Any) -> None:
    assert codes(varied()) <= {"C12", "C16"}


def test_c1_sparse_peak(varied: Any) -> None:
    finding = one(varied("cluster.peak_flops=1979T"), "C1")
    assert finding.severity == "error"
    assert "sparse bf16 figure of h100-sxm" in finding.message
    assert finding.fix == "dense: 989.0 TFLOP/s"
    assert finding.paths == ("cluster.peak_flops",)
    assert "C1" in codes(varied("cluster.peak_flops=3958T"))


def test_c1_dense_peak_of_fp8_is_no_sparse_peak(varied: Any) -> None:
    assert "C1" not in codes(varied("cluster.peak_flops=1979T", "training.precision=fp8-mixed"))
    assert "C1" not in codes(varied("cluster.peak_flops=989T"))


def test_c2_above_the_best_measured_product(varied: Any) -> None:
    finding = one(varied("utilization.value=0.80"), "C2")
    assert (finding.severity, finding.fix, finding.paths) == ("error", "at most 0.794", ("utilization.value",))
    assert "C2" not in codes(varied("utilization.value=0.79"))


def test_c10_near_the_best_measured_product(varied: Any) -> None:
    finding = one(varied("utilization.value=0.76"), "C10")
    assert (finding.severity, finding.fix) == ("warning", "measure the slowest rank")
    assert "C10" not in codes(varied("utilization.value=0.75"))
    assert "C10" not in codes(varied("utilization.value=0.80"))


def test_c3_outside_the_published_range(varied: Any) -> None:
    high, low = one(varied("utilization.value=0.61"), "C3"), one(varied("utilization.value=0.19"), "C3")
    assert (high.severity, high.fix) == ("warning", "0.40 is usual")
    assert (low.severity, low.fix) == ("info", "look at the layout first")
    assert "C3" not in codes(varied("utilization.value=0.60"))
    assert "C3" not in codes(varied("utilization.value=0.20"))
    assert "C3" not in codes(varied("utilization.value=0.61", "utilization.convention=full"))


def test_c4_old_and_future_evidence(varied: Any) -> None:
    old = one(varied("utilization.date=2026-06-03"), "C4")
    assert "181 days old" in old.message
    assert (old.severity, old.fix) == ("warning", "measure again")
    assert "C4" not in codes(varied("utilization.date=2026-06-04"))
    future = one(varied("utilization.date=2026-12-02"), "C4")
    assert future.message == "the evidence of utilization is dated 2026-12-02, after today: not done yet"
    assert future.fix == "the day on which it was done"
    assert "C4" not in codes(varied("utilization.date=2020-01-01", today=None))
    assert "C4" not in codes(varied("utilization.date=2020-01-01", "utilization.evidence=assumed"))


def test_c4_asks_the_day_that_it_is_given(varied: Any) -> None:
    assert "C4" in codes(varied(today=dt.date(2027, 12, 1)))


def test_c5_fp8_on_a_part_without_it(varied: Any) -> None:
    finding = one(varied("training.precision=fp8-mixed", "cluster.accelerator=a100-sxm-80"), "C5")
    assert (finding.severity, finding.fix, finding.paths) == (
        "error",
        'precision = "bf16-mixed"',
        ("training.precision",),
    )
    assert "C5" not in codes(varied("training.precision=fp8-mixed"))


def test_c6_fp8_that_is_no_faster(varied: Any) -> None:
    finding = one(
        varied("training.precision=fp8-mixed", "cluster.accelerator=tpu-v6e", left_out=("utilization.source",)), "C6"
    )
    assert (finding.severity, finding.fix) == ("warning", 'precision = "bf16-mixed"')
    assert finding.message == "fp8 runs no faster than bf16 on tpu-v6e"


def test_c6_evidence_from_another_part(varied: Any) -> None:
    finding = one(varied("cluster.accelerator=b200-sxm"), "C6")
    assert finding.message == "the evidence of utilization is from H100, and the plan runs on b200-sxm"
    assert finding.paths == ("utilization.source",)
    assert "C6" not in codes(varied())
    assert "C6" not in codes(varied("utilization.source=a run of ours", "cluster.accelerator=b200-sxm"))


@pytest.mark.parametrize(
    ("source", "part", "fix"),
    [
        (
            "a run on H100",
            "h200-sxm",
            "measure on this part; utilization should not fall: its peak is x 1.00 and its memory bandwidth x 1.43 of H100's",
        ),
        (
            "a run on A100",
            "h100-sxm",
            "a lower utilization until it is measured: its peak is x 3.17 and its memory bandwidth x 1.68 of A100's",
        ),
        (
            "a run on H100",
            "h800-sxm",
            "measure on this part; utilization may hold: its peak is x 1.00 and its memory bandwidth x 1.00 of H100's",
        ),
        ("runs on H100 and A100", "h200-sxm", "measure on this part"),
    ],
)
def test_c6_says_what_becomes_of_utilization_on_that_part(varied: Any, source: str, part: str, fix: str) -> None:
    found = varied(f"utilization.source={source}", f"cluster.accelerator={part}", left_out=("cluster.peak_flops",))
    assert [item.fix for item in findings(found) if item.code == "C6"] == [fix]


@pytest.mark.parametrize("field", ["source", "date"])
def test_c7_measurement_that_does_not_say_what_or_when(varied: Any, field: str) -> None:
    finding = one(varied(left_out=(f"utilization.{field}",)), "C7")
    assert finding.message == f"utilization is published, without {field}: steps, scale and age are unknown"
    assert (finding.severity, finding.fix) == ("warning", f"give utilization.{field}")


def test_c7_says_nothing_of_an_assumption(varied: Any) -> None:
    assert "C7" not in codes(varied("utilization.evidence=assumed", left_out=("utilization.date",)))


def test_c8_deadline_above_the_evidence(varied: Any) -> None:
    late = ("data.train_tokens=300T", "schedule.deadline=2026-12-08")
    finding = one(varied(*late), "C8")
    assert finding.severity == "error"
    assert "and the evidence shows 0.400" in finding.message
    assert finding.paths == ("schedule.deadline", "cluster.nodes")
    assert "C8" not in codes(varied("data.train_tokens=300T", "schedule.deadline=2026-12-28"))


def test_c8_message_says_the_accelerators_that_would_do(varied: Any) -> None:
    late = ("data.train_tokens=300T", "schedule.deadline=2026-12-08")
    need = int(varied(*late).figure("compute.required_accelerators"))
    assert f"{need:,} accelerators would meet it" in one(varied(*late), "C8").message
    assert "C8" not in codes(varied(*late, f"cluster.nodes={need // 8}", "reliability.failures_per_node_day=0"))


def test_c8_the_range_is_evidence_too(varied: Any) -> None:
    late = ("data.train_tokens=300T", "schedule.deadline=2026-12-08")
    need = float(varied(*late).figure("compute.required_utilization"))
    held = (f"utilization.low={need / 2}", f"utilization.high={need:.6f}", f"utilization.value={need * 0.999}")
    assert 0.4 < need < 0.999
    within = varied(*late, f"utilization.high={min(1.0, need + 1e-6)!r}", "utilization.low=0.3", *held[2:])
    assert one(within, "C8").severity == "warning", "the range reaches it, and few histories do"


def test_c8_no_time_left(varied: Any) -> None:
    finding = one(varied("schedule.deadline=2026-12-07"), "C8")
    assert finding.message == "no time is left before the deadline"
    days = math.ceil(float(varied("schedule.deadline=2026-12-07").figure("compute.wall_time")) / 86_400)
    assert finding.fix.startswith(f"deadline = {dt.date(2026, 12, 7) + dt.timedelta(days=days)}")


def test_c8_names_nodes_that_the_batch_divides_over_and_a_day_and_both_hold(varied: Any) -> None:
    late = ("data.train_tokens=300T", "schedule.deadline=2026-12-08")
    need = math.ceil(float(varied(*late).figure("compute.required_accelerators")) / 8)
    fix = one(varied(*late), "C8").fix
    nodes, day = re.search(r"([\d,]+) nodes", fix), re.search(r"deadline = ([\d-]+)", fix)
    assert day, fix
    assert not {"C8", "G2"} & codes(varied(*late, f"schedule.deadline={day[1]}"))
    assert nodes, fix
    assert need <= int(nodes[1].replace(",", "")) <= 2 * need
    assert not {"C8", "G2"} & codes(varied(*late, f"cluster.nodes={nodes[1].replace(',', '')}"))


def test_c8_of_a_plan_past_all_sense_is_told_at_once_and_names_no_day_after_the_last(varied: Any) -> None:
    assert "nodes" in one(varied("data.train_tokens=1e17", "schedule.deadline=2026-12-20"), "C8").fix
    last = ("schedule.start=9999-12-30", "schedule.deadline=9999-12-31", "data.train_tokens=300T")
    assert "deadline =" not in one(varied(*last), "C8").fix


def test_c11_counts_of_a_mixture_of_experts(varied: Any) -> None:
    experts = "\n[model.moe]\nnum_experts = 8\nnum_experts_per_tok = 2\nmoe_intermediate_size = 256\n"
    finding = one(varied(more=experts), "C11")
    assert finding.severity == "info"
    assert "active parameters" in finding.message
    assert "C11" not in codes(varied())


def test_c13_a_range_has_both_ends_and_holds_the_value(varied: Any) -> None:
    half = one(varied("utilization.low=0.3"), "C13")
    assert (half.severity, half.paths) == ("error", ("utilization.high",))
    assert half.fix == "give utilization.high"
    outside = one(varied("utilization.low=0.41", "utilization.high=0.5"), "C13")
    assert outside.message == "utilization 0.400 is outside its range 0.410 to 0.500"
    assert "C13" not in codes(varied("utilization.low=0.40", "utilization.high=0.40"))


def test_c14_over_budget(varied: Any) -> None:
    finding = one(varied("data.train_tokens=300T", "schedule.budget=100"), "C14")
    cost = varied("data.train_tokens=300T").figure("compute.cost")
    assert finding.message.startswith(f"the run costs {cost:,.0f} USD")
    least = float(finding.fix.split()[3].replace(",", ""))
    assert cost < least < 1.2 * cost
    assert finding.fix.endswith("USD at least, which nine of ten histories keep, fewer tokens or a faster layout")
    assert "C14" not in codes(varied("data.train_tokens=300T", "schedule.budget=1M"))
    assert "C14" not in codes(varied("schedule.budget=1", left_out=("cluster.price_per_accelerator_hour",)))


def test_c15_assumed(varied: Any) -> None:
    finding = one(varied("utilization.evidence=assumed"), "C15")
    assert (finding.severity, finding.paths) == ("warning", ("utilization.evidence",))
    assert "C15" not in codes(varied())
    assert "C15" not in codes(varied("utilization.evidence=assumed", left_out=("utilization.value",)))


@pytest.mark.parametrize(
    ("part", "peak", "severity", "said"),
    [
        ("rtx-4090", "989T", "error", "5.99 times the dense bf16 peak of rtx-4090: it is that of"),
        ("h100-sxm", "312T", "warning", "it is that of a100-"),
        ("a100-sxm-80", "156T", "warning", "halved again as if it were the sparse figure"),
        ("mi250x-gcd", "383T", "error", "2 times the dense bf16 peak of mi250x-gcd: it is that of mi250x"),
    ],
)
def test_c17_a_peak_of_another_part(varied: Any, part: str, peak: str, severity: str, said: str) -> None:
    """karpathy/autoresearch issue 5, nanoGPT pull 464, OLMo-core pull 614; a package's peak for one of its two dies."""
    finding = one(varied(f"cluster.accelerator={part}", f"cluster.peak_flops={peak}"), "C17")
    assert finding.severity == severity
    assert said in finding.message
    assert "or leave it out" in finding.fix


@pytest.mark.parametrize("peak", ["989.5T", "1000T", "800T"])
def test_c17_leaves_a_rounded_or_a_measured_peak_alone(varied: Any, peak: str) -> None:
    assert "C17" not in codes(varied(f"cluster.peak_flops={peak}"))


def test_c1_of_an_fp8_run_names_the_fp8_peak(varied: Any) -> None:
    finding = one(varied("cluster.peak_flops=3958T", "training.precision=fp8-mixed"), "C1")
    assert finding.fix == "dense: 1.979 PFLOP/s"


def test_c8_names_nodes_that_the_batches_of_all_stages_divide_over(varied: Any) -> None:
    """On the last stage's 1,024 sequences 64 accelerators would do; the first one's 24 divide over 8 or 24 of them alone."""
    stages = '\n[[data.stages]]\nname = "warm"\nuntil_tokens = "1T"\nglobal_batch_sequences = 24\n[[data.stages]]\nname = "main"\n'
    late = ("data.train_tokens=3000T", "schedule.deadline=2026-12-08")
    assert "does not divide" not in one(varied(*late), "C8").fix
    fix = one(varied(*late, more=stages), "C8").fix
    assert "nodes, over which the batch does not divide" in fix
