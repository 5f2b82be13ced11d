"""Names in one sentence."""

from __future__ import annotations

import pytest

from trainplan.labels.series import series


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["web", "code"], "web, code"),
        (["data, exposed", "wall time", "..."], "data, exposed; wall time; ..."),
        (["books, old", "web"], "books, old; web"),
        ([], ""),
    ],
)
def test_where_a_name_ends_is_seen(names: list[str], told: str) -> None:
    assert series(names) == told
