"""Laws of every formula: a card that says what it is, a body that a person can read, and one value for scalars and columns."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import textwrap
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import trainplan.formulas

UNITS = {"1", "bytes", "bytes/s", "s", "h", "FLOP", "FLOP/s", "tokens", "tokens/s", "currency", "currency/h", "J", "W"}
ALLOWED = {"where", "maximum", "minimum", "ceil", "floor", "sqrt", "log2", "exp", "power", "lookup"}
ALLOWED |= {"greatest_divisor", "poisson_bound"}


def formulas() -> dict[str, Any]:
    """Every formula by module and name."""
    found: dict[str, Any] = {}
    for module in pkgutil.iter_modules(trainplan.formulas.__path__):
        loaded = importlib.import_module(f"trainplan.formulas.{module.name}")
        for name, item in vars(loaded).items():
            if hasattr(item, "card") and item.__module__ == loaded.__name__:
                found[f"{module.name}.{name}"] = item
    return found


FORMULAS = formulas()
EACH = pytest.mark.parametrize("name", sorted(FORMULAS))

AMOUNTS = st.one_of(
    st.integers(min_value=0, max_value=4096).map(float),
    st.floats(min_value=2.0**-10, max_value=2.0**20, allow_nan=False, width=32),
)


@EACH
def test_card_says_what_is_counted_its_unit_and_its_source(name: str) -> None:
    formula = FORMULAS[name]
    assert formula.card.unit in UNITS, (
        f"{name} has the unit {formula.card.unit}. A base unit is right: {sorted(UNITS)}."
    )
    assert formula.card.source, f"{name} has no source. Cite where it was read, or say definition."
    assert len(formula.__doc__ or "") > 20, f"{name} has no docstring. Say what is counted, and who counts otherwise."


@EACH
def test_body_is_named_steps_and_one_expression(name: str) -> None:
    body = _function(FORMULAS[name]).body[1:]
    assert all(isinstance(step, ast.Assign) for step in body[:-1]), f"{name} has steps that are not named values."
    assert isinstance(body[-1], ast.Return), f"{name} does not end in its one expression."


@EACH
def test_body_uses_only_the_words_of_numeric(name: str) -> None:
    for node in (node for step in _function(FORMULAS[name]).body for node in ast.walk(step)):
        if isinstance(node, ast.Call):
            word = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
            assert word in ALLOWED, f"{name} calls {word}. trainplan.quantity.numeric has the words that columns know."
        assert not isinstance(node, ast.IfExp | ast.BoolOp | ast.Pow), f"{name}: use where, &, and products instead."


@EACH
@given(data=st.data())
@settings(max_examples=25)
def test_scalars_and_columns_agree_to_the_last_bit(name: str, data: st.DataObject) -> None:
    formula = FORMULAS[name]
    row = st.tuples(*(AMOUNTS for _ in formula.card.names))
    rows = data.draw(st.lists(row, min_size=2, max_size=4))
    try:
        scalars = [float(formula(*row)) for row in rows]
    except (ZeroDivisionError, OverflowError, ValueError):
        assume(False)
        return
    with np.errstate(all="ignore"):
        column = formula(*(np.array(values) for values in zip(*rows, strict=True)))
    assert np.array_equal(np.broadcast_to(column, len(rows)), np.array(scalars), equal_nan=True)


def _function(formula: Any) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(formula.card.body))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree
