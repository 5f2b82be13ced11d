"""Reading a plan file: what it gives, and the sentence and place for each thing that cannot be read."""

import hashlib
import os
import socket
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from trainplan.plan.places import scan
from trainplan.plan.source import LIMIT, SourceError, parse_source, read_source

TESTS = Path(__file__).resolve().parents[3] / "../shared/toml-test/tests"


def refusal(path: Path) -> SourceError:
    with pytest.raises(SourceError) as caught:
        read_source(path)
    return caught.value


def mistake(text: str) -> str:
    with pytest.raises(SourceError) as caught:
        parse_source(text, Path("p"))
    return str(caught.value)


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    content = b"\xef\xbb\xbfa = 1\r\nb = 2"
    file.write_bytes(content)
    source = read_source(file)
    assert (source.text, source.had_bom, source.path) == ("a = 1\r\nb = 2", True, file)
    assert source.sha256 == hashlib.sha256(content).hexdigest()


def test_an_empty_file_is_a_text(tmp_path: Path) -> None:
    (tmp_path / "p").touch()
    assert read_source(tmp_path / "p").text == ""
    assert parse_source("") == {}


def test_an_absent_file_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "llama.toml").touch()
    error = refusal(tmp_path / "lama.toml")
    assert (error.message, error.fix) == ("the file does not exist", "Nearest in its folder: llama.toml")
    assert refusal(tmp_path / "zzzz").fix == ""
    assert refusal(tmp_path / "no" / "x").message == f"the folder {tmp_path / 'no'} does not exist"
    assert "not a folder" in refusal(tmp_path / "llama.toml" / "x").message


def test_a_link_to_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "l").symlink_to("gone")
    assert refusal(tmp_path / "l").message == "the link leads to gone, which does not exist"
    (tmp_path / "loop").symlink_to("loop")
    assert refusal(tmp_path / "loop").message.startswith("the file cannot be read")


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.fspath(tmp_path / "s"))
        found = [refusal(path).message for path in (tmp_path, tmp_path / "fifo", tmp_path / "s", Path("/dev/zero"))]
    assert found == ["this is a directory", "this is a pipe", "this is a socket", "this is a device"]


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(b"#" * LIMIT)
    assert len(read_source(tmp_path / "p").text) == LIMIT
    (tmp_path / "p").write_bytes(b"#" * (LIMIT + 1))
    assert refusal(tmp_path / "p").message == "the file is over 1,000,000 bytes, which no plan is"


def test_a_file_that_may_not_be_read_is_said(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads every file")
    (tmp_path / "p").touch(mode=0o000)
    assert "may not be read" in refusal(tmp_path / "p").message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_encodings_are_named(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "p").write_bytes('name = "plan"\n'.encode(encoding))
    error = refusal(tmp_path / "p")
    assert error.message == f"the file is {encoding[:6].upper()}"
    assert error.fix == "TOML is UTF-8"


def test_a_byte_that_is_not_utf8_has_its_place(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes('a = 1\nb = "é'.encode() + b'\xe9"\n')
    error = refusal(tmp_path / "p")
    assert (error.line, error.column, error.message) == (2, 7, "byte 0xe9 is not UTF-8")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a=1\na=2", "p:2:1: a is written twice, first on line 1. One of the two"),
        ('a=1\nb=2\n a="""\n"""', "p:3:2: a is written twice, first on line 1. One of the two"),
        ("a=1\r\n\r\na=2\r\n", "p:3:1: a is written twice, first on line 1. One of the two"),
        ("[a]\nb=1\n[a]\n", "p:3:1: a is written twice, first on line 1. One of the two"),
        ("[t]\na.b=1\na=2", "p:3:1: t.a cannot be written here: line 2 made it a table"),
        ("[[a]]\n[a]\n", "p:2:1: a is an entry, [[a]], on line 1 and a table, [a], here. One kind"),
        ("a={b=1}\na.c=2", "p:2:1: a.c cannot be added here: a is whole on line 1"),
        ("a={b=1,b=2}", "p:1:11: a key is written twice in one inline table. One of the two"),
        ("n = 15.6T # all\r\nb=1", 'p:1:5: 15.6T is not a TOML value. Text is written in quotes: "15.6T"'),
        ("n = [1, 15.6T]", 'p:1:9: 15.6T is not a TOML value. Text is written in quotes: "15.6T"'),
        ("n = 3d 4h", 'p:1:5: 3d 4h is not a TOML value. Text is written in quotes: "3d 4h"'),
        ("n = True", "p:1:5: True is not a TOML value. true, in small letters"),
        ("n = 08", "p:1:5: 08 is not a TOML value. A number has no leading zero"),
        ("n = 1__0", "p:1:5: 1__0 is not a TOML value. A number has digits on both sides of each . and _"),
        ("n = 2026-13-01", "p:1:5: 2026-13-01 is not a TOML value. A date is written 2026-12-07, and has to exist"),
        ("n = 2026-02-30", "p:1:5: this date or time does not exist. A date such as 2026-12-07"),
        ("n = \nm = 1", "p:1:5: a value is missing after ="),
        ('n = "x" "y"', 'p:1:9: "y" is left over on this line. A new line, or # before a comment'),
        ("n = 1\r", "p:1:6: a carriage return without a line feed. Lines end in a line feed"),
        ("a=1\nn = [1,\nm = 2\n", "p:2:5: the array that begins here is not closed. A ], or a comma before more"),
        ("n = {a=1\n}", "p:1:5: the inline table that begins here is not closed. A }, or a comma before more"),
        ('n = "abc\nm=1', "p:1:5: the text that begins here has no closing quote"),
        ("n = 'abc\nm=1", "p:1:5: the text that begins here has no closing quote"),
        ('n = """abc\nm=1', "p:1:5: the text that begins here has no closing quote"),
        ('n = "x\x1b"', "p:1:7: the character U+001B is not allowed here. Inside text, its escape"),
        ("n\n", "p:1:2: a key without = and a value. key = value, or [table]"),
        ("[n\n", "p:1:3: the header has no closing bracket. [table] or [[table]]"),
        ("= 1", "p:1:1: this is not a key. A-Z a-z 0-9 - _, or text in quotes, then = and a value"),
        ("x.y" + ".z" * 31 + " = 1", "p:1:64: a key has more than 32 parts"),
        ("[x" + ".'z'" * 32 + "]", "p:1:127: a key has more than 32 parts"),
        ("a=1\nx = " + "[" * 65, "p:2:69: brackets are nested more than 64 deep"),
        ("x = " + "9" * 5000, "p:1:5: a number has more than 128 digits"),
    ],
)  # fmt: skip
def test_mistakes_have_a_place_and_a_sentence(text: str, sentence: str) -> None:
    assert mistake(text) == sentence


def test_escapes_that_toml_does_not_know_are_said() -> None:
    assert "the escape is not one of TOML's" in mistake('a = "\\q"')
    assert "the escape is not one of TOML's" in mistake('a = "\\ud800"')


def test_caps_come_before_the_parser() -> None:
    """Fifty thousand parts take tomllib a minute and gigabytes; here they take no time."""
    assert mistake("a" + ".a" * 50_000 + " = 1").endswith("a key has more than 32 parts")
    assert mistake("x = " + "[" * 100_000).endswith("brackets are nested more than 64 deep")
    assert mistake("x = " + "{a=" * 100_000).endswith("brackets are nested more than 64 deep")


def test_caps_count_neither_text_nor_comments() -> None:
    dots, brackets = "a" + ".a" * 99, "[" * 99
    text = f'a = "{dots} {brackets}" # {dots} {brackets}\nb = """\n{brackets}"""\nc = \'{brackets}\'\n'
    assert set(parse_source(text)) == {"a", "b", "c"}
    assert parse_source("a" + ".a" * 31 + " = 1")
    assert parse_source("a = " + "[" * 64 + "]" * 64)


def test_broken_documents_always_get_a_place_in_the_text(toml_document: Callable[[int], str]) -> None:
    for seed in range(300):
        random, text = Random(seed), toml_document(seed)
        for _ in range(3):
            at = random.randrange(len(text) + 1)
            piece = random.choice(["", "[", "]", "{", "}", '"', "'''", "=", ",", ".", "\\", "\r", "\x00", text[:40]])
            broken = text[:at] + piece + text[at + random.choice([0, 1, 3]) :]
            assert is_read_or_placed(broken), (seed, broken)


def is_read_or_placed(text: str) -> bool:
    try:
        parse_source(text)
    except SourceError as error:
        lines = text.split("\n")
        return 1 <= error.line <= len(lines) and 1 <= error.column <= len(lines[error.line - 1]) + 1
    return True


def test_what_follows_a_mistake_is_not_read() -> None:
    assert mistake("a = {b = 1, b.c = 2, z = [}").startswith("p:1:")


def toml_files(kind: str) -> list[Path]:
    index = TESTS / "files-toml-1.0.0"
    if not index.is_file():
        pytest.skip("toml-test is not beside this checkout")
    return [TESTS / line for line in index.read_text().split() if line.startswith(kind) and line.endswith(".toml")]


def test_every_valid_file_of_the_toml_project_is_read() -> None:
    for file in toml_files("valid/"):
        text = read_source(file).text
        assert set(parse_source(text)) == {path[0] for path in scan(text).keys}, file


def test_every_invalid_file_of_the_toml_project_has_a_sentence_in_our_words() -> None:
    for file in toml_files("invalid/"):
        with pytest.raises(SourceError) as caught:
            parse_source(read_source(file).text)
        error = caught.value
        lines = file.read_bytes().count(b"\n") + 1
        assert 1 <= error.line <= lines, file
        assert error.column >= 1, file
        assert not any(phrase in error.message for phrase in ("namespace", "(at ", "TOMLDecode", "Expected")), file
