"""Sentences over as many rows as they take. A word stays whole, an option such as --tensor-model-parallel-size among them."""

from __future__ import annotations

from textwrap import wrap


def folded(text: str, width: int, hang: int = 0) -> list[str]:
    """Rows of a width in cells, one at least; rows after the first begin `hang` cells further in."""
    return wrap(text, max(1, width), subsequent_indent=" " * hang, break_on_hyphens=False) or [""]
