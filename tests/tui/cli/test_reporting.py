"""`report PLAN`: to stdout or into a file that did not exist, whole or not at all; what cannot be written is told."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from trainplan_tui.cli import main

ROOT = Path(__file__).resolve().parents[3]
CALL = "import sys; from trainplan_tui.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_bytes((ROOT / "plans" / "llama-3.1-8b.toml").read_bytes())
    return path


def run(*words: object) -> int:
    return main([str(word) for word in words])


def called(*words: object, **options: object) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own."""
    environment = {"PYTHONPATH": f"{ROOT / 'core'}:{ROOT / 'tui'}", "PATH": "", **options.pop("env", {})}  # type: ignore[dict-item]
    words = (sys.executable, "-c", CALL, *map(str, words))
    return subprocess.run(words, env=environment, check=False, **options)  # type: ignore[call-overload]


def test_what_is_printed_is_what_is_written(plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("report", plan) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# Llama 3.1 8B, 15.6T tokens, 1,024 H100\n\n")
    assert run("report", plan, "-o", tmp_path / "r.md") == 0
    assert capsys.readouterr().out == f"wrote {tmp_path / 'r.md'}\n"
    assert (tmp_path / "r.md").read_text(encoding="utf-8") == printed
    assert run("report", plan, "--ascii", "-o", tmp_path / "a.md") == 0
    assert (tmp_path / "a.md").read_bytes().isascii()


def test_the_numbers_are_those_of_show_and_forecast(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("show", plan)
    shown = capsys.readouterr().out
    run("forecast", plan)
    quantile = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("P50"))
    run("report", plan)
    out = capsys.readouterr().out
    assert re.search(r"^headroom +18\.15  GiB +default \?$", shown, re.MULTILINE)
    assert re.search(r"^\| headroom +\| +18\.15 \| GiB +\| default \? +\| `memory\.headroom` +\|$", out, re.MULTILINE)
    finish, cost = re.split(r" {3,}", quantile)[1:]
    assert re.search(rf"^\| P50 +\| +{re.escape(finish)} \| +{re.escape(cost)} \|$", out, re.MULTILINE)


def test_the_quantities_are_those_of_show(plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("report", plan, "--csv", "-o", tmp_path / "q.csv") == 0
    capsys.readouterr()
    run("show", plan, "--json")
    told = json.loads(capsys.readouterr().out)["quantities"]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "q.csv").read_bytes().decode(), newline="")))
    assert [row["key"] for row in rows] == list(told)
    for row in rows:
        value = told[row["key"]]["value"]
        assert row["value"] == ("" if value is None else value if isinstance(value, str) else repr(value))


def test_a_file_that_exists_is_not_written_over(plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "r.md").write_text("mine")
    (tmp_path / "link.md").symlink_to("nowhere")
    for name in ("r.md", "link.md", "plan.toml", ""):
        assert run("report", plan, "-o", tmp_path / name) == 2
        assert "exists. Another name\n" in capsys.readouterr().err
    assert (tmp_path / "r.md").read_text() == "mine"
    assert run("report", plan, "-o", "") == 2


def test_where_it_cannot_be_written_nothing_is(plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("report", plan, "-o", tmp_path / "none" / "r.md") == 2
    assert "r.md: not written: the folder" in capsys.readouterr().err
    assert run("report", plan, "-o", tmp_path / ("n" * 300)) == 2
    assert "is too long for this file system" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.toml"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", [(), ("--csv",)])
def test_a_full_disk_is_told(plan: Path, words: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        done = called("report", plan, *words, stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (2, b"stdout: not written: no space left on device\n")


def test_a_reader_that_has_enough_is_no_fault(plan: Path) -> None:
    words = (sys.executable, "-c", CALL, "report", str(plan))
    environment = {"PYTHONPATH": f"{ROOT / 'core'}:{ROOT / 'tui'}"}
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_a_plan_that_cannot_be_used_is_refused_with_its_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text("format = 1\nx = 2\n[model]\nhidden_size = -3\n")
    assert run("report", bad, "-o", tmp_path / "r.md") == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{bad}:2:1", f"{bad}:4:15"]
    assert not (tmp_path / "r.md").exists()


def test_errors_of_the_plan_are_told_and_no_fault_of_the_command(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("report", plan, "--set", "cluster.memory_per_accelerator=40GiB") == 0
    out = capsys.readouterr().out
    assert (
        "| fits        | no: 20.95 GiB over on rank 0 at its worst instant, loss; it holds 152.4 % of 40.00 GiB usable |"
        in out
    )
    assert "### Errors, 1\n\n- `M1` " in out


def test_a_field_set_for_one_call_is_said_and_loses_its_comment(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("report", plan, "--set", "cluster.nodes=64") == 0
    out = capsys.readouterr().out
    assert "| changed for this report, not in the file | `cluster.nodes=64` |" in out
    assert "assumed: accelerators of the 8B run were not published" not in out
    assert "model card: H100-80GB, 700 W" in out
    run("report", plan)
    out = capsys.readouterr().out
    assert "changed for this report" not in out
    assert "assumed: accelerators of the 8B run were not published" in out


def test_a_record_that_cannot_be_read_is_refused(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (plan.parent / "plan.signoffs.jsonl").mkdir()
    assert run("report", plan) == 2
    assert "plan.signoffs.jsonl" in capsys.readouterr().err


def test_letters_that_the_locale_has_not_are_told_by_their_number(plan: Path) -> None:
    plan.write_text(plan.read_text(encoding="utf-8").replace('name = "Llama', 'name = "é資 Llama'), encoding="utf-8")
    for command in ("report", "show", "check"):
        done = called(
            command,
            plan,
            "--ascii" if command == "show" else "--set=batch.micro_batch_sequences=1",
            env={"PYTHONIOENCODING": "ascii"},
            capture_output=True,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"\\xe9\\u8cc7 Llama" in done.stdout


def test_no_terminal_library_is_loaded(plan: Path) -> None:
    code = "import sys; from trainplan_tui.cli import main; main(['report', sys.argv[1]]); print(*sys.modules, file=sys.stderr)"
    environment = {"PYTHONPATH": f"{ROOT / 'core'}:{ROOT / 'tui'}"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(plan)], env=environment, capture_output=True, text=True, check=True
    )
    assert not {"textual", "rich", "tomli_w"} & set(done.stderr.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_it(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    run("completion", shell)
    out = capsys.readouterr().out
    assert " report " in out
    assert "csv" in out


def test_a_dash_is_stdout(plan: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(plan.parent)
    assert run("report", plan, "--csv", "-o", "-") == 0
    assert capsys.readouterr().out.startswith("key,value,unit,")
    assert not Path("-").exists()
