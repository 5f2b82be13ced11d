"""What commands say in columns: units, cut texts, listings, and all errors at once."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from trainplan_tui.cli import main

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_bytes((ROOT / "plans" / "llama-3.1-8b.toml").read_bytes())
    return path


def run(*words: object) -> int:
    return main([str(word) for word in words])


def test_columns_of_a_difference_do_not_touch(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("diff", plan, plan, "--set", "data.train_tokens=20T") == 0
    out = capsys.readouterr().out
    assert re.search(r"sequences +1\.904B +2\.441B +\+0\.537B ", out)
    assert not re.search(r"\d\+\d", out)


def test_a_field_is_explained(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", plan, "cluster.nodes") == 0
    out = capsys.readouterr().out
    assert out.startswith("cluster.nodes   nodes\n  128 x 8 H100   rests on file\n  Nodes that train.\n")
    assert "compute.cost" in out
    assert re.search(r"memory\.total\b", out)
    assert "60.95  GiB" in out
    assert run("explain", plan, "data.stages.main.until_tokens") == 0
    assert "  14T   rests on file" in capsys.readouterr().out
    assert run("explain", plan, "cluster.memory_per_accelerator") == 0
    assert "  79.10 GiB   rests on catalogue" in capsys.readouterr().out
    assert run("explain", plan, "cluster.nodes", "--json") == 0
    told = json.loads(capsys.readouterr().out)["field"]
    assert told["value"] == "128"
    assert "compute.cost" in told["moves"]


def test_what_is_no_field_and_no_quantity_is_refused(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for key in ("cluster", "cluster.nodez", "compute.cots"):
        assert run("explain", plan, key) == 2
        assert f"no quantity or field {key}" in capsys.readouterr().err
    run("explain", plan, "cluster.nodez")
    assert capsys.readouterr().err.endswith("Nearest: cluster.nodes\n")


def test_the_forecast_is_explained_with_the_currency(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", plan, "forecast.finish.p50") == 0
    assert "finish, P50" in capsys.readouterr().out
    assert run("explain", plan, "compute.cost") == 0
    out = capsys.readouterr().out
    assert "currency" not in out
    assert "(586,835 + 18,339 + 64.607) x 2.5" in out


def test_set_tells_all_errors_at_once(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = plan.read_bytes()
    assert run("set", plan, "data.train_tokens=abc", "nope=1", "cluster.nodes=0", "cluster.gpus_per_node=4") == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[1] for line in lines] == ["1", "2", "3", "4"]
    assert "Known here: schedule, " in lines[1]
    assert lines[1].endswith("readiness")
    assert lines[3].endswith("Nearest: accelerators_per_node")
    assert plan.read_bytes() == before


def test_what_others_call_accelerators_is_known(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("gpus", "ngpus", "num_gpus"):
        assert run("set", plan, f"{name}=8") == 2
        assert "All accelerators are nodes x accelerators_per_node. Nearest: cluster.nodes" in capsys.readouterr().err


def test_new_tells_all_errors_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "new.toml"
    answers = ("--model", "llma", "--accelerator", "h100", "--nodes", "-3", "--tokens", "zz")
    assert run("new", *answers, "-o", output) == 2
    told = capsys.readouterr().err
    assert [word for word in ('"llma"', '"h100"', "--nodes: ", "--tokens: ") if word in told] == [
        '"llma"',
        '"h100"',
        "--nodes: ",
        "--tokens: ",
    ]
    assert not output.exists()


def test_device_memory_has_its_unit(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("show", plan, "--budget", "memory")
    assert re.search(r"device memory +79\.10  GiB", capsys.readouterr().out)
    run("show", plan, "--budget", "memory", "--set", "cluster.memory_per_accelerator=80GiB")
    assert re.search(r"device memory +80GiB +file", capsys.readouterr().out)


def test_a_long_text_is_cut_to_its_column_on_a_terminal_and_whole_as_sentences(
    plan: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    run("show", plan, "--budget", "compute")
    assert re.search(r"^evidence source {11}.{16}… {16}file$", capsys.readouterr().out, re.MULTILINE)
    run("show", plan, "--budget", "compute", "--plain")
    assert "…" not in capsys.readouterr().out


def test_every_row_is_told_in_a_sentence(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("show", plan, "--help-rows")
    out = capsys.readouterr().out
    assert not re.search(r": *$|no such part|cannot be told", out, re.MULTILINE)
    assert "  logits: Logits of the output head" in out


def test_tokens_list_their_stages_and_sources(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("show", plan, "--budget", "tokens")
    out = capsys.readouterr().out
    assert re.search(r"anneal +14T +1\.6T +8,192", out)
    assert re.search(r"math +180B +0\.030 +0\.250 +820B +0\.053 +4\.556", out)


def test_times_of_the_reliability_ledger_are_said_in_minutes(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("show", plan, "--budget", "reliability")
    assert re.search(r"interval in use +11min 23s ", capsys.readouterr().out)


LONG = (
    'name="A plan whose name says at length what the run is for, as names of a lab do"',
    'utilization.source="Llama 3 405B on 16,384 H100, arXiv 2407.21783, at https://arxiv.org/pdf/2407.21783v3, table 4"',
    "data.train_tokens=20T",
)


@pytest.mark.parametrize(
    "words",
    [
        ("show", "PLAN"),
        ("diff", "PLAN", "PLAN"),
        ("check", "PLAN"),
        ("review", "PLAN"),
        ("forecast", "PLAN"),
        ("explain", "PLAN", "utilization.source"),
        ("explain", "PLAN", "memory.usable"),
    ],
)
def test_nothing_is_cut_in_a_pipe(
    words: tuple[str, ...], plan: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe has no width: a program that reads a column reads all of it, whatever COLUMNS says."""
    monkeypatch.setenv("COLUMNS", "40")
    given = [str(plan) if word == "PLAN" else word for word in words]
    run(*given, *(part for edit in LONG for part in ("--set", edit)))
    out = capsys.readouterr().out
    assert out
    assert "…" not in out
    if words[0] in ("show", "diff"):
        assert "at https://arxiv.org/pdf/2407.21783v3, table 4" in out


def test_titles_of_the_catalogue_are_whole(capsys: pytest.CaptureFixture[str]) -> None:
    from trainplan.catalogue import entry, names

    for kind in ("models", "accelerators", "evidence"):
        run("catalog", kind)
        out = capsys.readouterr().out
        for name in names(kind):
            found = entry(kind, name)
            assert found is not None
            assert found.title in out


def test_two_files_of_one_name_are_told_apart(plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other" / "plan.toml"
    other.parent.mkdir()
    other.write_bytes(plan.read_bytes())
    run("diff", plan, other, "--set", "cluster.nodes=64")
    head = capsys.readouterr().out.splitlines()[0]
    assert head.split()[1:] == [str(plan), str(other)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("shwo", "PLAN"), 'no plan file and no command "shwo". Nearest: show'),
        (("cehck", "PLAN", "--json"), 'no plan file and no command "cehck". Nearest: check'),
        (("forecats",), 'no plan file and no command "forecats". Nearest: forecast'),
        (("xyzzy", "PLAN"), 'no plan file and no command "xyzzy". One of show, '),
        (("PLAN", "PLAN"), "one plan opens at a time; trainplan-tui diff PLAN PLAN compares two"),
    ],
)
def test_a_word_that_is_no_command_is_told_as_one(
    plan: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert run(*(plan if word == "PLAN" else word for word in words)) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("words", [("show",), ("show", "--plain"), ("check",), ("diff",), ("explain",)])
def test_tokens_are_written_in_one_way_and_as_people_type_them(
    plan: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """820B, 13.5T: not 820.0B, 820G or 13.50 T tokens. Bytes and FLOP keep G, with their unit behind it."""
    more = {"diff": (plan, "--set", "data.train_tokens=20T"), "explain": ("tokens.sources.math.passes",)}
    run(words[0], plan, *more.get(words[0], ()), *words[1:], *(["--budget", "tokens"] if words[0] == "show" else []))
    out = capsys.readouterr().out
    assert re.search(r"\d[BT]\b", out)
    assert not re.search(r"\d ?G(?: tokens|\b(?!/s| FLOP))|(?<![\d.+-])\d+\.\d*0[BT]\b|\d [BT] tokens", out)


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        ("memory", "  0, weights 15.0, grads <0.1, states 0.1,"),
        ("memory", "  largest microbatch, sequences, plan 1, answer 1"),
        ("parallelism", "  data, operation gradients and weights, sent 48.13 GB,"),
        ("parallelism", "  2, question Does zero-2 fit?, answer YES, numbers 60.9 GiB"),
        ("evaluation", "  gsm8k, items 1,319, shots 5, kind generate,"),
        ("tokens", "  anneal, from 14T, tokens 1.6T, sequence length 8,192"),
        ("compute", "  WARNING C12 utilization 0.400 is above the published runs"),
    ],
)
def test_plain_says_what_the_pane_shows(plan: Path, capsys: pytest.CaptureFixture[str], budget: str, told: str) -> None:
    """product.md: --plain prints what the app's pane shows; its lists and what published runs say were left out."""
    run("show", plan, "--budget", budget, "--plain")
    assert told in capsys.readouterr().out


def test_what_is_found_of_the_model_stands_in_plain_compute(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("show", plan, "--budget", "compute", "--plain", "--set", "model.num_key_value_heads=7")
    assert "ERROR model-groups" in capsys.readouterr().out


def test_the_walk_is_printed_under_parallelism(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """product.md: the decision walk is a view of Parallelism; show had the other two."""
    run("show", plan, "--budget", "parallelism", "--set", "parallelism.sharding=zero-1")
    out = capsys.readouterr().out
    assert "decision walk: sharding = zero-2\n" in out
    assert re.search(r"^  2 +Does zero-2 fit\? +YES +60\.9 GiB against 67\.2 GiB target$", out, re.MULTILINE)


def test_json_of_a_budget_is_of_that_budget(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", plan, "--budget", "evaluation", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["quantities"]["evaluation.tokens"]["unit"] == "tokens"
    assert {key.split(".")[0] for key in told["quantities"]} <= {"evaluation", "storage"}
    assert {one["budget"] for one in told["findings"]} == {"evaluation"}
    run("show", plan, "--budget", "memory", "--json")
    assert "memory.ranks.0.total" in json.loads(capsys.readouterr().out)["quantities"]  # no ledger has a row of it


def test_an_unknown_budget_is_refused_with_json_too(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", plan, "--budget", "memroy", "--json") == 2
    told = json.loads(capsys.readouterr().out)
    assert "nearest: memory" in told["errors"][0]["message"]


def test_a_value_of_the_catalogue_that_an_input_names_is_explained(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--json` names inputs as catalogue.KIND.NAME.FACT, and explain knew none of them; a name may have dots."""
    run("show", plan, "--json")
    quantities = json.loads(capsys.readouterr().out)["quantities"]
    inputs = {str(one) for told in quantities.values() for one in told["inputs"].values()}
    named = sorted(one for one in inputs if one.startswith("catalogue."))
    assert "catalogue.accelerators.h100-sxm.measured_matmul_bf16" in named
    assert [one for one in named if run("explain", plan, one) != 0] == []
    capsys.readouterr()
    assert run("explain", plan, named[0], "--json") == 0
    assert set(json.loads(capsys.readouterr().out)["fact"]) == {"value", "unit", "source", "date", "verified"}
    assert run("explain", plan, "catalogue.models.llama-3.1-8b.num_hidden_layers") == 0
    assert "  32   rests on catalogue" in capsys.readouterr().out
    assert run("explain", plan, "catalogue.models.llama-3.1-8b.depth") == 2
