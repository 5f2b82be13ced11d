"""The start screen and what begins on it."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trainplan.files.signoffs import appended
from trainplan.plan.read import open_plan
from trainplan.review.record import Act
from trainplan_tui.cli import main
from trainplan_tui.sheets.beginning import examples

if TYPE_CHECKING:
    from tests.tui.sheets.conftest import Drive


async def test_recent_plans_open_by_digit_and_gone_ones_are_said(plan: Path, drive: Drive) -> None:
    other = Path("other.toml")
    other.write_bytes(plan.read_bytes())
    for path in (other, plan):
        async with drive(path):
            pass
    other.unlink()
    async with drive() as app:
        assert "base.toml" in app.screen
        assert "gone" in app.screen
        await app.press("x", "enter", "w")
        assert app.session.path.name == "base.toml", "the newest is under the cursor"
    async with drive() as app:
        await app.press("2")
        assert "not there any more" in app.screen
        assert app.app.opened is None


SIGNED_ITEM = '\n[[readiness]]\nitem = "tokenizer"\nstatus = "signed"\n'


async def test_a_recent_plan_says_how_many_items_are_signed_and_the_panes_stand_above(plan: Path, drive: Drive) -> None:
    plan.write_text(plan.read_text(encoding="utf-8") + SIGNED_ITEM, encoding="utf-8")
    appended(plan, Act("sign", "tokenizer", "osei", dt.datetime.now(dt.UTC), author="kim", verdict="pass"))
    async with drive(plan):
        pass
    async with drive() as app:
        lines = app.screen.splitlines()
        assert lines[1] == " 1Overview 2Tokens 3Compute 4Memory 5Mesh 6Storage 7Faults 8Eval 9Pilot 0Ready"
        told = next(line for line in lines if line.startswith(">1 "))
        assert "signed 1/10" in told
        assert "base.toml" in told
        assert all(len(line) <= 80 for line in lines)


async def test_only_the_letters_shown_work(drive: Drive) -> None:
    async with drive() as app:
        before = app.screen
        await app.press("x", "w", "5" if not examples() else "0", "r", "e", "\N{SUPERSCRIPT TWO}")
        assert app.screen == before


async def test_a_file_with_errors_shows_them_all(drive: Drive) -> None:
    Path("bad.toml").write_text("format = 1\n[cluster]\nnodes = -1\ngpus = 8\n", encoding="utf-8")
    async with drive() as app:
        await app.press("o", "bad.toml", "enter")
        assert "bad.toml:3:" in app.screen
        assert "bad.toml:4:1: unknown field cluster.gpus" in app.screen
        await app.press("esc")
        assert "new plan by 7 questions" in app.screen


async def test_an_example_is_opened_as_a_copy(drive: Drive) -> None:
    assert examples()
    async with drive() as app:
        await app.press("1", "enter")
        assert app.session.path == Path(examples()[0].name)
        assert app.session.path.read_bytes() == examples()[0].read_bytes()


async def test_a_config_becomes_a_plan(drive: Drive) -> None:
    config = {
        "model_type": "llama",
        "num_hidden_layers": 2,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_attention_heads": 4,
        "vocab_size": 1000,
        "tie_word_embeddings": False,
    }
    Path("tiny.json").write_text(json.dumps(config), encoding="utf-8")
    async with drive() as app:
        await app.press("i", "tiny.json", "enter")
        assert "everything that the files say is in the plan" in app.screen
        await app.press("enter", "enter")
        assert app.session.path == Path("tiny.toml")
        assert app.session.history.now.plan.model.hidden_size == 64


async def test_lost_edits_are_recovered_from_here(plan: Path, drive: Drive) -> None:
    async with drive(plan) as app:
        await app.press("enter", "15.6T", "enter")
        app.app.interrupted(1)
    async with drive() as app:
        assert "base.toml, 1 edit" in app.screen
        await app.press("r", "r")
        assert "15.6T" in app.session.history.now.text


async def test_seven_answers_make_a_commented_plan(drive: Drive) -> None:
    async with drive() as app:
        await app.press("n", "llama-3.1-8b", "enter", "enter", "128", "enter", "15.6T", "enter")
        assert "1,024 accelerators" in app.screen
        assert "1,943" in app.screen, "tokens per parameter, by hand: 15.6e12 / 8,030,261,248 = 1942.7"
        await app.press("enter", "enter", "enter")
        assert not Path("llama-3.1-8b.toml").exists()
        await app.press("enter")
        made = open_plan(Path("llama-3.1-8b.toml")).plan
        assert (made.cluster.accelerator, made.cluster.nodes, made.data.train_tokens) == ("h100-sxm", 128, 15.6e12)
        assert (made.data.sequence_length, made.batch.global_batch_sequences) == (8192, 1024)
        assert made.cluster.price_per_accelerator_hour is None
        assert made.utilization.value is None
        assert "# default. " in app.session.history.now.text


async def test_a_wrong_answer_is_said_and_esc_writes_nothing(drive: Drive) -> None:
    async with drive() as app:
        await app.press("n", "llama-3.1-8", "enter")
        assert "Nearest: llama-3.1-8b" in app.screen
        await app.press("tab", "enter", "enter", "ten", "enter")
        assert "question 3 of 7" in app.screen
        assert "E nodes is" in app.screen
        await app.press("shift+tab", "esc")
        assert "nothing was written" in app.screen
        assert not list(Path().iterdir())


async def test_figures_stay_while_an_answer_is_wrong_and_device_memory_is_in_gib(drive: Drive) -> None:
    """The sheet and the panes tell the same memory in the same unit, and whether it fits."""
    async with drive() as app:
        await app.press("n", "llama-3.1-8b", "enter", "enter", "16", "enter", "2T", "enter", "enter", "512", "enter")
        assert "14.2 GiB OVER with zero-1" in app.screen
        assert " GB" not in app.screen
        await app.press("shift+tab", "1x2", "enter")
        assert "E global_batch_sequences is" in app.screen
        assert "8,030,261,248 parameters" in app.screen
        assert "first" not in app.screen.partition("so far")[2]


async def test_tab_is_offered_only_where_it_completes(drive: Drive) -> None:
    async with drive() as app:
        await app.press("n", "llama-3.1-8")
        assert "tab complete" in app.screen
        await app.press("tab")
        assert "tab complete" not in app.screen
        await app.press("x", "y", "z")
        assert "tab complete" not in app.screen


SCRIPT = "torchrun pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 --own 1\n"


async def test_a_launch_script_is_imported_as_a_config_is(drive: Drive) -> None:
    Path("train.sh").write_text(SCRIPT, encoding="utf-8")
    Path("wrong.sh").write_text(SCRIPT.replace("64", "x").replace("4 ", "y "), encoding="utf-8")
    async with drive() as app:
        assert "i import config.json, Megatron arguments, torchtitan, DeepSpeed" in app.screen
        await app.press("i", *"wrong.sh", "enter")
        assert "E wrong.sh:1:39: --num-layers is 'y'. A whole number from 1 is right" in app.screen
        assert "E wrong.sh:1:55: --hidden-size is 'x'. A whole number from 1 is right" in app.screen
        assert "enter" not in app.screen.splitlines()[-1], "nothing is there to be written"
        await app.press("esc", "i", *"train.sh", "enter")
        assert "i not known here, and not read: --own of line 1" in app.screen
        await app.press("enter", "enter")
        assert "num_hidden_layers = 4" in Path("train.toml").read_text(encoding="utf-8")


async def test_import_tells_all_that_the_command_line_tells_of_several_files(
    drive: Drive, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every sentence stands whole on the page, and one more file is read together with those before."""
    Path("train.sh").write_text(SCRIPT.replace("--own", "--micro-batch-size 2 --own"), encoding="utf-8")
    Path("ds.json").write_text('{"zero_optimization": {"stage": 1}, "steps_per_print": 10}', encoding="utf-8")
    Path("other.json").write_text('{"train_micro_batch_size_per_gpu": 4}', encoding="utf-8")
    assert main(["import", "train.sh", "ds.json"]) == 0
    told = capsys.readouterr().err.splitlines()
    assert len(told) > 2
    async with drive(size=(80, 40)) as app:
        await app.press("i", *"train.sh", "enter", "a", *"ds.json", "enter")
        page = " ".join(line[3:] for line in app.screen.splitlines())
        for sentence in told:
            assert sentence in " ".join(page.split())
        await app.press("a", *"other.json", "enter")
        assert "no plan is made of this" in app.screen
        await app.press("D")
        assert "no plan is made of this" not in app.screen
        await app.press("enter", "enter")
        assert app.session.history.now.plan.parallelism.sharding == "zero-1"


async def test_a_config_that_contradicts_itself_is_no_plan(drive: Drive) -> None:
    """As the command line has it: every reason, and nothing to write."""
    config = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "vocab_size": -5}
    Path("bad.json").write_text(json.dumps(config), encoding="utf-8")
    async with drive() as app:
        await app.press("i", "bad.json", "enter")
        assert "no plan is made of this" in app.screen
        await app.press("enter")
        assert not Path("bad.toml").exists()


async def test_what_is_wrong_with_a_file_stands_whole_and_scrolls(drive: Drive) -> None:
    """Every error at once, none cut at the edge of the window; what has no place in the file is given none."""
    wrong = "".join(f"wrong_{number} = 1\n" for number in range(20))
    Path("bad.toml").write_text(f"format = 1\n[data]\n{wrong}", encoding="utf-8")
    async with drive() as app:
        await app.press("o", "gone.toml", "enter")
        assert "gone.toml: the file does not exist" in app.screen
        await app.press("esc", "o", "bad.toml", "enter")
        assert "preprocessing_changed and 4 more" in " ".join(app.screen.split())
        assert "wrong_19" not in app.screen
        await app.press("G")
        assert "bad.toml:22:1: unknown field data.wrong_19" in app.screen
        await app.press("x")
        assert "new plan by 7 questions" in app.screen
        await app.press("?")
        assert "the file is written at the end" in " ".join(app.screen.split()), "not cut at 80 columns"
