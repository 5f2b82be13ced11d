"""Several names in one sentence, so that it is seen where each ends: labels and sources may have commas of their own."""

from __future__ import annotations

from collections.abc import Iterable


def series(names: Iterable[str]) -> str:
    """Names one after the other: `web, code`; with a semicolon between all where one of them has a comma."""
    told = list(names)
    return ("; " if any("," in name for name in told) else ", ").join(told)
