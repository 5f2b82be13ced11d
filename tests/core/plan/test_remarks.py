"""A comment beside a value that was changed is named; one that was changed too, or stands beside another, is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainplan.plan.edit import edited
from trainplan.plan.read import open_plan
from trainplan.plan.remarks import unrevised

PLAN = Path(__file__).resolve().parents[3] / "plans" / "llama-3.1-8b.toml"
TEXT = """[utilization]
value = 0.40   # the pilot of March
source = "a # in a string"   # kept
low = 0.36

[[data.sources]]
name = "web"
weight = 0.8   # assumed
[[data.sources]]
name = "math"
weight = 0.2   # assumed
[[data.stages]]
weights = { web = 0.5, math = 0.5 }   # from the paper
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("0.40", "0.45", (("utilization.value", "# the pilot of March"),)),
        ("0.40   # the pilot of March", "0.45   # the pilot of June", ()),
        ("0.36", "0.30", ()),
        ('"a # in a string"', '"b # in a string"', (("utilization.source", "# kept"),)),
        ("0.2 ", "0.3 ", (("data.sources.math.weight", "# assumed"),)),
        ("web = 0.5", "web = 0.6", (("data.stages.0.weights.web", "# from the paper"),)),
        ('[[data.sources]]\nname = "web"\nweight = 0.8   # assumed\n', "", ()),
        ("", "", ()),
    ],
)
def test_only_comments_beside_what_changed(old: str, new: str, told: tuple[tuple[str, str], ...]) -> None:
    assert unrevised(TEXT, TEXT.replace(old, new, 1)) == told


def test_a_comment_behind_the_comma_of_a_list_is_its_entrys() -> None:
    """`{ name = "web", weight = 0.8 }, # assumed`: the comment stands behind the comma, and nobody was told."""
    text = 'sources = [\n  { name = "web", weight = 0.8 }, # of March\n  { name = "math", weight = 0.2 },\n]\n'
    assert unrevised(text, text.replace("0.8", "0.7")) == (("sources.web.weight", "# of March"),)
    assert unrevised(text, text.replace("0.2", "0.3")) == ()


def test_an_edit_keeps_the_comment_and_it_is_named() -> None:
    opened = open_plan(PLAN)
    after = edited(opened.source.text, opened.plan, "utilization.value", "0.45")
    (told,) = unrevised(opened.source.text, after.text)
    assert told[0] == "utilization.value"
    assert told[1] in after.text
