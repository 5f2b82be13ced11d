"""One edit: paths by name and index, only the value's span changes, several together are one edit, and nothing wrong is kept."""

from __future__ import annotations

import pytest

from trainplan.plan.edit import (
    UnknownPath,
    edited,
    literal_for,
    literal_of_typed,
    resolve,
    set_all,
    with_literal,
    without,
    written_place,
)
from trainplan.plan.read import Unusable, plan_of_text

TEXT = """\
# a comment that stays
format = 1

[data]            # of the table
train_tokens = "15.6T"   # as people write it

[[data.sources]]
name = "web"
weight = 0.9

[[data.sources]]
name = "math"
weight = 0.1

[[pilot]]
rung = "one-node"
[[pilot.checks]]
metric = "speed"
pass_if = ">= 100"
"""
PLAN = plan_of_text(TEXT, "plan.toml")


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ("data.train_tokens", ("data", "train_tokens")),
        ("data.sources.math.weight", ("data", "sources", 1, "weight")),
        ("data.sources.0.weight", ("data", "sources", 0, "weight")),
        ("pilot.one-node.checks.speed.measured", ("pilot", 0, "checks", 0, "measured")),
        ("model.moe.num_experts", ("model", "moe", "num_experts")),
        ("cluster.nodes", ("cluster", "nodes")),
    ],
)
def test_paths_go_by_name_and_by_index(path: str, keys: tuple[str | int, ...]) -> None:
    assert resolve(path, PLAN) == keys


@pytest.mark.parametrize(
    ("path", "message", "nearest"),
    [
        ("data.train_token", "unknown field data.train_token. Nearest: train_tokens", "train_tokens"),
        ("dat.train_tokens", "unknown field dat. Nearest: data", "data"),
        ("data.sources.mat.weight", "no entry mat in sources. Nearest: math", "math"),
        ("data.sources.2.weight", "no entry 2 in sources. Known here: web, math", ""),
        (
            "data.sources.\N{SUPERSCRIPT TWO}.weight",
            "no entry \N{SUPERSCRIPT TWO} in sources. Known here: web, math",
            "",
        ),
        (f"data.sources.{'9' * 5000}.weight", f"no entry {'9' * 5000} in sources. Known here: web, math", ""),
        ("data.stages.main.until_tokens", "no entry main in stages. There are none", ""),
        ("data.sources.web.wieght", "unknown field data.sources.web.wieght. Nearest: weight", "weight"),
    ],
)
def test_unknown_path_names_the_nearest(path: str, message: str, nearest: str) -> None:
    with pytest.raises(UnknownPath) as caught:
        resolve(path, PLAN)
    assert (str(caught.value), caught.value.nearest) == (message, nearest)


def test_only_the_span_of_the_value_changes() -> None:
    found = edited(TEXT, PLAN, "data.train_tokens", "14.8T")
    assert found.text == TEXT.replace('"15.6T"', '"14.8T"')
    assert found.plan.data.train_tokens == 14.8e12


def test_entry_is_edited_by_name() -> None:
    found = edited(TEXT, PLAN, "data.sources.math.weight", "0.2")
    assert found.text == TEXT.replace("weight = 0.1", "weight = 0.2")
    assert found.plan.data.sources[1].weight == 0.2


def test_field_that_is_not_written_is_added_to_its_table() -> None:
    found = edited(TEXT, PLAN, "data.sequence_length", "8192")
    assert found.plan.data.sequence_length == 8192
    assert found.text.replace("sequence_length = 8192\n", "") == TEXT


def test_table_that_is_not_written_is_added() -> None:
    found = edited(TEXT, PLAN, "cluster.nodes", "16")
    assert found.plan.cluster.nodes == 16
    assert found.text.startswith(TEXT.rstrip("\n"))


def test_field_is_taken_out() -> None:
    found = without(TEXT, PLAN, "data.sources.web.weight")
    assert found.plan.data.sources[0].weight is None
    assert "# a comment that stays" in found.text
    assert 'train_tokens = "15.6T"   # as people write it' in found.text


def test_wrong_value_is_said_and_the_old_text_stays() -> None:
    with pytest.raises(Unusable) as caught:
        edited(TEXT, PLAN, "data.train_tokens", "-3")
    (error,) = caught.value.errors
    assert error.path == "data.train_tokens"
    assert plan_of_text(TEXT, "plan.toml") == PLAN


@pytest.mark.parametrize(
    ("typed", "literal"),
    [
        ("3", "3"), ("0.40", "0.40"), ("15.6T", '"15.6T"'), ("true", "true"), ("2026-12-07", "2026-12-07"),
        ('"text"', '"text"'), ("megatron", '"megatron"'), ("a = 1", '"a = 1"'), ("1\ny = 2", '"1\\ny = 2"'),
        ("[1, 2]", "[1, 2]"), ("", '""'), ("8_192", "8_192"), ("say \"so\"", '"say \\"so\\""'),
    ],
)  # fmt: skip
def test_what_is_toml_is_taken_as_toml_and_the_rest_as_text(typed: str, literal: str) -> None:
    assert literal_of_typed(typed) == literal


def test_box_of_a_text_field_takes_text() -> None:
    assert literal_for("name", "12") == '"12"'
    assert literal_for("utilization.source", "true") == '"true"'
    assert literal_for("data.document_mask", "yes") == "true"
    assert literal_for("data.document_mask", "No") == "false"
    assert literal_for("cluster.nodes", "12") == "12"


def test_several_settings_are_one_edit() -> None:
    """The first alone would be unusable: only the last state has to be a plan."""
    found = set_all(TEXT, PLAN, ["data.sources.1.name=web", "data.sources.0.name=books"])
    assert [source.name for source in found.plan.data.sources] == ["books", "web"]


@pytest.mark.parametrize(
    ("assignment", "place", "message"),
    [
        ("cluster.nodes", (1, 1), "no '='. PATH=VALUE, such as parallelism.tensor=2"),
        ("cluster.node=3", (1, 1), "unknown field cluster.node. Nearest: nodes"),
        ("cluster.nodes=0", (1, 15), "nodes is 0. A whole number from 1 to 1,000,000,000; nearest: 1"),
    ],
)
def test_wrong_setting_is_placed_in_its_argument(assignment: str, place: tuple[int, int], message: str) -> None:
    with pytest.raises(Unusable) as caught:
        set_all(TEXT, PLAN, [assignment])
    (error,) = caught.value.errors
    assert (error.file, error.line, error.column, error.message) == ("--set", *place, message)


def test_all_wrong_settings_are_said_with_their_numbers() -> None:
    with pytest.raises(Unusable) as caught:
        set_all(TEXT, PLAN, ["cluster.nodes=4", "nope", "cluster.nods=4", "data.train_tokens=1T"])
    assert [(error.file, error.line) for error in caught.value.errors] == [("--set", 2), ("--set", 3)]


def test_value_at_resolved_keys() -> None:
    found = with_literal(TEXT, ("data", "sources", 0, "weight"), "0.5")
    assert found.plan.data.sources[0].weight == 0.5


def test_line_of_a_written_field() -> None:
    assert written_place(TEXT, ("data", "train_tokens")) == 5
    assert written_place(TEXT, ("data", "sources", 1, "weight")) == 13
    assert written_place(TEXT, ("cluster", "nodes")) is None


def test_edit_and_edit_back_gives_the_same_bytes() -> None:
    there = edited(TEXT, PLAN, "data.train_tokens", "14.8T")
    back = edited(there.text, there.plan, "data.train_tokens", "15.6T")
    assert back.text == TEXT
