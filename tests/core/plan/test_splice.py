"""Edits of text: what they mean, that only their own lines change, and what is refused."""

import datetime as dt
import tomllib
from collections.abc import Callable
from difflib import SequenceMatcher
from random import Random
from typing import Any

import pytest

from trainplan.plan.literals import literal_of, same
from trainplan.plan.places import scan
from trainplan.plan.splice import SpliceError, append_entry, move_entry, remove_entry, remove_value, set_value

PLAN = """\
# A plan of ours
format = 1  # the first

[data]   # what is read
train_tokens = "15.6T"   # all of it
# above the sources

[[data.sources]]
name = "web"
weight = 0.8
[[data.sources]]
name = "code"  # and tests
weight = 0.2

[batch]
schedule = [{ from_tokens = 0, size = 512 }]
"""


def walked(data: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        data = data[part]
    return data


def paths(data: Any, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path for key, item in items for path in ((*above, key), *paths(item, (*above, key)))]


def without_empty_tables(data: Any) -> Any:
    """Data without tables that say nothing: removing the last key of a table without a header removes the table."""
    if isinstance(data, list):
        return [without_empty_tables(item) for item in data]
    if not isinstance(data, dict):
        return data
    items = {key: without_empty_tables(item) for key, item in data.items()}
    return {key: item for key, item in items.items() if item not in ({}, [])}


def lines_lost(before: str, after: str) -> list[int]:
    """Numbers from 0 of the lines of `before` that are not, in order, in `after`."""
    old, new = before.split("\n"), after.split("\n")
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [number for tag, start, end, _, _ in opcodes if tag in ("replace", "delete") for number in range(start, end)]


def own_lines(text: str, path: tuple[str | int, ...]) -> set[int]:
    """Numbers of the lines that write what is at `path` or in it, to the next statement; comments belong to all."""
    places = scan(text)
    spans = [m.span for ms in places.members.values() for m in ms if m.path[: len(path)] == path]
    spans += [m.span for block in places.blocks for m in block.members if m.path[: len(path)] == path]
    spans += [span for header, span in places.headers.items() if header[: len(path)] == path]
    numbers = {n for span in spans for n in range(text.count("\n", 0, span.start), text.count("\n", 0, span.end) + 1)}
    lines = text.split("\n")
    return numbers | {n for n, line in enumerate(lines) if not line.strip() or line.strip()[0] == "#"}


def test_a_value_is_replaced_where_it_stands() -> None:
    after = set_value(PLAN, ("data", "train_tokens"), '"20T"')
    assert after == PLAN.replace('"15.6T"', '"20T"')


def test_a_key_goes_after_the_last_key_of_its_table() -> None:
    after = set_value(PLAN, ("data", "packing"), '"pad"')
    assert after == PLAN.replace("# all of it\n", '# all of it\npacking = "pad"\n')


def test_a_key_at_the_top_goes_after_the_last_top_key() -> None:
    assert set_value(PLAN, ("name",), '"x"') == PLAN.replace("# the first\n", '# the first\nname = "x"\n')


def test_a_key_goes_into_its_entry() -> None:
    after = set_value(PLAN, ("data", "sources", 0, "documents"), "7")
    assert after == PLAN.replace("weight = 0.8\n", "weight = 0.8\ndocuments = 7\n")


def test_a_table_gets_a_header_beside_its_parent() -> None:
    assert set_value(PLAN, ("cluster", "nodes"), "8") == PLAN + "\n[cluster]\nnodes = 8\n"
    after = set_value(PLAN, ("data", "extra", "x"), "8")
    assert after == PLAN.replace("weight = 0.2\n", "weight = 0.2\n\n[data.extra]\nx = 8\n")


def test_a_key_goes_into_an_inline_table() -> None:
    after = set_value(PLAN, ("batch", "schedule", 0, "new key"), "1")
    assert after == PLAN.replace("size = 512 }", 'size = 512, "new key" = 1 }')
    after = set_value(PLAN, ("batch", "schedule", 1), "{ from_tokens = 1 }")
    assert after == PLAN.replace("512 }]", "512 }, { from_tokens = 1 }]")


def test_a_key_joins_the_dotted_keys_of_its_table() -> None:
    assert set_value("a.b = 1\nc = 2\n", ("a", "d"), "3") == "a.b = 1\na.d = 3\nc = 2\n"
    assert set_value("[t]\n a.b = 1\nc = 2\n", ("t", "a", "d", "e"), "3") == "[t]\n a.b = 1\n a.d.e = 3\nc = 2\n"


def test_the_first_key_of_a_file_without_top_keys_comes_before_the_headers() -> None:
    assert set_value("# mine\n\n[a]\nb = 1\n", ("format",), "1") == "# mine\n\nformat = 1\n\n[a]\nb = 1\n"
    assert set_value("", ("format",), "1") == "format = 1\n"
    assert set_value("# only", ("format",), "1") == "# only\nformat = 1"


def test_elements_are_added_in_the_style_of_their_array() -> None:
    assert set_value("x = [\n  1, # one\n]\n", ("x", 1), "2") == "x = [\n  1, # one\n  2,\n]\n"
    assert set_value("x = [\n  1 # one\n]\n", ("x", 1), "2") == "x = [\n  1, # one\n  2\n]\n"
    assert set_value("x = [1, ]\n", ("x", 1), "2") == "x = [1, 2, ]\n"
    assert set_value("x = [ ]\n", ("x", 0), "2") == "x = [2]\n"


def test_a_removed_value_takes_its_line() -> None:
    assert remove_value(PLAN, ("data", "train_tokens")) == PLAN.replace('train_tokens = "15.6T"   # all of it\n', "")
    assert remove_value(PLAN, ("batch", "schedule", 0, "size")) == PLAN.replace(", size = 512", "")
    assert remove_value("a = 1\nb = 2", ("b",)) == "a = 1"


def test_a_removed_element_takes_its_comma_and_its_own_line() -> None:
    lines = "x = [\n  1, # one\n  # of two\n  2 # two\n]\n"
    assert remove_value(lines, ("x", 0)) == "x = [\n  # of two\n  2 # two\n]\n"
    assert remove_value(lines, ("x", 1)) == "x = [\n  1 # one\n  # of two\n]\n"
    assert remove_value("x = [1, 2, 3]\n", ("x", 1)) == "x = [1, 3]\n"
    assert remove_value("x = [1, 2, 3]\n", ("x", 2)) == "x = [1, 2]\n"


def test_a_removed_table_takes_its_blocks() -> None:
    assert remove_value(PLAN, ("batch",)) == PLAN[: PLAN.index("\n[batch]")]
    assert "data" not in tomllib.loads(remove_value(PLAN, ("data",)))


def test_an_entry_comes_after_the_last_one() -> None:
    after = append_entry(PLAN, ("data", "sources"), {"name": '"math"', "weight": "0.0"})
    assert after == PLAN.replace(
        "weight = 0.2\n", 'weight = 0.2\n\n[[data.sources]]\nname = "math"\nweight = 0.0\n', 1
    ).replace('\n\n[[data.sources]]\nname = "math"', '\n[[data.sources]]\nname = "math"')


def test_the_first_entry_comes_at_the_end_or_after_its_parent() -> None:
    assert append_entry(PLAN, ("pilot",), {"rung": '"unit"'}) == PLAN + '\n[[pilot]]\nrung = "unit"\n'
    after = append_entry(PLAN, ("data", "stages"), {"name": '"x"'})
    assert after == PLAN.replace("weight = 0.2\n", 'weight = 0.2\n\n[[data.stages]]\nname = "x"\n')


def test_an_entry_of_an_inline_array_is_an_inline_table() -> None:
    after = append_entry(PLAN, ("batch", "schedule"), {"from_tokens": '"1T"'})
    assert after == PLAN.replace("512 }]", '512 }, { from_tokens = "1T" }]')


def test_an_entry_is_removed_with_its_lines() -> None:
    after = remove_entry(PLAN, ("data", "sources", 1))
    assert after == PLAN.replace('[[data.sources]]\nname = "code"  # and tests\nweight = 0.2\n', "")


def test_an_entry_moves_with_its_comments() -> None:
    text = "[[a]]\nx = 1\n\n# of two\n[[a]]\nx = 2 # two\n[a.b]\ny = 2\n\n[[a]]\nx = 3"
    expected = "# of two\n[[a]]\nx = 2 # two\n[a.b]\ny = 2\n\n[[a]]\nx = 1\n\n[[a]]\nx = 3"
    assert move_entry(text, ("a", 1), 0) == expected
    assert move_entry("a = [{ x = 1 }, { x = 2 }]\n", ("a", 0), 1) == "a = [{ x = 2 }, { x = 1 }]\n"


def test_an_entry_in_pieces_moves_whole() -> None:
    text = "[[a]]\nx = 1\n\n[b]\nz = 1\n\n[a.c]\ny = 1\n\n[[a]]\nx = 2\n"
    assert move_entry(text, ("a", 0), 1) == "[[a]]\nx = 2\n\n[b]\nz = 1\n\n[[a]]\nx = 1\n\n[a.c]\ny = 1\n"


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda: set_value(PLAN, ("format", "x"), "1"), "format is a value, not a table"),
        (lambda: set_value(PLAN, ("data",), "1"), "data is a table, so its fields are set one by one"),
        (
            lambda: set_value("[[a.b]]\nc = 1\n", ("a", "b"), "[]"),
            "a.b is a list of tables, so its entries' fields are set one by one",
        ),
        (lambda: set_value(PLAN, ("data", "sources", 5, "x"), "1"), "2 entries, so there is no data.sources[5]"),
        (lambda: set_value(PLAN, ("format",), "15.6T"), "15.6T is not a TOML value"),
        (lambda: set_value(PLAN, ("format",), "1\ny = 2"), "1\ny = 2 is more than one TOML value"),
        (lambda: set_value(PLAN, ("format",), "1 # why"), "1 # why is more than one TOML value"),
        (lambda: set_value(PLAN, ("format",), "[" * 99 + "]" * 99), "is not a TOML value"),
        (lambda: set_value(PLAN, (), "1"), "the file does not name a key"),
        (lambda: remove_value(PLAN, ("data", "none")), "data.none is not in the file"),
        (lambda: remove_entry(PLAN, ("data",)), "data does not name an entry. A number from 0 ends its path"),
        (lambda: append_entry(PLAN, ("format",), {}), "format is not an array of tables"),
        (lambda: move_entry(PLAN, ("data", "sources", 0), 2), "data.sources has 2 entries, so none can become entry 2"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_a_sentence(edit: Any, sentence: str) -> None:
    with pytest.raises(SpliceError) as refusal:
        edit()
    assert str(refusal.value).endswith(sentence)


def test_line_ends_byte_order_mark_and_a_missing_final_newline_stay() -> None:
    text = "\ufeff" + PLAN.replace("\n", "\r\n").removesuffix("\r\n")
    after = append_entry(set_value(text, ("data", "packing"), '"pad"'), ("pilot",), {"rung": '"unit"'})
    assert after.startswith("\ufeff")
    assert "\n" not in after.replace("\r\n", "")
    assert after.endswith('rung = "unit"')
    assert not remove_entry(after, ("pilot", 0)).endswith("\n")


def random_edit(random: Random, text: str, data: Any) -> tuple[str, tuple[str | int, ...], str, Any]:
    """One edit chosen by chance, on `text` and, by the plainest means, on `data`: kind, path, both results."""
    everywhere, values = paths(data), scan(text).values
    tables = [(), *(p for p in everywhere if isinstance(walked(data, p), dict))]
    lists = [p for p in everywhere if isinstance(walked(data, p), list)]
    entries = [p for p in everywhere if isinstance(p[-1], int)]
    arrays = [p for p in lists if p in values]
    kind = random.choice(["replace", "add", "add", "table", "remove", "append", "drop", "move", "first", "element"])
    literal = random.choice(['"15.6T"', "128", "true", "[1, 2]", "{ x = 1 }", "2026-12-07"])
    value = tomllib.loads(f"x = {literal}")["x"]
    written = [p for p in everywhere if p in values]
    if kind == "replace" and written:
        path = random.choice(written)
        after = set_value(text, path, literal)
        walked(data, path[:-1])[path[-1]] = value
    elif kind in ("add", "table"):
        path = (*random.choice(tables), *(["new table"] if kind == "table" else []), "new-key")
        after = set_value(text, path, literal)
        table = walked(data, path[:-2]).setdefault("new table", {}) if kind == "table" else walked(data, path[:-1])
        table["new-key"] = value
    elif kind == "remove" and everywhere:
        path = random.choice(everywhere)
        after = remove_value(text, path)
        del walked(data, path[:-1])[path[-1]]
    elif kind == "append" and lists:
        path = random.choice(lists)
        after = append_entry(text, path, {"n m": literal, "b": "1"})
        walked(data, path).append({"n m": value, "b": 1})
    elif kind == "first":
        path = (*random.choice(tables), "new list")
        after = append_entry(text, path, {"n": literal})
        walked(data, path[:-1]).setdefault("new list", []).append({"n": value})
    elif kind == "element" and arrays:
        path = random.choice(arrays)
        after = set_value(text, (*path, len(walked(data, path))), literal)
        walked(data, path).append(value)
    elif kind == "drop" and entries:
        path = random.choice(entries)
        after = remove_entry(text, path)
        del walked(data, path[:-1])[path[-1]]
    elif kind == "move" and entries:
        path = random.choice(entries)
        entries_there = walked(data, path[:-1])
        to = random.randrange(len(entries_there))
        after = move_entry(text, path, to)
        entries_there.insert(to, entries_there.pop(path[-1]))
    else:
        return "none", (), text, data
    return kind, path, after, data


def test_edits_mean_what_they_say_and_change_only_their_lines(toml_document: Callable[[int], str]) -> None:
    for seed in range(SEEDS):
        random, text = Random(seed), toml_document(seed)
        for _ in range(8):
            kind, path, after, data = random_edit(random, text, tomllib.loads(text))
            meaning = tomllib.loads(after)
            if kind in ("remove", "drop"):
                assert same(without_empty_tables(meaning), without_empty_tables(data)), seed
                lost = set(lines_lost(text, after)) - own_lines(text, path)
                assert len(lost) <= 1, (seed, kind, path)  # a comma goes from the line before the last element
            else:
                assert same(meaning, data), (seed, kind)
            if kind == "replace":
                assert set(lines_lost(text, after)) <= own_lines(text, path), (seed, path)
            if kind in ("add", "table", "first", "append", "element"):
                assert len(lines_lost(text, after)) <= 1, (seed, kind, path)  # the line of brackets that take it
            if kind == "move":
                assert sorted("".join(text.split())) == sorted("".join(after.split())), seed
            assert ("\n" in after.replace("\r\n", "")) <= ("\n" in text.replace("\r\n", "") or "\n" not in text), seed
            text = after


SEEDS = 60


@pytest.mark.parametrize(
    "value",
    [
        "", "15.6T", 'q " \\ \t\n\r\b\f', "\x00\x1b\x7f\x9b\u202e\u2028\ufeff", "é漢🙂", True, False, 0, -5, 2**70,
        0.1, 1e16, 1e300,
        -0.0, float("inf"), float("nan"), dt.date(2026, 12, 7), dt.time(1, 2, 3, 500), dt.datetime(2026, 12, 7, 1, 2),
        dt.datetime(26, 12, 7, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=-5))),
        [], [1, ["a"], {}], {"a b": {"c": [1.5]}},
    ],
)  # fmt: skip
def test_literals_say_their_value(value: Any) -> None:
    assert same(tomllib.loads(f"x = {literal_of(value)}")["x"], value)


def test_literals_never_hold_what_a_terminal_would_obey() -> None:
    assert literal_of("\x1b]52;c;x\x07\x9b2J\u202e").isascii()


def test_what_toml_cannot_say_is_refused() -> None:
    for value in (None, object(), b"x"):
        with pytest.raises(TypeError, match="TOML has no"):
            literal_of(value)
    with pytest.raises(ValueError, match="surrogate"):
        literal_of("\ud800")
    with pytest.raises(ValueError, match="offset with seconds"):
        literal_of(dt.datetime(2026, 1, 1, tzinfo=dt.timezone(dt.timedelta(seconds=1))))
