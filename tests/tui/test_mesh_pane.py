"""The Parallelism pane: the grid of the layout, what is sent, the decision walk and its proposal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PLANS = Path(__file__).resolve().parents[2] / "plans"


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
    from trainplan.alternatives.walk import walk

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


BAD = (("tensor = 1", "tensor = 8"), ("pipeline = 1", "pipeline = 4"))


@pytest.fixture
def bad(example: str) -> str:
    """The example with a layout that the walk would change, and nodes that make it ask more."""
    for old, new in BAD:
        example = example.replace(old, new)
    return example


async def test_j_and_k_walk_every_row_of_the_decision_walk(play, bad) -> None:
    app = await play(bad, "5 v v")
    reached = [place for place, row in enumerate(app.rows()) if row.id]
    walked = await play(bad, "5 v v" + " j" * len(reached))
    assert walked.cursor.position(walked.rows()) == reached[-1]
    for count in range(len(reached)):
        assert (await play(bad, "5 v v G" + " k" * count)).cursor.position(app.rows()) == reached[-1 - count]


async def test_every_row_of_a_question_leads_to_its_field(play, bad) -> None:
    app = await play(bad, "5 v v j j enter")
    assert "sharding" in app.seen[-1] + "".join(app.seen[14:])
    assert app.sheets[-1].box.path == "parallelism.sharding"


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_a_figure_that_stands_twice_in_the_pane_does_not_hold_the_cursor(play, example, size) -> None:
    app = await play(example, "5", size=size)
    reached = [place for place, row in enumerate(app.rows()) if row.id]
    assert len({app.rows()[place].id for place in reached}) < len(reached), "the step stands as a bar and in the ledger"
    walked = await play(example, "5" + " j" * len(reached), size=size)
    assert walked.cursor.position(walked.rows()) == reached[-1]


async def test_backspace_comes_back_to_the_question_that_enter_left(play, bad) -> None:
    app = await play(bad, "5 v v j j enter esc backspace")
    assert "v layout   F find" in app.seen[2]
    assert next(line for line in app.seen if line.startswith(">")).startswith(">2 Does zero-2 fit?")


async def test_a_finding_leads_to_its_field_from_another_view_of_its_pane(play, bad) -> None:
    async def then(app, pilot) -> None:
        assert app.jump("parallelism.recompute")
        assert (app.cursor.shown_pane.module, app.cursor.view) == ("mesh", 0)

    await play(bad, "5 v v", then=then)


async def test_the_proposal_can_be_read_with_the_cursor_on_it_in_a_low_window(play, bad) -> None:
    from trainplan_tui.panes.mesh import proposal

    app = await play(bad, "5 v v G")
    fields = proposal(app.session.shown.plan)
    assert len(fields) > 1
    rule = next(place for place, line in enumerate(app.seen) if line.startswith("\u2500\u2500 decision walk"))
    for lines in (app.seen[3:rule], app.seen[rule:]):
        told = " ".join(lines)
        assert all(f"{path.rsplit('.', 1)[-1]} {value}" in told for path, value in fields.items())
    assert "enter take proposal" in app.seen[-1]


async def test_the_proposal_says_its_step_beside_the_plans(play) -> None:
    plan = Path(__file__).resolve().parents[2] / "plans" / "llama-3.1-405b.toml"
    app = await play(plan.read_text(encoding="utf-8"), "5 v v G")
    told = " ".join(line.strip() for line in app.seen)
    assert "slower than the plan, which fits: predicted step" in told


async def test_the_footer_offers_no_proposal_that_the_plan_has(play, bad) -> None:
    app = await play(bad, "5 v v G enter G")
    assert "take proposal" not in app.seen[-1]
    assert "enter explain" not in app.seen[-1]
    again = await play(bad, "5 v v G enter enter")
    assert "the plan has it; enter sets nothing" in again.seen[-1]


async def test_the_footer_says_that_enter_edits_the_field_of_a_question_and_x_explains_it(play, bad) -> None:
    app = await play(bad, "5 v v j")
    assert "enter edit field" in app.seen[-1]
    app = await play(bad, "5 v v j x")
    assert "Explain parallelism.sharding" in "\n".join(app.seen)


@pytest.mark.parametrize("size", [(80, 24), (160, 30)])
async def test_the_inspector_tells_of_the_field_under_the_cursor_where_two_share_a_row(play, example, size) -> None:
    left, right = await play(example, "5", size=size), await play(example, "5 l", size=size)
    assert any("parallelism.tensor" in line for line in left.seen)
    assert any("parallelism.sharding" in line for line in right.seen)
    assert not any("parallelism.tensor" in line for line in right.seen)


async def test_a_finding_whose_field_is_the_second_of_a_row_is_told_of(play, example) -> None:
    async def then(app, pilot) -> None:
        assert app.jump("parallelism.recompute")
        app.paint()
        from tests.tui.conftest import lines_of

        assert any(line.startswith("\u2500\u2500 parallelism.recompute") for line in lines_of(app))

    await play(example, "5", then=then)


async def test_every_transfer_can_be_reached_and_its_time_explained(play, bad) -> None:
    app = await play(bad, "5 v G")
    table = [one for one in app.session.shown.estimate.communication.table if float(one.bytes)]
    rows = [row for row in app.rows() if row.id]
    assert len(rows) == len(table) > 1
    assert app.rows()[app.cursor.position(app.rows())] is not rows[0]
    app = await play(bad, "5 v G x")
    last, seen = table[-1], "\n".join(app.seen)
    assert f"Explain time of {last.dimension}: {last.name}" in seen
    assert app.sheets[-1].node.value == last.time
    assert app.sheets[-1].branches()


async def test_an_edit_in_the_tree_of_a_transfer_moves_its_time(play, bad) -> None:
    app = await play(bad, "5 v G x")
    before = app.sheets[-1].node.value
    app.apply("data.sequence_length", "4096")
    assert app.sheets[-1].node.value < before


@pytest.mark.parametrize("name", sorted(file.stem for file in PLANS.glob("*.toml")))
async def test_a_low_window_tells_both_times_of_a_step_and_reaches_every_part(play, name) -> None:
    """The step of a mixture of experts has more parts than a window of 24 rows holds below the layout."""
    app = await play((PLANS / f"{name}.toml").read_text(encoding="utf-8"), "5")
    predicted = float(app.session.shown.estimate.step.predicted_step_time)
    title = next(line for line in app.seen if line.startswith("── one step"))
    assert f"{predicted:.4g} s predicted" in title
    assert " s planned" in title
    assert sum("node " in line for line in app.seen) >= 1
    assert "row 1 of " in app.seen[-4]
    parts = [row.id for row in app.rows() if row.id.startswith("parallelism.waterfall.")]
    app = await play((PLANS / f"{name}.toml").read_text(encoding="utf-8"), "5 " + " ".join("j" * (len(parts) + 4)))
    last = next(place for place, row in enumerate(app.rows()) if row.id == parts[-1])
    assert "".join(span.text for span in app.rows()[last].line).strip()[:12] in "\n".join(app.seen)


@pytest.mark.parametrize(
    ("nodes", "size", "drawn", "told"),
    [
        (4, (160, 60), [0, 1, 2, 3], "mesh, 4 nodes x 8"),
        (5, (160, 60), [0, 1, 4], "mesh, 5 nodes x 8, 3 of them here"),
        (1, (160, 60), [0], "mesh, 1 node x 8"),
    ],
)
async def test_the_map_has_all_of_four_nodes_and_says_what_it_leaves_out(
    play, example, nodes: int, size: tuple[int, int], drawn: list[int], told: str
) -> None:
    app = await play(example.replace("nodes = 128", f"nodes = {nodes}"), "5", size=size)
    assert [int(line.split()[1]) for line in app.seen if line.split()[:1] == ["node"]] == drawn
    assert any(f"{told} " in line for line in app.seen)


def test_a_low_window_draws_as_many_nodes_as_it_has_lines_for() -> None:
    from trainplan_tui.panes.mesh import _nodes

    assert [_nodes(4, most) for most in (1, 2, 3, 4)] == [[0], [0, 3], [0, 1, 3], [0, 1, 2, 3]]
    assert _nodes(128, 4) == [0, 1, 127]


@pytest.mark.parametrize(
    ("keys", "told"), [("5", "v what is sent, decision walk   F find"), ("5 v v", "v layout   F find")]
)
async def test_the_heading_says_what_else_there_is_where_no_column_has_a_head(
    play, example, keys: str, told: str
) -> None:
    assert (await play(example, keys)).seen[2].rstrip().endswith(told)


async def test_a_high_window_has_the_heads_of_the_ledgers_columns(play, example) -> None:
    assert "rests on" in (await play(example, "5", size=(160, 45))).seen[2]


@pytest.mark.parametrize("view", [0, 1, 2])
async def test_the_side_shows_what_the_view_at_the_left_does_not(play, example, view: int) -> None:
    app = await play(example, "5" + " v" * view, size=(160, 60))
    left, right = (
        [line[:80].strip("\u2500 \u2502") for line in app.seen],
        [line[80:].strip("\u2500 \u2502\u251c") for line in app.seen],
    )
    for title in ("sent in one step", "one step, ", "mesh, "):
        assert sum(line.startswith(title) for line in left + right) == 1 or view == 2, title
    assert any(line.startswith("sent in one step") for line in right) == (view != 1)
    assert any(line.startswith("one step, ") for line in right) == (view > 0)


async def test_the_picture_alone_leaves_nothing_out(play, example) -> None:
    for keys, titles in (("5 z", ("sent in one step", "one step, ", "mesh, ")), ("2 z", ("passes, most first",))):
        app = await play(example, keys, size=(160, 45))
        for title in titles:
            assert any(line.strip("\u2500 ").startswith(title) for line in app.seen), title


async def test_labels_with_commas_stand_apart_in_what_a_field_moves(play, example) -> None:
    """`predicted step, predicted step, low, predicted step, high` is three labels or five."""
    fabric = example.replace("[cluster]", '[cluster]\nscale_out_bandwidth = "50GB/s"', 1)
    app = await play(fabric, "5 / fabric enter", size=(110, 24))
    said = " ".join(line.strip() for line in app.seen[-4:])
    assert re.search(r"Moves \d+ rows: [^;,]+; predicted step, low; predicted step, high; \.\.\. ", said)


@pytest.mark.parametrize("keys", ["!", "/ tensor esc ! enter"])
async def test_a_finding_leads_into_the_pane_that_it_names(play, example, keys: str) -> None:
    """Memory shows the degrees too, before Parallelism; a finding of the layout is told of as one of 5 Mesh."""
    broken = example.replace("\ntensor = 1", "\ntensor = 7")
    app = await play(broken, keys)
    assert (app.cursor.shown_pane.module, app.row().id) == ("mesh", "parallelism.tensor")


async def test_a_field_of_the_low_grid_wears_the_sign_of_its_finding(play, example) -> None:
    """The grid has two fields a row: the worse finding of both stands in front."""
    app = await play(example.replace("tensor = 1", "tensor = 3"), "5")
    (row,) = [line for line in app.seen if "tensor        [" in line]
    assert row[1] == "E", row
