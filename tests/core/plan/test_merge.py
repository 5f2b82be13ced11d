"""Three texts of one plan: who changed what, and what is written for each choice."""

from __future__ import annotations

import pytest

from trainplan.plan.differences import differences
from trainplan.plan.merge import SIDES, before_edits, contested, merged, recovered

READ = """\
# head
a = 1   # one
[t]
x = "p"
[[data.sources]]
name = "web"
weight = 0.8
[[data.sources]]
name = "code"
weight = 0.2
"""


def sides(disk: str, yours: str) -> list[tuple[object, ...]]:
    return [(row.path, row.by_disk, row.by_you, row.preset) for row in contested(READ, disk, yours)]


@pytest.mark.parametrize(
    ("disk", "yours", "expected"),
    [
        ("a = 2", "a = 1", [(("a",), True, False, "disk")]),
        ("a = 1", "a = 3", [(("a",), False, True, "yours")]),
        ("a = 2", "a = 3", [(("a",), True, True, "yours")]),
        ("a = 2", "a = 2", []),
    ],
)
def test_who_changed_it_decides_what_is_kept(disk: str, yours: str, expected: object) -> None:
    assert sides(READ.replace("a = 1", disk), READ.replace("a = 1", yours)) == expected


def test_a_side_kept_everywhere_says_what_that_side_says() -> None:
    disk = READ.replace("a = 1", "a = 2").replace("0.8", "0.7").replace('[t]\nx = "p"\n', "")
    yours = READ.replace("a = 1   # one", "b = true").replace("0.2", "0.3").replace('"p"', '"q"')
    rows = contested(READ, disk, yours)
    for side, text in zip(SIDES, (disk, yours, READ), strict=True):
        assert not differences(text, merged(disk, [(row, side) for row in rows]))
    assert merged(disk, [(row, "disk") for row in rows]) == disk


def test_a_table_removed_on_one_side_and_edited_on_the_other_is_one_field() -> None:
    rows = contested(READ, READ.replace('[t]\nx = "p"\n', ""), READ.replace('"p"', '"q"'))
    assert [(row.path, row.both) for row in rows] == [(("t",), True)]


def test_a_list_with_other_entries_is_one_field() -> None:
    disk = READ.replace(
        '[[data.sources]]\nname = "web"', '[[data.sources]]\nname = "new"\n[[data.sources]]\nname = "web"'
    )
    rows = contested(READ, disk, READ.replace("0.2", "0.3"))
    assert [(row.path, row.disk, row.yours, row.both) for row in rows] == [
        (("data", "sources"), "3 entries", "2 entries", True)
    ]


def test_a_journal_knows_what_the_file_said() -> None:
    yours = READ.replace("a = 1", "a = 3").replace("0.2", "0.3")
    edits = differences(READ, yours)
    before = before_edits(READ, edits)
    rows = recovered(READ.replace("a = 1", "a = 2"), edits, before)
    assert [(row.path, row.both, row.preset) for row in rows] == [
        (("a",), True, "yours"),
        (("data", "sources", 1, "weight"), False, "yours"),
    ]
    (moved,) = recovered(READ.replace('"code"', '"math"').replace("a = 1", "a = 3"), edits, before)
    assert (moved.moved, moved.both, moved.preset) == (True, True, "disk")
    assert not recovered(yours, edits, before)
