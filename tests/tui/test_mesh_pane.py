"""The Parallelism pane: the grid of the layout, what is sent, the decision walk and its proposal."""

from __future__ import annotations

import pytest


async def test_a_low_window_shows_two_fields_a_row_and_what_follows(play, example) -> None:
    app = await play(example, "5")
    assert "tensor" in app.seen[3]
    assert "sharding" in app.seen[3]
    assert app.seen[3].split()[-2:] == ["data", "1,024"]


async def test_right_moves_to_the_second_field_of_a_row_and_an_edit_lands_there(play, example) -> None:
    app = await play(example, "5 right enter zero-3 enter")
    assert app.session.shown.plan.parallelism.sharding == "zero-3"
    assert "sharding" in app.seen[3]


async def test_a_field_that_the_file_does_not_have_is_written_into_it(play, example) -> None:
    app = await play(example, "5 + +")
    assert app.session.shown.plan.parallelism.tensor == 4
    assert "tensor = 4" in app.session.shown.text


async def test_the_parts_of_the_step_add_up_to_the_prediction(play, example) -> None:
    app = await play(example.replace("pipeline = 1", "pipeline = 2"), "5", size=(160, 60))
    quantities = app.session.shown.estimate.quantities
    parts = [float(value) for key, value in quantities.items() if key.startswith("parallelism.waterfall.")]
    assert sum(parts) == pytest.approx(float(quantities["parallelism.predicted_step_time"]), rel=1e-9)
    assert any(line.startswith("   predicted") for line in app.seen)


async def test_the_second_view_names_what_is_sent_and_what_is_not(play, example) -> None:
    app = await play(example, "5 v")
    assert any("data" in line and "fabric" in line for line in app.seen)
    assert any("nothing is sent by tensor, context, pipeline" in line for line in app.seen)


async def test_one_accelerator_sends_nothing(play, example) -> None:
    one = example.replace("nodes = 128", "nodes = 1").replace("[cluster]", "[cluster]\naccelerators_per_node = 1")
    app = await play(one, "5 v")
    assert any("nothing is sent" in line for line in app.seen)


async def test_enter_on_the_proposal_changes_the_layout_in_one_step_that_undo_takes_back(play, example) -> None:
    bad = example.replace("tensor = 1", "tensor = 8").replace("pipeline = 1", "pipeline = 4")
    app = await play(bad, "5 v v G enter")
    parallelism = app.session.shown.plan.parallelism
    assert (parallelism.tensor, parallelism.pipeline) != (8, 4)
    from trainplan.walk import walk

    told = walk(app.session.shown.plan)
    assert told is not None
    assert not told.differs(app.session.shown.plan)
    back = await play(bad, "5 v v G enter u")
    assert back.session.shown.text == bad


async def test_a_layout_that_is_not_whole_still_shows_its_fields(play, example) -> None:
    app = await play(example, "5 enter 7 enter")
    assert "not whole" in "\n".join(app.seen)
    assert "tensor" in app.seen[3]


async def test_enter_on_a_question_opens_the_field_in_this_pane(play, example) -> None:
    app = await play(example, "5 v v g enter esc")
    assert app.seen[1].count("[5Mesh]") == 1


async def test_a_step_skips_values_that_break_a_rule(play, example) -> None:
    app = await play(example, "4 j j +")
    assert app.session.shown.plan.batch.micro_batch_sequences == 1
    assert "no larger legal value" in app.seen[-1]
    app = await play(example.replace("global_batch_sequences = 1024", "global_batch_sequences = 4096"), "4 j j + +")
    assert app.session.shown.plan.batch.micro_batch_sequences == 4


async def test_a_narrow_window_stacks_the_layout(play, example) -> None:
    app = await play(example, "5", size=(60, 20))
    assert not any("sharding" in line and "tensor" in line for line in app.seen)
