"""Every finding of the reliability budget: a plan that brings it, its words and fix, and a plan beside it that does not."""

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


LONG = ("data.train_tokens=10000T", "cluster.nodes=64")


def test_r1_low_goodput(varied: Any) -> None:
    finding = one(varied("reliability.restart_time=3h"), "R1")
    assert (finding.severity, finding.budget) == ("warning", "reliability")
    assert finding.message.startswith("goodput is 8")
    assert finding.paths[0] == "reliability.restart_time"
    assert "R1" not in codes(varied())


def test_r2_interval_away_from_the_best(varied: Any) -> None:
    long, short = (one(varied(f"reliability.checkpoint_interval={text}"), "R2") for text in ("2h", "2min"))
    assert long.message == "checkpoint interval 2.00 h is 7.8 times the best one, 15min 20s".replace("2.00", "2")
    assert short.message == "checkpoint interval 2min is 1/7.7 of the best one, 15min 20s"
    assert (long.severity, long.fix) == ("warning", "15min 20s")
    assert "R2" not in codes(varied("reliability.checkpoint_interval=20min"))


def test_r2_interval_that_cannot_be_held(varied: Any) -> None:
    below = one(varied("storage.write_bandwidth=2kB/s", "reliability.checkpoint_interval=20min"), "R2")
    assert below.severity == "error"
    assert below.message == "checkpoint interval 20min is below the shortest feasible one, 30min 38s"
    above = one(varied("reliability.job_time_limit=10min", "reliability.checkpoint_interval=20min"), "R2")
    assert above.severity == "error"
    assert above.message == "checkpoint interval 20min is above the job's time limit, 10min: nothing is saved"
    assert above.fix == "a longer limit"  # a start alone takes 15min


def test_r2_names_no_interval_that_a_job_does_not_reach(varied: Any) -> None:
    """The best one takes 15min 20s; it was named where a job of 20 minutes trains for four."""
    above = one(varied("reliability.job_time_limit=20min", "reliability.checkpoint_interval=25min"), "R2")
    assert (above.severity, above.fix) == ("error", "4min")
    assert one(varied("reliability.job_time_limit=1h", "reliability.checkpoint_interval=2h"), "R2").fix == "15min 20s"


def test_r2_says_what_holds_the_automatic_interval(varied: Any) -> None:
    upload = one(varied("storage.upload_bandwidth=1kB/s"), "R2")
    assert upload.message == "the interval is held at 1.02 h by the upload; the best is 15min 20s"
    limit = one(varied("reliability.job_time_limit=5min"), "R2")
    assert "by the job's time limit" in limit.message


def test_r3_restart_time_without_the_drill(varied: Any) -> None:
    drill = "storage.last_restore_drill=2026-11-20"
    assert one(varied(drill), "R3").fix == "the drill's own time"
    assert "R3" not in codes(varied(drill, "reliability.restart_time=12min"))
    assert "R3" not in codes(varied())


def test_r4many_jobs(varied: Any) -> None:
    finding = one(varied(*LONG, "reliability.job_time_limit=1d"), "R4")
    assert finding.severity == "info"
    assert "jobs of 24 h" in finding.message
    assert "R4" not in codes(varied("reliability.job_time_limit=1d"))


def test_r4_a_job_that_trains_nothing(varied: Any) -> None:
    finding = one(varied("reliability.job_time_limit=16min"), "R4")
    assert (finding.severity, finding.fix) == ("error", "a limit of 17min and more")
    assert finding.message == "a job of 16min trains nothing: a start takes 15min, the grace at its end 60 s"
    assert "R4" not in codes(varied("reliability.job_time_limit=17min", "data.train_tokens=1M"))


def test_r5_spares(varied: Any) -> None:
    finding = one(varied(*LONG), "R5")
    assert finding.message == "0 spare nodes; 4 cover 99 % of 3 d repairs"
    assert finding.fix == "4 spare nodes, or faster repair"
    assert "R5" not in codes(varied(*LONG, "reliability.spare_nodes=4"))
    assert one(varied(*LONG, "reliability.spare_nodes=3"), "R5").severity == "warning"
    alone = one(varied(*LONG, "reliability.repair_time=1h"), "R5")
    assert alone.message == "0 spare nodes; 1 covers 99 % of 1 h repairs"


def test_r5_is_silent_where_no_node_is_likely_to_fail(varied: Any) -> None:
    assert "R5" not in codes(varied())


def test_r6_failures_within_a_recovery(varied: Any) -> None:
    finding = one(varied("reliability.fixed_failures_per_day=24"), "R6")
    assert finding.message.startswith("a failure every 59min 58s, against 20min 5s")
    assert "R6" not in codes(varied("reliability.fixed_failures_per_day=17"))


def test_r7_stalls_above_the_collective_timeout(varied: Any) -> None:
    stall = ("storage.checkpoint_floor=2min", "reliability.checkpoint_interval=2h")
    finding = one(varied(*stall, "training.framework=torchtitan"), "R7")
    assert (
        "stops training for 2min; the collective timeout is 1min 40s by default".replace("1min 40s", "100 s")
        in finding.message
    )
    assert "R7" not in codes(varied(*stall))
    assert "R7" not in codes(varied(*stall, "training.framework=fsdp"))


def test_r7_evaluation_in_the_loop(varied: Any) -> None:
    tasks = (
        '\n[evaluation]\ninterval_tokens = "1B"\nmode = "in-loop"\n[[evaluation.tasks]]\n'
        'task = "mmlu"\nitems = 1_000_000_000\ncontext_tokens = 10_000\n'
    )
    assert one(varied(more=tasks), "R7").paths == ("evaluation.mode",)
    assert "R7" not in codes(varied(more=tasks.replace("1_000_000_000", "1000")))


def test_r10_nodes_that_fail_together(varied: Any) -> None:
    finding = one(varied("cluster.nodes_per_failure_domain=4", "reliability.spare_nodes=3"), "R10")
    assert (finding.message, finding.fix) == ("4 nodes fail together, and 3 are spare", "4 spare nodes")
    assert "R10" not in codes(varied("cluster.nodes_per_failure_domain=4", "reliability.spare_nodes=4"))


def test_r12_reading_a_checkpoint_takes_longer_than_a_restart(varied: Any) -> None:
    """A bare number is bytes a second: 0.4 of them read a checkpoint for ever, and goodput would count a quarter of an hour."""
    found = varied("storage.read_bandwidth=1kB/s")
    finding, minutes = one(found, "R12"), float(found.checkpoint.restore_time) / 60.0
    assert finding.paths == ("reliability.restart_time", "storage.read_bandwidth")
    told = finding.fix.removeprefix("a restart of ").partition(" ")[0].replace(",", "")
    assert 0.0 <= int(told) - minutes < 1.0
    assert "R12" not in codes(varied("storage.read_bandwidth=1kB/s", f"reliability.restart_time={told}min"))
    assert "R12" not in codes(varied())
    assert one(varied("storage.read_bandwidth=0.4"), "R12").severity == "warning"


def test_r2_names_an_interval_that_holds(varied: Any) -> None:
    """The best one takes 15min 20s, an upload longer: what is named is no error and no backlog."""
    slow = "storage.upload_bandwidth=2kB/s"
    finding = one(varied(slow, "reliability.checkpoint_interval=2h"), "R2")
    assert (
        finding.message
        == "checkpoint interval 2 h is 7.8 times the best one, 15min 20s, from which the upload keeps it"
    )
    assert finding.fix == "30min 38s"
    held = varied(slow, "reliability.checkpoint_interval=30min 38s")
    assert "R2" not in codes(held)
    assert "S3" not in codes(held)


def test_r2_names_no_interval_past_what_a_job_trains(varied: Any) -> None:
    """A job of 20 min trains for 4; one of a minute was told to take the best, 15min 20s, which no job reaches."""
    limited = ("reliability.job_time_limit=20min", "reliability.checkpoint_interval=1min")
    assert one(varied(*limited), "R2").fix == "4min"
