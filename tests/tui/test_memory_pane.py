"""The Memory pane: ledger, bars, and the strip's verdict."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_the_categories_sum_to_the_total_that_the_strip_tells(play, example, size) -> None:
    app = await play(example, "4", size=size)
    memory = app.session.shown.estimate.memory
    parts = (
        memory.weights,
        memory.gradients,
        memory.optimizer_states,
        memory.activations,
        memory.attention_temporaries,
        memory.logits,
        memory.communication_buffers,
        memory.fragmentation_runtime,
    )
    assert sum(map(float, parts)) == pytest.approx(float(memory.total), rel=1e-12)
    free = f"{float(memory.headroom) / 2**30:.1f}"
    assert free in app.seen[0]
    assert any(f"fits  {free}" in line or f"fits {free}" in line for line in app.seen)


async def test_a_plan_that_does_not_fit_says_over_in_capitals(play, example) -> None:
    app = await play(example, "4 enter none enter")
    assert "OVER" in app.seen[0]
    assert any("rank 0" in line and "OVER" in line for line in app.seen)


async def test_choices_of_sharding_say_which_fit(play, example) -> None:
    app = await play(example, "4 enter")
    told = {
        line.split()[0]: line
        for line in (line.lstrip(">= ") for line in app.seen)
        if line.startswith(("none", "zero-", "hsdp"))
    }
    assert "OVER" in told["none"]
    assert "fits" in told["zero-3"]


async def test_ranks_of_a_pipeline_stand_under_each_other(play, example) -> None:
    four = example.replace("pipeline = 1", "pipeline = 4")
    assert four != example
    app = await play(four, "4", size=(160, 45))
    assert any("rank 0" in line and ("fits" in line or "OVER" in line) for line in app.seen)
    assert any(line[3:].startswith("rank 3") or "-3" in line for line in app.seen)


async def test_the_second_view_holds_ranks_and_answers_and_a_row_leads_to_its_field(play, example) -> None:
    app = await play(example, "4 v")
    assert any("ranks, GiB" in line for line in app.seen)
    assert any("largest microbatch" in line for line in app.seen)
    app = await play(example, "4 v j enter 2 enter")
    assert app.session.shown.plan.batch.micro_batch_sequences == 2


async def test_the_third_view_prints_the_frameworks_dry_runs(play, example) -> None:
    app = await play(example, "4 v v")
    assert any("--fake-process-group" in line for line in app.seen)


async def test_columns_that_do_not_fit_are_left_out_whole(play, example) -> None:
    app = await play(example, "4 v", size=(60, 20))
    heads = next(line for line in app.seen if line.lstrip().startswith("rank "))
    row = app.seen[app.seen.index(heads) + 1]
    assert len(heads.split()) == len(row.lstrip(">").split())


async def test_the_footer_says_what_enter_does_on_an_answer(play, example) -> None:
    app = await play(example, "4 v G")
    assert "enter edit field" in app.seen[-1]


async def test_a_row_of_the_table_of_ranks_is_explained_by_its_total(play, example) -> None:
    app = await play(example.replace("pipeline = 1", "pipeline = 4"), "4 v j x")
    assert any("Explain memory.ranks.1.total" in line for line in app.seen)


async def test_the_restore_of_the_ledger_stands_beside_that_of_the_worst_rank_with_its_rank(play, example) -> None:
    app = await play(example.replace("pipeline = 1", "pipeline = 4"), "4", size=(160, 45))
    memory = app.session.shown.estimate.memory
    highest = max(memory.table, key=lambda one: float(one.restore))
    line = next(line for line in app.seen if "with overhead" in line)
    assert f"restore, rank {highest.rank}, with overhead" in line
    assert line.endswith(f"{float(memory.restore) / 2**30:.2f}")


async def test_a_category_that_rounds_to_nothing_is_not_nothing(play, example) -> None:
    """0.03 GiB of gradients on each of 1,024 ranks."""
    app = await play(example, "4 v")
    row = next(line for line in app.seen if line.startswith(">  0"))
    assert "<0.1" in row.split()
    head = next(line for line in app.seen if line.lstrip().startswith("rank"))
    assert row.index("<0.1") + 4 == head.index("grads") + 5, "right aligned under its head"


async def test_a_framework_without_a_dry_run_says_so_and_what_there_is(play, example) -> None:
    app = await play(example.replace('framework = "megatron"', 'framework = "fsdp"'), "4 v v")
    assert any("No dry run of fsdp is known here; C in 9 Pilot" in line for line in app.seen)
    assert "none" not in "".join(line.strip() for line in app.seen[3:20])


async def test_the_footer_has_the_launch_text_where_there_is_room(play, example) -> None:
    app = await play(example, "4", size=(160, 45))
    assert "C launch text" in app.seen[-1]
    app = await play(example, "4 C", size=(160, 45))
    assert app.sheets[-1].word == "launch"


@pytest.mark.parametrize("size", [(80, 24), (160, 45), (64, 24)])
async def test_choices_of_sharding_say_what_each_shards(play, example, size) -> None:
    app = await play(example, "4 enter", size=size)
    head = next(i for i, line in enumerate(app.seen) if line.split()[:2] == ["choice", "memory"])
    told = [" ".join(line[:80].split("GB", 1)[-1].split()).removesuffix("│") for line in app.seen[head + 1 : head + 6]]
    known = ["nothing", "optimizer states", "+ gradients", "+ weights", "+ weights, in groups"]
    assert ("what it shards" in app.seen[head]) == (size[0] >= 80)
    assert told[:4] == (known[:4] if size[0] >= 80 else [""] * 4), app.seen[head:]
    assert (known[4] in app.seen[head + 5]) == (size[0] >= 80)


@pytest.mark.parametrize(
    ("size", "label"), [((80, 24), "total, of 79.1 usable"), ((60, 28), "total"), ((160, 45), "total")]
)
async def test_a_low_window_says_what_is_usable_beside_the_total(play, example, size, label: str) -> None:
    app = await play(example, "4", size=size)
    total = next(line for line in app.seen if line.startswith(("   total ", "   total, of")))
    assert total[3:].startswith(f"{label}  ")


@pytest.mark.parametrize("size", [(80, 24), (160, 45), (60, 20)])
async def test_a_text_value_has_the_room_of_the_empty_columns_behind_it(play, example, size) -> None:
    """The worst instant of a first stage: its 23 letters are more than the value column has."""
    four = example.replace("pipeline = 1", "pipeline = 4")
    app = await play(four, "4 / worst space instant enter", size=size)
    line = next(line for line in app.seen if line.startswith(">  worst instant"))
    assert line[1:].startswith("  worst instant ")
    assert f"{line} ".count(" first layer of backward ") == 1
