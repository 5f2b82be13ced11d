"""The command line: what each command prints, what it refuses, and its exit status."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from trainplan_tui.cli import main

ROOT = Path(__file__).resolve().parents[2]
CONFIG = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}


@pytest.fixture
def plan(tmp_path: Path, example: str) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(example, encoding="utf-8")
    return path


def run(*words: object) -> int:
    return main([str(word) for word in words])


def test_show_json_is_one_object_with_the_promised_fields(plan, capsys) -> None:
    assert run("show", plan, "--json") == 0
    out = json.loads(capsys.readouterr().out)
    assert set(out) >= {"format", "plan", "quantities", "findings"}
    assert out["plan"]["path"] == str(plan)
    assert re.fullmatch(r"[0-9a-f]{64}", out["plan"]["hash"])
    fields = {"value", "unit", "label", "formula", "inputs", "source", "rests_on", "verified"}
    for key, quantity in out["quantities"].items():
        assert fields <= set(quantity), key
        assert quantity["value"] is not None or quantity["blocked_by"], key
    assert out["quantities"]["model.parameters"]["value"] == 8030261248
    assert isinstance(out["quantities"]["tokens.steps"]["value"], int)
    assert out["quantities"]["compute.cost"]["unit"] == "USD"


def test_every_input_is_a_key_a_path_a_catalogue_name_or_a_number(plan, capsys) -> None:
    """A number that comes from nowhere said what it is called, which is neither: `no upload`, `nothing`, its own key."""
    run("show", plan, "--json", "--set", "storage.keep_full_every=0.5T", "--set", "evaluation.mode=in-loop")
    quantities = json.loads(capsys.readouterr().out)["quantities"]
    told = {(key, item) for key, one in quantities.items() for item in one["inputs"].values() if isinstance(item, str)}
    others = {item for key, item in told if item not in quantities or item == key}
    paths = {item for item in others if not item.startswith("catalogue.")}
    assert "data.train_tokens" in paths
    assert [item for item in sorted(paths) if run("explain", plan, item) != 0] == []
    assert not [key for key, item in told if key == item and not key.endswith(".shots")]  # also a field


def test_show_in_columns_and_as_sentences(plan, capsys) -> None:
    assert run("show", plan, "--budget", "compute") == 0
    assert "FLOP per token" in capsys.readouterr().out
    assert run("show", plan, "--budget", "overview", "--plain") == 0
    out = capsys.readouterr().out
    assert "  train tokens = 15.6T tokens; rests on file; data.train_tokens" in out
    assert all(len(line) <= 100 for line in out.splitlines())


def test_show_of_an_unknown_budget_names_the_nearest(plan, capsys) -> None:
    assert run("show", plan, "--budget", "compte") == 2
    assert "nearest: compute" in capsys.readouterr().err


def test_ascii_has_no_other_sign(plan, capsys) -> None:
    assert run("explain", plan, "compute.cost", "--ascii") == 0
    tree = capsys.readouterr().out.split("source:", 1)[1]
    assert not set(tree) & set("─│├└┊━▾█▓▒░")


def test_set_keeps_comments_and_layout(plan, example, capsys) -> None:
    assert run("set", plan, "data.train_tokens=20T", "cluster.nodes=256") == 0
    assert "2 lines changed" in capsys.readouterr().out
    text = plan.read_text(encoding="utf-8")
    assert text == example.replace('"15.6T"', '"20T"', 1).replace("nodes = 128", "nodes = 256")


def test_set_is_one_edit_or_none(plan, example, capsys) -> None:
    assert run("set", plan, "data.train_tokens=20T", "parallelism.tensr=2", "cluster.nodes=-1") == 2
    err = capsys.readouterr().err
    assert "--set:2:1: unknown field parallelism.tensr. Nearest: tensor" in err
    assert plan.read_text(encoding="utf-8") == example


def test_set_places_a_wrong_value_in_its_argument(plan, capsys) -> None:
    assert run("show", plan, "--set", "cluster.nodes=-1") == 2
    assert "--set:1:15: nodes is -1. A whole number from 1" in capsys.readouterr().err


def test_list_entries_go_by_name_and_by_index(plan, capsys) -> None:
    assert run("show", plan, "--json", "--set", "data.sources.math.unique_tokens=1T") == 0
    by_name = json.loads(capsys.readouterr().out)["quantities"]["tokens.sources.math.unique"]["value"]
    assert by_name == 10**12
    assert run("show", plan, "--json", "--set", "data.sources.2.unique_tokens=1T") == 0
    assert json.loads(capsys.readouterr().out)["quantities"]["tokens.sources.math.unique"]["value"] == 10**12


def test_plain_pilot_and_readiness_say_each_check_and_item(plan, capsys) -> None:
    assert run("show", plan, "--budget", "pilot", "--plain") == 0
    out = capsys.readouterr().out
    assert out.startswith("Pilot, ladder")
    assert "unit, check mask_leak, measured -, passes at = 0, state open" in out
    assert run("show", plan, "--budget", "readiness", "--plain") == 0
    out = capsys.readouterr().out
    assert "ownership, state open, asks Who may stop the run" in " ".join(out.split())


def test_explain_goes_down_to_fields_and_sources(plan, capsys) -> None:
    assert run("explain", plan, "compute.cost") == 0
    out = capsys.readouterr().out
    assert "[data.train_tokens] file" in out
    assert "[cluster.price_per_accelerator_hour]" in out
    assert "source: definition" in out
    assert out.count("FLOP per token") <= 2


def test_explain_shows_each_quantity_once(plan, capsys) -> None:
    run("explain", plan, "compute.cost", "--json")
    seen: list[str] = []

    def walk(node: dict) -> None:
        if node["key"] and node["inputs"]:
            seen.append(node["key"])
        for child in node["inputs"]:
            walk(child)

    walk(json.loads(capsys.readouterr().out)["tree"])
    assert len(seen) == len(set(seen)), sorted(key for key in seen if seen.count(key) > 1)


def test_explain_of_an_unknown_key_names_the_nearest(plan, capsys) -> None:
    assert run("explain", plan, "compute.csot") == 2
    assert "Nearest: compute.cost" in capsys.readouterr().err


def test_explain_depth_cuts_the_tree(plan, capsys) -> None:
    run("explain", plan, "compute.cost", "--depth", "1")
    short = capsys.readouterr().out
    run("explain", plan, "compute.cost")
    assert len(short.splitlines()) < len(capsys.readouterr().out.splitlines()) / 4


def test_check_exits_1_with_errors_and_0_without(plan, capsys) -> None:
    assert run("check", plan) == 0
    assert run("check", plan, "--set", "batch.global_batch_sequences=1000") == 1
    assert "G2" in capsys.readouterr().out


def test_an_unusable_file_gives_every_error_with_its_place(tmp_path, capsys) -> None:
    path = tmp_path / "broken.toml"
    path.write_text('format = 1\n[data]\ntrain_tokens = "15.6 trillion"\n[clustr]\nnodes = -3\n', encoding="utf-8")
    assert run("check", path, "--json") == 2
    captured = capsys.readouterr()
    assert f'{path}:3:16: train_tokens is "15.6 trillion"' in captured.err
    assert "nearest: 15.6T" in captured.err
    assert (
        f"{path}:4:2: unknown table clustr. Nearest: cluster" in captured.err
        or f"{path}:4:1: unknown table" in captured.err
    )
    errors = json.loads(captured.out)["errors"]
    assert [set(error) for error in errors] == [{"file", "line", "column", "path", "message", "fix"}] * 2


def test_an_absent_file_is_said(tmp_path, capsys) -> None:
    assert run("show", tmp_path / "absent.toml") == 2
    err = capsys.readouterr().err
    assert "absent.toml" in err
    assert "Traceback" not in err


def test_diff_tells_fields_and_numbers(plan, tmp_path, example, capsys) -> None:
    other = tmp_path / "other.toml"
    other.write_text(example.replace('"15.6T"', '"20T"', 1), encoding="utf-8")
    assert run("diff", plan, other, "--json") == 0
    out = json.loads(capsys.readouterr().out)
    assert out["fields"] == [{"path": "data.train_tokens", "before": "15.6T", "after": "20T"}]
    assert out["quantities"]["compute.cost"]["after"] > out["quantities"]["compute.cost"]["before"]
    assert run("diff", plan, plan) == 0
    assert "nothing differs" in capsys.readouterr().out


def test_new_writes_a_plan_that_opens_and_says_what_is_missing(tmp_path, capsys) -> None:
    path = tmp_path / "new.toml"
    words = ("--model", "llama-3.1-8b", "--accelerator", "h100-sxm", "--nodes", "16", "--tokens", "1T")
    assert run("new", *words, "-o", path) == 0
    assert run("check", path) == 1
    assert "utilization is missing" in capsys.readouterr().out
    assert run("new", *words, "-o", path) == 2
    assert "exists" in capsys.readouterr().err


def test_new_names_the_nearest_model(tmp_path, capsys) -> None:
    assert run("new", "--model", "lama-3.1-8b", "-o", tmp_path / "x.toml") == 2
    assert "Nearest: llama-3.1-8b" in capsys.readouterr().err


def test_import_writes_the_model_in_full(tmp_path, capsys) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps(CONFIG | {"unheard_of": 1}), encoding="utf-8")
    path = tmp_path / "imported.toml"
    assert run("import", config, "-o", path) == 0
    assert "unheard_of" in capsys.readouterr().err
    assert "preset" not in path.read_text(encoding="utf-8")
    run("show", path, "--json")
    assert json.loads(capsys.readouterr().out)["quantities"]["model.parameters"]["value"] == 8030261248


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"hidden_size": 1e999}', "nul"])
def test_import_of_what_is_no_config_is_said(tmp_path, capsys, text: str) -> None:
    config = tmp_path / "config.json"
    config.write_text(text, encoding="utf-8")
    assert run("import", config) == 2
    err = capsys.readouterr().err
    assert err.startswith(str(config))
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("args.yaml", "tensor_model_parallel_size: 8\n", "arguments of Megatron-LM"),
        ("run.yaml", "trainer:\n  num_nodes: 2\nexp_manager:\n  name: x\n", "a NeMo configuration"),
        ("train.py", "from torchtitan.trainer import Trainer\n", "a torchtitan configuration in Python"),
    ],
)
def test_import_names_the_kind_that_it_does_not_read(tmp_path, capsys, name: str, text: str, kind: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert run("import", path) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{path}:1:1: recognised as {kind}")
    assert "trainplan-tui new" in line


def test_catalog_lists_kinds_entries_and_sources(capsys) -> None:
    assert run("catalog") == 0
    assert "models" in capsys.readouterr().out
    assert run("catalog", "models", "llama-3.1-8b") == 0
    assert "verified" in capsys.readouterr().out
    assert run("catalog", "accelerators", "h100") == 2
    assert "Nearest: h100" in capsys.readouterr().err
    assert run("catalog", "--unverified") == 0


def test_schema_is_json_with_properties(capsys) -> None:
    assert run("schema") == 0
    assert "data" in json.loads(capsys.readouterr().out)["properties"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell, capsys) -> None:
    assert run("completion", shell) == 0
    assert "trainplan-tui" in capsys.readouterr().out


def test_without_a_terminal_the_tables_are_printed(plan, capsys) -> None:
    assert run(plan) == 0
    assert "Overview" in capsys.readouterr().out
    assert main([]) == 2


def test_escapes_in_a_plan_never_reach_the_terminal(plan, example, capsys) -> None:
    plan.write_text(
        example.replace('name = "web"', 'name = "w\\u202eb"').replace("web =", '"w\u202eb" ='), encoding="utf-8"
    )
    run("show", plan)
    captured = capsys.readouterr()
    assert "\u202e" not in captured.out + captured.err


def test_explain_of_the_memory_target_says_what_reads_it(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", plan, "memory.target_fraction") == 0
    assert (
        capsys.readouterr().out.splitlines()[-1] == "  moves no figure: finding M1 and the search hold the total to it"
    )
