"""The Evaluation pane: tasks with what each can show; adding and removing them in place."""

from __future__ import annotations


async def test_tasks_are_added_and_removed_in_place_and_undone(play, example) -> None:
    app = await play(example, "8 a a r c - c h a l l e n g e space 2 5 enter")
    assert app.session.shown.plan.evaluation.tasks[-1].task == "arc-challenge"
    assert app.session.shown.plan.evaluation.tasks[-1].shots == 25
    assert any(line.lstrip("> ").startswith("arc-challenge") for line in app.seen)
    back = await play(example, "8 a a r c - c h a l l e n g e enter u")
    assert back.session.shown.text == example
    gone = await play(example, "8 j j j j D")
    assert [one.task for one in gone.session.shown.plan.evaluation.tasks] == ["hellaswag", "gsm8k", "humaneval"]


async def test_an_unknown_task_names_the_nearest_and_changes_nothing(play, example) -> None:
    app = await play(example, "8 a mmlux enter")
    assert app.session.shown.text == example
    assert any("mmlu" in line and "mmlux" not in line for line in app.seen[-5:])


async def test_adding_where_nothing_can_be_added_says_where(play, example) -> None:
    app = await play(example, "4 a")
    assert not app.sheets
    assert "nothing to add here" in app.seen[-1]


async def test_a_plan_without_tasks_says_so(play, example) -> None:
    app = await play(example.split("[[evaluation.tasks]]")[0], "8")
    assert any("No tasks" in line for line in app.seen)


async def test_a_time_is_said_in_one_way_in_table_ledger_and_tree(play, example: str) -> None:
    """6min 13s, as the tasks above it say theirs: not 6.212 min."""
    app = await play(example, "/ one space evaluation enter x", size=(160, 45))
    said = "\n".join(app.seen)
    assert "6min 13s" in said
    assert " min " not in said.replace("min 13s", "")
