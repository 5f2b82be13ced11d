"""Lists that Megatron takes as text, `([0]*3+[1]*58)` or `[1,0,1]`, read without evaluating anything."""

from __future__ import annotations

import ast
from typing import Final

MOST: Final = 10_000


def pattern_of(text: str) -> list[int] | None:
    """The whole numbers of a list expression of brackets, commas, `+` and `*`; None where it is none."""
    if len(text) > 1_000:
        return None
    try:
        found = _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return None
    return found if isinstance(found, list) else None


def _value(node: ast.expr) -> list[int] | int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.List):
        return [one for one in map(_value, node.elts) if isinstance(one, int)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Add) and isinstance(left, list) and isinstance(right, list):
            return _short([*left, *right])
        if isinstance(node.op, ast.Mult) and isinstance(left, int) is not isinstance(right, int):
            times, items = (left, right) if isinstance(left, int) else (right, left)
            if isinstance(times, int) and isinstance(items, list) and len(items) * times <= MOST:
                return items * times
    raise ValueError


def _short(found: list[int]) -> list[int]:
    if len(found) > MOST:
        raise ValueError
    return found
