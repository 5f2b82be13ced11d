"""The text of a formula, read from its body when someone asks: the body is the text, so the two cannot disagree."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from functools import cache

from trainplan.quantity.figure import Card


@cache
def _body(card: Card) -> tuple[tuple[tuple[str, str], ...], str]:
    """Named steps before the return expression, and the expression itself."""
    source = textwrap.dedent(inspect.getsource(card.body))
    function = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    steps: list[tuple[str, str]] = []
    for node in function.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            steps.append((node.targets[0].id, ast.unparse(node.value)))
        if isinstance(node, ast.Return) and node.value is not None:
            return tuple(steps), ast.unparse(node.value)
    return tuple(steps), ""


def text(card: Card) -> str:
    """The formula as people read it: `a x b / c`, with its named steps after it."""
    if card.name in ("total", "largest") and card.source == "definition":
        return " + ".join(card.names) if card.name == "total" else f"largest of {', '.join(card.names)}"
    steps, result = _body(card)
    where = "".join(f", {name} = {_readable(step)}" for name, step in steps)
    return _readable(result) + where


def put_in(card: Card, values: Mapping[str, str]) -> str:
    """The formula with the numbers put in for its names; `values` are the inputs as people read them."""
    if card.name in ("total", "largest") and card.source == "definition":
        glue = " + " if card.name == "total" else ", "
        return glue.join(values[name] for name in card.names)
    steps, result = _body(card)
    expression = result
    for name, step in reversed(steps):
        expression = _replaced(expression, {name: f"({step})"})
    return _readable(_replaced(expression, values))


def _replaced(expression: str, values: Mapping[str, str]) -> str:
    """Names exchanged for texts; what is no name stays."""
    import re

    return re.sub(r"[A-Za-z_]\w*", lambda found: values.get(found[0], found[0]), expression)


def _readable(expression: str) -> str:
    """Python's signs as the field writes them: `x` for a product, no `.0` behind whole numbers."""
    import re

    plain = re.sub(r"(?<![\w.])(\d[\d_]*)\.0(?!\d)", r"\1", expression)
    return plain.replace(" ** ", "^").replace(" * ", " x ")


def sentence(card: Card) -> str:
    """What is counted and what is not: the formula's docstring in one line."""
    return " ".join((inspect.getdoc(card.body) or "").split())
