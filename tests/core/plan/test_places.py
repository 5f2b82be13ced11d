"""Places of values, keys and headers: exact on the TOML project's own valid files, on hand cases and on random ones."""

import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainplan.plan.literals import literal_of, same
from trainplan.plan.places import Place, Span, ValuePath, scan

VALID = Path(__file__).resolve().parents[3] / "../shared/toml-test/tests"


def leaves(data: Any, above: ValuePath = ()) -> Iterator[tuple[ValuePath, Any]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    below = [leaf for key, item in items for leaf in leaves(item, (*above, key))]
    yield from below or [(above, data)]


def misplaced(text: str) -> list[ValuePath]:
    """Paths whose span does not hold the source of their value; a table that says nothing has no span."""
    places = scan(text)
    return [
        path
        for path, value in leaves(tomllib.loads(text))
        if not ((span := places.value(path)) and same(tomllib.loads(f"x = {span.of(text)}")["x"], value))
        and not (span is None and value == {} and path in ((), *places.headers))
    ]


def test_every_value_of_the_toml_project_is_placed() -> None:
    index = VALID / "files-toml-1.0.0"
    if not index.is_file():
        pytest.skip("toml-test is not beside this checkout")
    files = [line for line in index.read_text().split() if line.startswith("valid/") and line.endswith(".toml")]
    assert len(files) > 200
    texts = {file: (VALID / file).read_bytes().decode().removeprefix("\ufeff") for file in files}
    assert {file: misplaced(text) for file, text in texts.items() if misplaced(text)} == {}


HAND = '''\
format = 1
"a \\u00e9" . 'b.c' = { d = [1, { e = 2 }], f.g = 3 } # dotted, quoted
long = """
[no]
x = 1
"""
[t]  # a table
 list = [ # over lines
  1, # ]
  [ "é", 'x' ],
 ]
[[s]]
n = 1
[s.sub]
k = 2
[[s]]
n = 3
  [[s.deep]]
  z = 4
[late.one]
v = 5
[late]
w = 6
'''


@pytest.mark.parametrize(
    ("path", "source", "place"),
    [
        (("format",), "1", Place(1, 10)),
        (("a é", "b.c", "d", 0), "1", Place(2, 29)),
        (("a é", "b.c", "d", 1, "e"), "2", Place(2, 38)),
        (("a é", "b.c", "f", "g"), "3", Place(2, 50)),
        (("long",), '"""\n[no]\nx = 1\n"""', Place(3, 8)),
        (("t", "list", 0), "1", Place(9, 3)),
        (("t", "list", 1, 1), "'x'", Place(10, 10)),
        (("s", 0, "sub", "k"), "2", Place(15, 5)),
        (("s", 1, "n"), "3", Place(17, 5)),
        (("s", 1, "deep", 0, "z"), "4", Place(19, 7)),
        (("late", "one", "v"), "5", Place(21, 5)),
        (("late", "w"), "6", Place(23, 5)),
    ],
)
def test_values_by_line_and_column(path: ValuePath, source: str, place: Place) -> None:
    places = scan(HAND)
    span = places.value(path)
    assert span is not None
    assert (span.of(HAND), places.place(span)) == (source, place)


def named(span: Span | None) -> tuple[str, Place] | None:
    return (span.of(HAND), scan(HAND).place(span)) if span else None


def test_keys_are_where_their_last_part_is_written() -> None:
    places = scan(HAND)
    assert named(places.key(("a é", "b.c"))) == ("'b.c'", Place(2, 14))
    assert named(places.key(("a é", "b.c", "f", "g"))) == ("g", Place(2, 46))
    assert named(places.key(("late",))) == ("late", Place(22, 2))
    assert named(places.key(("late", "one"))) == ("one", Place(20, 7))
    assert named(places.key(("s",))) == ("s", Place(12, 3))
    assert named(places.key(("s", 1))) == ("s", Place(16, 3))
    assert places.key(("none",)) is None


def test_headers_are_the_nearest_ones_above() -> None:
    places = scan(HAND)
    assert named(places.header(("s", 0, "sub", "k"))) == ("[s.sub]", Place(14, 1))
    assert named(places.header(("s", 1, "n"))) == ("[[s]]", Place(16, 1))
    assert named(places.header(("s", 1, "absent", "deeper"))) == ("[[s]]", Place(16, 1))
    assert named(places.header(("t", "list", 0))) == ("[t]", Place(7, 1))
    assert places.header(("format",)) is None


def test_tables_have_no_value_and_arrays_come_before_their_elements() -> None:
    places = scan(HAND)
    assert places.value(("t",)) is None
    assert places.value(("s", 0)) is None
    listed = [path for path in places.paths if path[:2] == ("t", "list")]
    assert listed[:2] == [("t", "list"), ("t", "list", 0)]


def test_columns_count_characters_in_files_with_carriage_returns() -> None:
    text = 'a = 1\r\nb = ["é", 2]\r\n'
    places = scan(text)
    assert places.place(places.values["b", 1]) == Place(2, 11)


def test_random_documents_are_placed(toml_document: Callable[[int], str]) -> None:
    for seed in range(150):
        assert misplaced(toml_document(seed)) == [], seed


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUE = st.recursive(
    st.none().map(lambda _: "") | TEXT | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.booleans() | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150)
@given(st.dictionaries(TEXT, VALUE, max_size=5))
def test_whatever_is_written_is_placed(data: dict[str, Any]) -> None:
    text = "".join(f"{literal_of(key)}={literal_of(value)} # {{[\n" for key, value in data.items())
    assert same(tomllib.loads(text), data)
    assert misplaced(text) == []


def test_the_work_grows_with_the_length_only() -> None:
    def calls(count: int) -> int:
        events: list[str] = []
        text = "[[a]]\nb.c = [1, { d = 2 }] # x\n" * count
        sys.setprofile(lambda _frame, event, _argument: events.append(event))
        try:
            scan(text)
        finally:
            sys.setprofile(None)
        return len(events)

    assert calls(200) <= 2 * calls(100)
