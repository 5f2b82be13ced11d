"""`import` of launch files: what is written, what is said beside it, and what is refused with status 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainplan_tui.cli import main

SCRIPT = """#!/bin/bash
#SBATCH --nodes=4
LAYERS=${LAYERS:-16}
torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 pretrain_gpt.py --num-layers $LAYERS --hidden-size 2048 \\
  --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 --vocab-size 50257 --bf16 --seed 1 \\
  --micro-batch-size 2 --global-batch-size 512 --train-iters 1000 --overlap-grad-reduce --own-option 3
"""


def run(*words: object) -> int:
    return main([str(word) for word in words])


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.slurm"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


def test_a_script_becomes_a_plan_that_check_takes(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = script.with_name("plan.toml")
    assert run("import", script, "-o", plan) == 0
    captured = capsys.readouterr()
    assert captured.out == f"wrote {plan}. Next: trainplan-tui check {plan}\n"
    assert captured.err.splitlines() == [
        f"{script}:3:18: --num-layers 16 is what the file takes where $LAYERS is not set",
        "not known here, and not read: --own-option of line 6",
        "read, and no field of a plan says it: --overlap-grad-reduce (a plan says a share, parallelism.overlap_data)",
        "known, and no plan rests on it: --seed",
    ]
    text = plan.read_text(encoding="utf-8")
    assert "num_hidden_layers = 16                  # train.slurm:4: --num-layers 16\n" in text
    assert 'norm = "layernorm"                      # no --normalization\n' in text
    assert "nodes = 4                               # train.slurm:2: --nnodes 4\n" in text
    assert str(script.parent) not in text
    assert run("check", plan) == 1
    assert "accelerator is missing" in capsys.readouterr().out


def test_what_is_wrong_is_told_at_once_and_nothing_is_written(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text(
        SCRIPT.replace("--hidden-size 2048", "--hidden-size 2k").replace("--train-iters 1000", "--train-iters -1")
    )
    plan = script.with_name("plan.toml")
    assert run("import", script, "-o", plan) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"{script}:4:103: --hidden-size is '2k'. A whole number from 1 is right",
        f"{script}:6:62: --train-iters is '-1'. A whole number from 1 is right",
    ]
    assert not plan.exists()


def test_what_does_not_fit_together_is_said_and_the_plan_opens(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Fields that relate wrongly are findings: the plan is there to be put right."""
    script.write_text(SCRIPT.replace("--seed 1", "--tensor-model-parallel-size 5"))
    assert run("import", script) == 0
    captured = capsys.readouterr()
    assert "tensor = 5" in captured.out
    assert f"{script}:5:103: G1: 32 accelerators do not divide into groups of 5" in captured.err


def test_two_files_that_differ_are_refused_with_both_places(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    beside = script.with_name("ds.json")
    beside.write_text('{"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 1}}', encoding="utf-8")
    assert run("import", script, beside) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"{beside}:1:36: batch.micro_batch_sequences is 4 by train_micro_batch_size_per_gpu = 4, and 2 by --micro-batch-size 2 "
        f"at {script}:6:3. Both have to say the same"
    ]


def test_a_listing_in_a_log_longer_than_a_plan(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = {"num_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "seq_length": 8, "micro_batch_size": 1}
    lines |= {"bf16": True, "swiglu": False, "world_size": 8, "vocab_size": 100}
    text = "".join(f"  {name} {'.' * (48 - len(name))} {value}\n" for name, value in lines.items())
    script.write_bytes(text.encode() + b"\xff iteration 1\n" * 200_000)
    assert run("import", script) == 0
    assert "hidden_size = 64" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "nothing of a plan is said here"),
        (b"prose without settings\n", "nothing of a plan is said here"),
        (bytes(range(256)) * 9, "is not UTF-8"),
        (SCRIPT.encode("utf-16"), "the file is UTF-16"),
        (b'A="--num-layers 4 --hidden-size 8\n', ":1:3: this quote is never closed"),
        (b"#\n" * 600_000, "the file is over 1,000,000 bytes, and no arguments are listed"),
        (b'{"zero_optimization":' + b"[" * 100_000, "nested more than 40 deep"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(
    script: Path, capsys: pytest.CaptureFixture[str], content: bytes, why: str
) -> None:
    script.write_bytes(content)
    assert run("import", script) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(str(script))
    assert why in line


def test_nothing_of_a_script_is_run_or_reaches_the_terminal(
    script: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = script.with_name("mark")
    monkeypatch.setenv("LAYERS", "99")
    script.write_text(
        SCRIPT.replace("--seed 1", f"--seed $(touch {mark}) `touch {mark}`") + "--save '\x1b[31m\u202ered'\n",
        encoding="utf-8",
    )
    assert run("import", script) == 0
    captured = capsys.readouterr()
    assert "num_hidden_layers = 16" in captured.out
    assert not mark.exists()
    assert "\x1b" not in captured.out + captured.err
    assert "\u202e" not in captured.out + captured.err


def test_byte_order_mark_and_line_ends_change_nothing(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("import", script)
    plain = capsys.readouterr()
    script.write_bytes(b"\xef\xbb\xbf" + SCRIPT.replace("\n", "\r\n").encode())
    run("import", script)
    assert capsys.readouterr() == plain
