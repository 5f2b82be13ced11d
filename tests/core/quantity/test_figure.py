"""Laws of figures: what they remember, what they refuse to mix, what blocks them, and that their text is what they compute."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trainplan.estimation import Estimate, estimate
from trainplan.plan.read import open_plan
from trainplan.quantity import cardtext, numeric
from trainplan.quantity.figure import (
    KINDS,
    Blocked,
    Card,
    Choice,
    Figure,
    Given,
    blocked,
    given,
    largest,
    require,
    total,
)
from trainplan.quantity.formula import formula, named_sum
from trainplan.views.explain import Node, tree

PLANS = sorted((Path(__file__).resolve().parents[3] / "plans").glob("*.toml"))


@formula("s", source="definition")
def ratio(size: float, speed: float) -> float:
    """A size over a speed, for these tests."""
    return size / speed


@formula("1", source="somewhere", verified=False)
def product(a: float, b: float) -> float:
    """A product of two numbers, for these tests."""
    return a * b


def field(value: float, kind: str = "file", *, verified: bool = True) -> Figure:
    return given("a.field", value, "1", "plan file", kind=kind, verified=verified, is_field=True)


def test_figure_remembers_its_card_and_inputs() -> None:
    size, speed = field(6.0), field(3.0)
    found = ratio(size, speed)
    assert (found, found.unit) == (2.0, "s")
    assert isinstance(found.origin, Card)
    assert dict(found.named_inputs()) == {"size": size, "speed": speed}
    assert [item is size for item in found.inputs] == [True, False]


def test_figures_go_by_name_too() -> None:
    found = ratio(speed=field(3.0), size=field(6.0))
    assert (float(found), [float(item) for item in found.inputs]) == (2.0, [6.0, 3.0])


def test_bare_numbers_give_a_bare_number() -> None:
    assert type(ratio(6.0, 3.0)) is float


@pytest.mark.parametrize("bare", [3.0, 3])
def test_figure_mixed_with_a_bare_number_is_a_type_error(bare: float) -> None:
    with pytest.raises(TypeError, match="speed is a bare number among figures"):
        ratio(field(6.0), bare)


def test_arithmetic_on_a_figure_is_a_bare_float() -> None:
    """So a sum without a story cannot come through the door of a table."""
    assert type(field(1.0) + field(2.0)) is float


def test_blocked_input_comes_back_before_the_body_runs() -> None:
    assert ratio(blocked("missing:a.field"), field(0.0)).code == "missing:a.field"  # type: ignore[attr-defined]


def test_first_blocked_input_is_the_reason_and_takes_the_unit() -> None:
    found: Any = ratio(blocked("first", "bytes"), blocked("second"))
    assert (found.code, found.unit) == ("first", "s")


@pytest.mark.parametrize(("a", "b"), [(1.0, 0.0), (1e308, 1e-300)])
def test_division_by_zero_and_overflow_block(a: float, b: float) -> None:
    found: Any = ratio(field(a), field(b))
    assert isinstance(found, Blocked)
    assert (found.code, found.unit) == ("undefined:ratio", "s")


def test_nan_blocks() -> None:
    assert isinstance(product(field(math.inf), field(0.0)), Blocked)


def test_blocked_is_false_and_a_figure_of_zero_is_no_reason() -> None:
    assert not Blocked("none")
    assert isinstance(ratio(field(0.0), field(1.0)), Figure)


@pytest.mark.parametrize("weak", KINDS)
@pytest.mark.parametrize("strong", KINDS)
def test_figure_rests_on_the_weakest_input(weak: str, strong: str) -> None:
    weakest = min(weak, strong, key=KINDS.index)
    assert ratio(field(1.0, weak), field(1.0, strong)).rests_on == weakest
    assert total(a=field(1.0, strong), b=field(1.0, weak)).rests_on == weakest


def test_verified_only_where_everything_was_read_again() -> None:
    assert ratio(field(1.0), field(1.0)).verified
    assert not ratio(field(1.0), field(1.0, verified=False)).verified
    assert not product(field(1.0), field(1.0)).verified
    assert not ratio(product(field(1.0), field(1.0)), field(1.0)).verified


def test_total_and_largest_keep_the_names() -> None:
    parts = {"weights": field(1.0), "states": field(2.0)}
    assert (float(total(**parts)), float(largest(**parts))) == (3.0, 2.0)
    assert dict(total(**parts).named_inputs()) == parts
    assert total(weights=field(1.0), states=blocked("why")).code == "why"  # type: ignore[attr-defined]


def test_sums_run_left_to_right() -> None:
    assert float(total(a=field(0.1), b=field(0.2), c=field(0.3))) == (0.1 + 0.2) + 0.3


@pytest.mark.parametrize("count", range(1, 9))
def test_a_named_sum_is_the_total_of_its_parts(count: int) -> None:
    parts = {f"part {place}": given("a part", 0.1 * (place + 1), "s", "plan file") for place in range(count)}
    found, whole = named_sum("s", *parts)(*parts.values()), total(**parts)
    assert (float(found), found.unit, found.inputs) == (float(whole), whole.unit, whole.inputs)
    assert isinstance(found.origin, Card)
    assert isinstance(whole.origin, Card)
    assert cardtext.text(found.origin) == cardtext.text(whole.origin)
    assert (found.origin.name, found.origin.source) == (whole.origin.name, whole.origin.source)


def test_a_named_sum_is_blocked_by_a_part_adds_columns_and_mixes_nothing() -> None:
    both = named_sum("1", "weights", "states")
    assert both(weights=field(1.0), states=blocked("why")).code == "why"  # type: ignore[attr-defined]
    assert both(field(1e308), field(1e308)).code == "undefined:total"  # type: ignore[attr-defined]
    np = pytest.importorskip("numpy")
    column: Any = both(np.array([1.0, 2.0]), field(3.0))
    assert column.tolist() == [4.0, 5.0]
    with pytest.raises(TypeError, match="states is a bare number"):
        both(field(1.0), 2.0)


def test_require_blocks_by_the_code_of_the_finding() -> None:
    assert require(field(1.0), True, "G1") == 1.0
    found: Any = require(field(1.0), False, "G1")
    assert isinstance(found, Blocked)
    assert (found.code, found.unit) == ("G1", "1")


def test_choice_is_a_word_with_a_story() -> None:
    choice = Choice("stage 0", "the largest of the ranks", inputs=(field(1.0),))
    assert (choice, choice.source, choice.kind) == ("stage 0", "the largest of the ranks", "file")
    assert choice.inputs[0].rests_on == "file"


def test_figure_is_pickled_as_its_number() -> None:
    assert pickle.loads(pickle.dumps(ratio(field(6.0), field(3.0)))) == 2.0


@pytest.fixture(scope="module", params=PLANS, ids=lambda path: path.stem)
def whole(request: pytest.FixtureRequest) -> Estimate:
    return estimate(open_plan(request.param).plan)


def test_text_of_every_formula_computes_its_value(whole: Estimate) -> None:
    """The text is evaluated with the words of numeric; the numbers are the figure's own inputs."""
    words = {name: getattr(numeric, name) for name in dir(numeric) if not name.startswith("_")}
    for key, value in whole.all_quantities.items():
        if isinstance(value, Figure) and isinstance(value.origin, Card):
            assert evaluated(value, words) == float(value), key


def test_numbers_put_into_a_formula_compute_its_value(whole: Estimate) -> None:
    """Whole numbers in a text are multiplied exactly, floats are not: hence the last digits."""
    words = {name: getattr(numeric, name) for name in dir(numeric) if not name.startswith("_")}
    for key, value in whole.all_quantities.items():
        if isinstance(value, Figure) and isinstance(value.origin, Card) and value.origin.name != "largest":
            filled = cardtext.put_in(value.origin, {name: repr(float(item)) for name, item in value.named_inputs()})
            counted = float(eval(plain(filled), {"__builtins__": {}}, dict(words)))
            assert counted == pytest.approx(float(value), rel=1e-12, abs=1e-12), key


def evaluated(value: Figure, words: dict[str, Any]) -> float:
    card = value.origin
    assert isinstance(card, Card)
    inputs = {name: float(item) for name, item in value.named_inputs()}
    if card.name == "total" and card.source == "definition":
        return left_to_right(inputs.values())
    if card.name == "largest" and card.source == "definition":
        return max(inputs.values())
    result, *steps = stepped(cardtext.text(card))
    known = words | inputs
    for step in steps:
        name, expression = step.split(" = ", 1)
        known[name] = eval(plain(expression), {"__builtins__": {}}, known)
    return float(eval(plain(result), {"__builtins__": {}}, known))


def left_to_right(parts: Any) -> float:
    value = 0.0
    for part in parts:
        value += part
    return value


def stepped(text: str) -> list[str]:
    """The expression and the named steps after it, split at commas outside brackets."""
    pieces, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += character
    return [piece.strip() for piece in pieces]


def plain(expression: str) -> str:
    return expression.replace(" x ", " * ").replace("^", "**")


def test_every_tree_ends_in_what_is_given_with_a_source(whole: Estimate) -> None:
    for key in whole.quantities:
        for leaf in leaves(tree(whole, key)):
            assert leaf.source, f"{key}: the leaf {leaf.name} has no source"


def leaves(node: Node) -> Iterator[Node]:
    if not node.children and not node.seen:
        yield node
    for child in node.children:
        yield from leaves(child)


def test_leaves_of_a_figure_are_given(whole: Estimate) -> None:
    def walk(value: Figure) -> Iterator[Figure]:
        yield value
        for item in value.inputs:
            yield from walk(item)

    for key, value in whole.quantities.items():
        if isinstance(value, Figure) and key in ("compute.cost", "storage.checkpoint", "compute.required_utilization"):
            ends = [item for item in walk(value) if not item.inputs]
            assert all(isinstance(item.origin, Given) and item.origin.source for item in ends)
