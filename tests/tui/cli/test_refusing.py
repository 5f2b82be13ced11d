"""Every word of the command line that is no choice is refused with what was found, what would be right, and the nearest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainplan_tui.cli import main

ROOT = Path(__file__).resolve().parents[3]
PLAN = ROOT / "plans" / "llama-3.1-8b.toml"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "core"), str(ROOT / "tui")))}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "export P --to slrum",
            '--to is "slrum". One of slurm, megatron, torchtitan, torchtitan-toml, deepspeed; nearest: slurm',
        ),
        ("export P --to slurm --rung one-nod", "nearest: one-node"),
        ("export P --to", "--to has no value after it"),
        ("export P", "--to is missing\nusage: trainplan-tui export"),
        ("search P --by tim", "nearest: time"),
        ("search P --top x", '--top is "x". A whole number such as 10 is right'),
        ("search P --top inf", '--top is "inf". A whole number'),
        ("completion bsh", 'shell is "bsh". One of bash, zsh, fish; nearest: bash'),
        ("show P --jsn", "trainplan-tui show: no option --jsn. Nearest: --json"),
        ("show P --json=3", "--json takes no value"),
        ("show P --budget memry", "nearest: memory"),
        ("catalog models --unverifid", "trainplan-tui catalog: no option --unverifid. Nearest: --unverified"),
        ("diff P P P", "is one word too many"),
        ("--theme drk P", "nearest: dark"),
        ("--ascci P", "Nearest: --ascii"),
        ("explain P compute.cost --depth -1", "--depth is -1. 0 or more is right"),
        ("set P =3", "no field before '='"),
        ("compare P P", "Nearest: diff"),
        ("layouts P", "Nearest: search"),
        ("sign P", "a person signs in the app"),
    ],
)
def test_a_slip_names_what_would_be_right(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = main([str(PLAN) if word == "P" else word for word in words.split()])
    except SystemExit as ended:
        status = ended.code
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert said in err
    assert "invalid" not in err


@pytest.mark.parametrize("words", [["--top", "0"], ["--set", "data.train_token=3"]])
def test_what_is_refused_is_told_in_json_too(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", str(PLAN), "--json", *words]) == 2
    out, err = capsys.readouterr()
    (error,) = json.loads(out)["errors"]
    assert set(error) == {"file", "line", "column", "path", "message", "fix"}
    assert error["message"] in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", [["show", str(PLAN), "--json"], ["catalog", "models"], ["completion", "bash"]])
def test_an_output_that_cannot_be_written_is_told_in_a_line(words: list[str]) -> None:
    code = "import sys; from trainplan_tui.cli import main; sys.exit(main())"
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-c", code, *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=ENVIRONMENT,
        )
    assert (ended.returncode, ended.stderr) == (2, "stdout: not written: no space left on device\n")


@pytest.mark.parametrize("command", ["calibrate", "sources"])
def test_a_file_that_is_not_there_names_the_nearest(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.log").write_text("", encoding="utf-8")
    assert main([command, str(PLAN), str(tmp_path / "trian.log")]) == 2
    assert "trian.log: the file does not exist. Nearest in its folder: train.log" in capsys.readouterr().err


TABLE = "name,tokens,documents\nweb,12,99\n"


@pytest.mark.parametrize(
    ("words", "file", "text", "place", "said"),
    [
        ("calibrate P F", "a.log", "nothing\n", (1, 1), "no line of a step"),
        ("calibrate P F", "gone.log", None, (None, None), "does not exist"),
        ("calibrate P F", "s.txt", "JobID|State\n1|FAILED\n", (1, 1), ""),
        ("sources P F", "a.json", '{"a":', (1, 6), "not JSON"),
        ("sources P F", "a.csv", TABLE, (2, 1), "99 documents for 12 tokens"),
        ("sources P F", "gone.csv", None, (None, None), "does not exist"),
        ("diff P F", "gone.toml", None, (None, None), "does not exist"),
        ("check F", "gone.toml", None, (None, None), "does not exist"),
        ("diff P F", "b.toml", "format = 1\nzzz = 2\n", (2, 1), "unknown field zzz"),
        ("diff F P", "b.toml", "x = [\n", (1, 5), "is not closed"),
    ],
)
def test_a_refused_file_is_named_in_json_and_not_the_plan(
    words: str,
    file: str,
    text: str | None,
    place: tuple[int | None, int | None],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """product.md: with --json an unusable file writes file, line and column, and the sentence without them."""
    path = tmp_path / file
    if text is not None:
        path.write_text(text, encoding="utf-8")
    given = {"P": str(PLAN), "F": str(path)}
    assert main([*(given.get(word, word) for word in words.split()), "--json"]) == 2
    out, err = capsys.readouterr()
    (error,) = json.loads(out)["errors"]
    assert (error["file"], error["line"], error["column"]) == (str(path), *place)
    assert said in error["message"]
    assert file not in error["message"]
    assert error["message"] in err
    if text is None:
        assert f"{file}: " in err, "no line is told of a file that was not read"


def test_each_of_several_logs_that_measure_nothing_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = [tmp_path / "a.log", tmp_path / "b.log"]
    for log in logs:
        log.write_text("nothing\n", encoding="utf-8")
    assert main(["calibrate", str(PLAN), *map(str, logs), "--json"]) == 2
    errors = json.loads(capsys.readouterr().out)["errors"]
    assert [error["file"] for error in errors] == [str(log) for log in logs]
    assert len({error["message"] for error in errors}) == 1


def test_a_harmed_record_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "p.toml"
    plan.write_text(PLAN.read_text(encoding="utf-8"), encoding="utf-8")
    record = tmp_path / "p.signoffs.jsonl"
    record.mkdir()
    assert main(["review", str(plan), "--json"]) == 2
    (error,) = json.loads(capsys.readouterr().out)["errors"]
    assert (error["file"], error["message"]) == (str(record), "this is not a regular file")


def test_a_source_of_two_manifests_names_the_second(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for table in tables:
        table.write_text("name,tokens\nweb,1200\n", encoding="utf-8")
    assert main(["sources", str(PLAN), *map(str, tables), "--json"]) == 2
    (error,) = json.loads(capsys.readouterr().out)["errors"]
    assert (error["file"], error["message"]) == (str(tables[1]), "web is in 2 manifests. A source has one")


@pytest.mark.parametrize("command", ["calibrate", "sources", "diff"])
def test_a_word_without_letters_is_refused_in_json_as_on_the_terminal(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(PLAN), "", "--json"]) == 2
    out, err = capsys.readouterr()
    (error,) = json.loads(out)["errors"]
    assert error["message"] in err


@pytest.mark.parametrize(("command", "status"), [("check", 1), ("review", 1), ("show", 0), ("search", 0)])
def test_a_reader_that_stops_changes_no_exit_status(command: str, status: int) -> None:
    """`check PLAN | head -1` was 0 with errors, so that a pipeline with pipefail passed."""
    words = [command, str(PLAN), "--set", "batch.micro_batch_sequences=16"]
    code = "import sys; from trainplan_tui.cli import main; sys.exit(main(sys.argv[1:]))"
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, *words], env=ENVIRONMENT, stdout=writing, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (status, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_plan_that_is_saved_is_not_told_as_not_written(tmp_path: Path) -> None:
    """`set` on a full disk of logs: the plan was written, and only the line that says so was not."""
    plan = tmp_path / "plan.toml"
    plan.write_bytes(PLAN.read_bytes())
    code = "import sys; from trainplan_tui.cli import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, "set", str(plan), "cluster.nodes=64"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert "nodes = 64 " in plan.read_text(encoding="utf-8")
    assert done.stderr == "stdout: not written: no space left on device\n"
