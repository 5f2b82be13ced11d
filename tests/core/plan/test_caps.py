"""What a text may ask of the parser: the quick look at counts never lets through what the look at tokens would stop."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trainplan.plan import caps
from trainplan.plan.syntax import Mistake, parsed

PIECES = st.sampled_from(
    ["a", ".", "[", "]", "{", "}", "=", '"', "'", '"""', "#", "\n", "\r", " ", "9" * 130, "." * 33, "1_0"]
)
TEXTS = st.lists(PIECES, max_size=120).map("".join)


@given(TEXTS)
@example("a" + ".a" * 32 + " = 1")
@example("a = " + "[" * 65 + "]" * 65)
@example("a = " + "9" * 129)
@example("a" + "\r.a" * 33)
def test_what_counts_let_through_has_no_excess(text: str) -> None:
    known = caps.values_of(text)
    asked = caps.excess(text)
    assert known is None if asked else known == _loaded(text)


def _loaded(text: str) -> dict[str, object] | None:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None


@pytest.mark.parametrize(
    "text",
    ["a" + ".a" * 40 + " = 1", "a = " + "[" * 70 + "]" * 70, "a = " + "9" * 200, "a = ", "a = 1\na = 2", "[a"],
)
def test_what_has_no_values_has_a_mistake(text: str) -> None:
    assert caps.values_of(text) is None
    assert isinstance(parsed(text), Mistake)


def test_a_plan_of_many_brackets_is_looked_at_by_tokens() -> None:
    text = "".join(f'[[data.sources]]\nname = "s{number}"\n' for number in range(60))
    assert caps.values_of(text) == tomllib.loads(text)
