"""Differences between two texts, and the same text again from them."""

import tomllib
from collections.abc import Callable

from trainplan.plan.differences import differences, with_differences
from trainplan.plan.literals import same
from trainplan.plan.places import scan
from trainplan.plan.splice import append_entry, remove_entry, remove_value, set_value

PLAN = """\
format = 1
[data]
train_tokens = "14.8T"  # all
packing = "pad"
[[data.sources]]
name = "web"
[[data.sources]]
name = "code"
[[data.sources]]
name = "math"
"""


def test_equal_texts_do_not_differ() -> None:
    assert differences(PLAN, PLAN.replace("# all", "# others")) == {}


def test_each_field_that_differs_is_named_as_it_is_spelled() -> None:
    after = remove_value(set_value(PLAN, ("data", "train_tokens"), "'15.6T'"), ("data", "packing"))
    after = set_value(after, ("batch", "micro"), "1_0")
    assert differences(PLAN, after) == {
        ("data", "train_tokens"): "'15.6T'",
        ("data", "packing"): None,
        ("batch", "micro"): "1_0",
    }


def test_differences_make_the_other_text_again() -> None:
    after = remove_entry(remove_entry(PLAN, ("data", "sources", 2)), ("data", "sources", 0))
    after = append_entry(set_value(after, ("name",), '"x"'), ("pilot",), {"rung": '"unit"', "checks": "[{ a = 1 }]"})
    again = with_differences(PLAN, differences(PLAN, after))
    assert same(tomllib.loads(again), tomllib.loads(after))
    assert "# all" in again
    assert with_differences(again, differences(again, PLAN)).count("[[data.sources]]") == 3


def test_generated_texts_become_each_other(toml_document: Callable[[int], str]) -> None:
    for seed in range(40):
        before = toml_document(seed)
        after = before
        for path in list(scan(before).values)[seed % 5 :: 12]:
            after = set_value(after, path, '"other"') if path in scan(after).values else after
        again = with_differences(before, differences(before, after))
        assert same(tomllib.loads(again), tomllib.loads(after)), seed
