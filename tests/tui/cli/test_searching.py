"""`search PLAN`: columns, sentences, JSON, orders, refusals, and cluster sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trainplan_tui.cli import main

ROOT = Path(__file__).resolve().parents[3]
SMALL = """format = 1
name = "small"
[schedule]
start = 2026-12-07
deadline = {deadline}
[model]
num_hidden_layers = 8
hidden_size = 1024
intermediate_size = 4096
num_attention_heads = 16
vocab_size = 32000
[data]
train_tokens = "10T"
sequence_length = 4096
sampler = "megatron-blended"
[batch]
global_batch_sequences = 64
[cluster]
accelerator = "h100-sxm"
nodes = 2
accelerators_per_node = 8
price_per_accelerator_hour = 2.5
[parallelism]
tensor = 2
[utilization]
value = 0.4
evidence = "published"
"""


@pytest.fixture
def plan(tmp_path: Path) -> str:
    return written(tmp_path)


def written(folder: Path, text: str = SMALL, deadline: str = "2027-01-15") -> str:
    path = folder / "small.toml"
    path.write_text(text.format(deadline=deadline), encoding="utf-8")
    return str(path)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["search", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_holds_the_contract(capsys: pytest.CaptureFixture[str], plan: str) -> None:
    data = told(capsys, plan, "--top", "3")
    assert sum(data["rejected"].values()) + data["fitting"] == data["considered"]
    assert data["fitting"] <= data["legal"] <= data["considered"]
    assert len(data["layouts"]) == 3
    first = data["layouts"][0]
    assert {"tensor", "pipeline", "context", "sharding", "schedule", "recompute"} <= set(first["parallelism"])
    assert first["batch"]["global_batch_sequences"] == 64
    steps = [one["quantities"]["parallelism.predicted_step_time"] for one in data["layouts"]]
    assert steps == sorted(steps)


def test_a_layout_applied_shows_the_numbers_that_the_search_told(capsys: pytest.CaptureFixture[str], plan: str) -> None:
    first = told(capsys, plan, "--top", "1")["layouts"][0]
    fields = {f"parallelism.{name}": value for name, value in first["parallelism"].items()}
    fields["batch.micro_batch_sequences"] = first["batch"]["micro_batch_sequences"]
    words = [word for path, value in fields.items() for word in ("--set", f"{path}={json.dumps(value)}")]
    assert main(["show", plan, *words, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    for key, value in first["quantities"].items():
        assert shown["quantities"][key]["value"] == value, key
    assert not [item for item in shown["findings"] if item["severity"] == "error" and item["budget"] == "parallelism"]


def test_memory_orders_by_memory_and_the_front_rises(capsys: pytest.CaptureFixture[str], plan: str) -> None:
    data = told(capsys, plan, "--by", "memory", "--top", "20")
    totals = [one["quantities"]["memory.total"] for one in data["layouts"]]
    assert totals == sorted(totals)
    front = [
        (one["quantities"]["parallelism.predicted_step_time"], one["quantities"]["memory.total"])
        for one in data["front"]
    ]
    assert front == sorted(front)
    assert [memory for _, memory in front] == sorted((memory for _, memory in front), reverse=True)
    assert front[-1][1] == totals[0]


def test_columns_mark_the_plan_and_count_what_was_rejected(capsys: pytest.CaptureFixture[str], plan: str) -> None:
    changes = ["--set", "parallelism.tensor=1", "--set", "batch.micro_batch_sequences=4"]
    assert main(["search", plan, "--ascii", "--top", "5", *changes]) == 0
    text = capsys.readouterr().out
    assert text.isascii()
    assert sum(line.lstrip().startswith("=") and "zero-1" in line for line in text.splitlines()) == 1
    assert "global batch kept: 64 sequences" in text
    assert "virtual stages need pipeline > 1" in text
    assert "considered, " in text


def test_the_plan_stands_below_where_it_is_not_among_the_best(capsys: pytest.CaptureFixture[str], plan: str) -> None:
    assert main(["search", plan, "--top", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    places = [line.split()[0] for line in lines[3:6]]
    assert places == ["1", "2", "="]
    data = told(capsys, plan, "--top", "2")
    assert data["plan_layout"]["parallelism"]["tensor"] == 2
    assert data["plan_layout"]["is_plan"]
    assert not any(one["is_plan"] for one in data["layouts"])


def test_a_plan_that_does_not_fit_is_said_to(capsys: pytest.CaptureFixture[str], plan: str) -> None:
    changes = ["--set", "cluster.memory_per_accelerator=6GiB", "--set", "batch.micro_batch_sequences=8"]
    assert main(["search", plan, "--top", "1", *changes]) == 0
    assert "= the plan, which does not fit" in capsys.readouterr().out


def test_plain_says_one_fact_a_line(capsys: pytest.CaptureFixture[str], plan: str) -> None:
    assert main(["search", plan, "--plain", "--top", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("layout ") for line in lines) == 2
    assert sum(line.startswith("not among them, the plan: ") for line in lines) == 1
    assert any(line.startswith("rejected: ") for line in lines)


def test_nothing_fits_and_the_nearest_is_named(capsys: pytest.CaptureFixture[str], plan: str) -> None:
    assert main(["search", plan, "--set", "cluster.memory_per_accelerator=2GiB"]) == 0
    text = capsys.readouterr().out
    assert "legal layouts fit. Nearest: " in text
    assert "GiB OVER" in text


def test_sizes_name_the_fewest_nodes_that_meet_the_deadline(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = told(capsys, written(tmp_path), "--nodes")
    sizes = data["sizes"]
    assert [one["nodes"] for one in sizes] == sorted(one["nodes"] for one in sizes)
    assert {one["in_time"] for one in sizes if one["fields"]} == {False, True}
    assert main(["search", written(tmp_path), "--nodes"]) == 0
    first = next(one["nodes"] for one in sizes if one["in_time"])
    assert f"  {first} nodes: the fewest that meet the deadline, at" in capsys.readouterr().out


def test_an_empty_plan_says_what_is_missing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = told(capsys, written(tmp_path, "format = 1\n"))
    assert data["fitting"] == 0
    assert sum(data["rejected"].values()) == data["considered"]
    assert any("is missing" in reason for reason in data["rejected"])


def test_sizes_name_the_goal_that_the_plan_has(capsys: pytest.CaptureFixture[str], plan: str) -> None:
    assert main(["search", plan, "--nodes", "--plain", "--set", "schedule.budget=1", "--top", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "answer: no size tried meets the deadline and the budget, at the predicted utilization" in lines
    sizes = [line for line in lines if line.startswith("size: ")]
    assert len(sizes) == len(told(capsys, plan, "--nodes")["sizes"])
    assert all("above the budget" in line for line in sizes if "nodes: step " in line)


@pytest.mark.parametrize("missing", ["nodes", "hidden_size", "accelerator"])
def test_a_search_says_what_is_missing_and_so_do_the_sizes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, missing: str
) -> None:
    text = "\n".join(line for line in SMALL.splitlines() if not line.startswith(f"{missing} ="))
    path = written(tmp_path, text)
    assert main(["search", path, "--nodes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert " is missing" in lines[0]
    after = lines[next(i for i, line in enumerate(lines) if "cluster sizes" in line) + 1 :]
    assert after
    assert all(" is missing" in line or " 3 nodes  0 of " in line for line in after), after  # 64 sequences, 24 devices
    sizes = told(capsys, path, "--nodes")["sizes"]
    assert bool(sizes) == (missing != "nodes")
    assert all("is missing" in one["why"] for one in sizes if one["nodes"] != 3)


def test_where_no_layout_is_legal_that_is_said(capsys: pytest.CaptureFixture[str], plan: str) -> None:
    changes = ["--set", "cluster.nodes=7919", "--set", "model.num_attention_heads=7"]
    assert main(["search", plan, "--nodes", *changes]) == 0
    text = capsys.readouterr().out
    assert "layouts are legal" in text.splitlines()[0]
    assert "7,919 nodes  0 of " in text


@pytest.mark.parametrize("nodes", ["0", "-1", "2.5", '"many"', "1000000001"])
def test_nodes_that_are_no_cluster_are_refused(capsys: pytest.CaptureFixture[str], plan: str, nodes: str) -> None:
    assert main(["search", plan, "--nodes", "--set", f"cluster.nodes={nodes}"]) == 2
    assert "nodes is " in capsys.readouterr().err


def test_no_size_is_tried_that_the_plan_format_refuses(capsys: pytest.CaptureFixture[str], plan: str) -> None:
    sizes = told(capsys, plan, "--nodes", "--set", "cluster.nodes=1000000000")["sizes"]
    assert max(one["nodes"] for one in sizes) == 10**9


def test_a_top_out_of_range_is_refused(capsys: pytest.CaptureFixture[str], plan: str) -> None:
    assert main(["search", plan, "--top", "0"]) == 2
    assert "--top is 0" in capsys.readouterr().err


def test_what_only_forks_have_is_left_out_and_let_in(capsys: pytest.CaptureFixture[str], plan: str) -> None:
    reason = "schedules that Megatron-LM's released code has not"
    without, with_forks = told(capsys, plan), told(capsys, plan, "--forks")
    assert without["considered"] == with_forks["considered"]
    assert without["rejected"][reason] > 0
    assert reason not in with_forks["rejected"]
    assert without["legal"] < with_forks["legal"]
    assert main(["search", plan]) == 0
    assert f"{reason}; --forks lets them in" in capsys.readouterr().out


@pytest.mark.parametrize("order", ["time", "cost"])
def test_the_heading_says_that_layouts_above_the_target_come_last(
    plan: str, order: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["search", plan, "--by", order])
    heading = capsys.readouterr().out.splitlines()[0]
    assert heading.endswith("predicted step, those within the memory target first")


def test_on_a_terminal_of_80_columns_no_row_of_the_list_wraps(
    capsys: pytest.CaptureFixture[str], plan: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    main(["search", plan, "--by", "cost"])
    lines = capsys.readouterr().out.splitlines()
    head = next(place for place, line in enumerate(lines) if line.split()[:1] == ["#"])
    assert {"D", "cost", "MFU"} <= set(lines[head].split())
    assert max(len(line) for line in lines[head : head + 6]) <= 80


def test_where_nothing_fits_the_status_is_that_of_a_command_that_ran(
    capsys: pytest.CaptureFixture[str], plan: str
) -> None:
    """Statuses are three; a search without a layout is an answer, and its count says so."""
    found = told(capsys, plan, "--set", "cluster.memory_per_accelerator=1GiB")
    assert found["fitting"] == 0
    assert main(["search", plan, "--set", "cluster.memory_per_accelerator=1GiB"]) == 0
