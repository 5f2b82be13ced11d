"""Every finding of the evaluation budget: a plan that brings it, its words and fix, and a plan beside it that does not."""

from __future__ import annotations

from typing import Any

from trainplan.checks import findings
from trainplan.finding import Finding


def one(found: Any, code: str) -> Finding:
    """The only finding of that code."""
    (finding,) = [item for item in findings(found) if item.code == code]
    return finding


def codes(found: Any) -> set[str]:
    return {item.code for item in findings(found)}


def tasks(name: str = "mmlu", interval: str = "10M", **fields: object) -> str:
    rest = "".join(f"{key} = {value}\n" for key, value in fields.items())
    return (
        f'\n[evaluation]\ninterval_tokens = "{interval}"\naccelerators = 8\nharness_revision = "ab12"\n'
        f'[[evaluation.tasks]]\ntask = "{name}"\n{rest}'
    )


def test_a_quiet_plan(varied: Any) -> None:
    assert not {code for code in codes(varied(more=tasks(items=1000, context_tokens=10))) if code.startswith("E")}


def test_e1_evaluation_that_stops_training(varied: Any) -> None:
    stops = varied("evaluation.mode=in-loop", more=tasks())
    finding = one(stops, "E1")
    assert (finding.severity, finding.fix) == ("error", "separate evaluation, or a longer interval")
    few = one(varied("evaluation.mode=in-loop", more=tasks(items=500)), "E1")
    assert few.severity == "warning"
    assert "E1" not in codes(varied("evaluation.mode=in-loop", more=tasks(items=8)))
    assert "E1" not in codes(varied(more=tasks()))


def test_e2_large_share(varied: Any) -> None:
    assert one(varied(more=tasks()), "E2").severity == "info"
    assert "E2" not in codes(varied(more=tasks(items=50)))


def test_e3_first_evaluation_late_or_never(varied: Any) -> None:
    late = one(varied(more=tasks(interval="200M")), "E3")
    assert late.message == "the first evaluation is at 19.1 % of the run"
    assert late.fix == "one within 10.4M tokens"
    assert one(varied(more=tasks(interval="2B")), "E3").message == "the first evaluation is after its end"
    assert "E3" not in codes(varied(more=tasks()))


def test_e4_tasks_that_cannot_show_a_change(varied: Any) -> None:
    finding = one(varied(more=tasks("humaneval")), "E4")
    assert finding.message == "humaneval cannot show a change under 10.8 points; 164 items"
    assert finding.paths == ("evaluation.tasks.humaneval.items",)
    assert "E4" not in codes(varied(more=tasks("gsm8k")))


def test_e6_queue_that_grows(varied: Any) -> None:
    slow = one(varied(more=tasks(items=10_000_000)), "E6")
    assert slow.severity == "error"
    assert "the queue grows for ever" in slow.message
    assert slow.fix.endswith(" accelerators")
    assert "E6" not in codes(varied(more=tasks(items=10)))


def test_e7_harness_revision(varied: Any) -> None:
    without = tasks().replace('harness_revision = "ab12"\n', "")
    assert (
        one(varied(more=without), "E7").message == "harness revision is empty: scores of two dates cannot be compared"
    )
    assert "E7" not in codes(varied(more=tasks()))
    assert "E7" not in codes(varied())


def test_e9_weights_that_do_not_fit_or_are_sharded_anew(varied: Any) -> None:
    big = ("model.hidden_size=65536", "model.num_hidden_layers=80")
    few = one(varied(*big, more=tasks()), "E9")
    assert few.severity == "error"
    assert "do not fit 8 accelerators" in few.message
    again = one(varied("parallelism.tensor=4", "parallelism.pipeline=4", more=tasks()), "E9")
    assert (again.severity, again.message) == (
        "info",
        "training shards weights over 16 ranks, evaluation has 8: they are sharded anew",
    )
    assert "E9" not in codes(varied(more=tasks()))
