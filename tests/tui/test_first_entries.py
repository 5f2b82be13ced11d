"""The first entry of every list of a plan can be made from the keyboard, and is found by the list's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest

from trainplan.plan.plan import Plan
from trainplan.plan.tables import Table

BARE = """format = 1
[model]
preset = "llama-3.1-8b"
[data]
train_tokens = "15T"
sequence_length = 8192
sampler = "megatron-blended"
[batch]
global_batch_sequences = 512
[cluster]
accelerator = "h100-sxm"
nodes = 128
"""
SOURCED = BARE + '[[data.sources]]\nname = "web"\nunique_tokens = "20T"\nweight = 0.75\n'
SOURCED += '[[data.sources]]\nname = "code"\nunique_tokens = "2T"\nweight = 0.25\n'
STAGED = SOURCED + '[[data.stages]]\nname = "main"\nuntil_tokens = "14T"\n[[data.stages]]\nname = "anneal"\n'

Seen = Callable[[Plan], object]


def weights(plan: Plan) -> object:
    return [None if one.weights is None else {k: float(v) for k, v in one.weights.items()} for one in plan.data.stages]


def batches(plan: Plan) -> list[tuple[float, float]]:
    return [(float(one.from_tokens or 0), float(one.global_batch_sequences or 0)) for one in plan.batch.schedule]


def own(plan: Plan) -> object:
    return [(one.rung, one.after, [check.metric for check in one.checks]) for one in plan.pilot]


LISTS: dict[str, tuple[str, str, Seen, object]] = {
    "data.sources": (
        BARE,
        ": add space a space source enter web space 20T enter",
        lambda plan: [one.name for one in plan.data.sources],
        ["web"],
    ),
    "data.stages": (
        SOURCED,
        ": add space a space stage enter main space 14T enter",
        lambda plan: [one.name for one in plan.data.stages],
        ["main"],
    ),
    "batch.schedule": (
        SOURCED,
        ": add space an space entry enter 250B space 1024 enter",
        batches,
        [(0, 512), (250e9, 1024)],
    ),
    "evaluation.tasks": (
        BARE,
        ": add space an space evaluation enter mmlu space 5 enter",
        lambda plan: [one.task for one in plan.evaluation.tasks],
        ["mmlu"],
    ),
    "pilot": (
        BARE,
        ": add space a space rung enter loader enter enter enter stalls enter <= space 0.1 enter",
        own,
        [("loader", "one-device", ["stalls"])],
    ),
    "pilot.checks": (
        BARE,
        ": add space a space check enter unit enter spikes enter <= space 0.1 enter",
        lambda plan: plan.pilot[0].checks[-1].metric,
        "spikes",
    ),
}
"""A plan that lacks the list, the keys from the Overview, and what they make."""
BY_SIGNING = {"readiness", "readiness.evidence"}
"""Lists that acts of the record write: `S`, `W` and `a` in Readiness."""


def lists(table: type[Table], path: str = "") -> set[str]:
    found = set[str]()
    for name, field in table.model_fields.items():
        here, inner = f"{path}{name}", _table(field.annotation)
        if inner is None:
            continue
        found |= {here} if "tuple" in repr(field.annotation) else set()
        found |= lists(inner, f"{here}.")
    return found


def _table(annotation: Any) -> type[Table] | None:
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return annotation
    return next((found for part in get_args(annotation) if (found := _table(part)) is not None), None)


def test_every_list_of_the_format_is_tried_here() -> None:
    assert lists(Plan) == set(LISTS) | BY_SIGNING


@pytest.mark.parametrize("name", LISTS)
async def test_the_first_entry_of_a_list_is_made_by_a_command(play, name: str) -> None:
    text, keys, seen, expected = LISTS[name]
    app = await play(text, keys)
    assert seen(app.session.history.now.plan) == expected, app.seen
    assert not app.sheets
    row = app.row()
    assert row is not None
    assert row.id.startswith(name.split(".", maxsplit=1)[0])
    assert "u takes it back" in " ".join(app.seen)


@pytest.mark.parametrize("name", ["data.sources", "data.stages", "batch.schedule", "evaluation.tasks"])
@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_an_empty_list_has_a_row_found_by_its_name_whose_enter_adds_the_first(play, name: str, size) -> None:
    text, keys, seen, expected = LISTS[name]
    row = await play(BARE, f"/ {name} enter", size=size)
    assert row.row().id == name
    assert "enter add" in row.seen[-1]
    typed = keys.split(" enter ", 1)[1]
    app = await play(text, f"/ {name} enter enter {typed}", size=size)
    assert seen(app.session.history.now.plan) == expected


async def test_a_adds_one_more_of_what_the_cursor_is_on(play) -> None:
    app = await play(STAGED, "/ stage space anneal enter a last space 14.9T enter")
    assert [one.name for one in app.session.history.now.plan.data.stages] == ["main", "anneal", "last"]
    scheduled = SOURCED.replace(
        "global_batch_sequences = 512\n",
        "global_batch_sequences = 512\nschedule = [{ from_tokens = 0, global_batch_sequences = 512 },"
        ' { from_tokens = "2T", global_batch_sequences = 1024 }]\n',
    )
    app = await play(scheduled, "/ batch space from enter a 1T space 768 enter")
    assert batches(app.session.history.now.plan) == [(0, 512), (1e12, 768), (2e12, 1024)]
    app = await play(scheduled, "/ batch space from space 2T enter D")
    assert batches(app.session.history.now.plan) == [(0, 512)]
    app = await play(scheduled, "/ batch space from space 2T enter l enter 2048 enter")
    assert batches(app.session.history.now.plan) == [(0, 512), (2e12, 2048)]


async def test_a_stage_gets_weights_of_its_own_that_move_no_other_stage(play) -> None:
    app = await play(STAGED, "/ stage space anneal enter : mixture: enter")
    assert weights(app.session.history.now.plan) == [None, {"web": 0.75, "code": 0.25}]
    app = await play(STAGED, ": mixture: enter anneal enter enter 0.5 enter")
    assert weights(app.session.history.now.plan) == [None, {"web": 0.5, "code": 0.5}]
    app = await play(STAGED, ": mixture: enter nosuch enter")
    assert weights(app.session.history.now.plan) == [None, None]
    assert any("no stage nosuch" in line for line in app.seen)


async def test_fields_of_entries_are_found_by_their_names(play) -> None:
    app = await play(STAGED, "/ web space max space passes enter 3 enter")
    assert app.session.history.now.plan.data.sources[0].max_passes == 3


async def test_evidence_is_attached_from_any_pane(play) -> None:
    app = await play(BARE, ": add space evidence enter tokenizer enter")
    assert any("evidence of tokenizer" in line for line in app.seen)
