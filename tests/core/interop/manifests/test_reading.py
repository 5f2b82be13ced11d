"""Manifests in their real formats, written here byte by byte: counts, and every error in words."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trainplan.interop.manifests import megatron_index
from trainplan.interop.manifests.reading import ManifestError, counts_of, vocabulary_error
from trainplan.interop.manifests.sourced import beside, written
from trainplan.plan.read import plan_of_text

INT32, UINT16 = 4, 8


def index(path: Path, lengths: Sequence[int], documents: Sequence[int], code: int = INT32, modes: bool = False) -> Path:
    """A Megatron .idx as its writer makes it: header, lengths, pointers in bytes, document offsets, modes."""
    width = {INT32: 4, UINT16: 2}.get(code, 4)
    sizes = np.array(lengths, dtype=np.int32)
    pointers = np.concatenate([[0], np.cumsum(sizes[:-1], dtype=np.int64) * width]) if len(sizes) else np.array([])
    data = b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, code, len(sizes), len(documents))
    data += sizes.tobytes() + pointers.astype(np.int64).tobytes() + np.array(documents, dtype=np.int64).tobytes()
    path.write_bytes(data + (np.zeros(len(sizes), dtype=np.int8).tobytes() if modes else b""))
    return path


def error_of(path: Path) -> str:
    with pytest.raises(ManifestError) as caught:
        counts_of(path)
    return str(caught.value)


@pytest.mark.parametrize("modes", [False, True])
def test_megatron_index(tmp_path: Path, modes: bool) -> None:
    """Three sequences in two documents; the offsets have one more than documents."""
    (found,) = counts_of(index(tmp_path / "math_text_document.idx", [100, 200, 300], [0, 1, 3], modes=modes))
    assert (found.name, found.tokens, found.documents, found.bytes_per_token) == ("math", 600, 2, 4)
    assert found.mean_document_tokens == 300


def test_megatron_index_is_summed_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of 1,000 lengths; the sum of 2,147,483,647s is past 32 bits."""
    monkeypatch.setattr(megatron_index, "PIECE", 1000)
    lengths = np.random.default_rng(5).integers(1, 5000, 12345).tolist() + [2**31 - 1] * 3
    (found,) = counts_of(index(tmp_path / "a.idx", lengths, list(range(len(lengths) + 1))))
    assert (found.tokens, found.documents) == (sum(lengths), 12348)


def test_megatron_index_without_documents(tmp_path: Path) -> None:
    (found,) = counts_of(index(tmp_path / "empty.idx", [], [0]))
    assert (found.tokens, found.documents, found.mean_document_tokens) == (0, 0, None)


@pytest.mark.parametrize("kept", [0, 5, 9, 20, 33, 40, 80])
def test_megatron_index_cut_off(tmp_path: Path, kept: int) -> None:
    path = index(tmp_path / "a.idx", [100, 200, 300], [0, 1, 3])
    path.write_bytes(path.read_bytes()[:kept])
    said = error_of(path)
    assert "cut off" in said or (kept == 0 and "MMIDIDX" in said)


def test_megatron_index_with_more_in_it(tmp_path: Path) -> None:
    path = index(tmp_path / "a.idx", [100, 200, 300], [0, 1, 3])
    path.write_bytes(path.read_bytes() + b"\0")
    assert "there is more in the file" in error_of(path)


@pytest.mark.parametrize(
    ("offset", "data", "words"),
    [
        (0, b"NNIDIDX\x00\x00", "does not begin with MMIDIDX"),
        (0, b"TNTIDX\x00\x00\x00", "does not begin with MMIDIDX"),
        (9, struct.pack("<Q", 2), "version 2"),
        (17, b"\x63", "dtype code 99"),
        (17, b"\x06", "dtype code 6"),
        (18, struct.pack("<Q", 2**62), "cut off"),
        (26, struct.pack("<Q", 2**63), "cut off"),
        (34, struct.pack("<i", -5), "a sequence of -5 tokens"),
    ],
)
def test_megatron_index_that_is_wrong(tmp_path: Path, offset: int, data: bytes, words: str) -> None:
    path = index(tmp_path / "a.idx", [100, 200, 300], [0, 1, 3])
    whole = path.read_bytes()
    path.write_bytes(whole[:offset] + data + whole[offset + len(data) :])
    assert words in error_of(path)


def test_megatron_index_with_more_documents_than_sequences(tmp_path: Path) -> None:
    assert "5 document offsets for 3 sequences" in error_of(index(tmp_path / "a.idx", [1, 2, 3], [0, 1, 2, 3, 3]))


def test_vocabulary_and_bytes_of_a_token(tmp_path: Path) -> None:
    (narrow,) = counts_of(index(tmp_path / "a.idx", [100], [0, 1], UINT16))
    (wide,) = counts_of(index(tmp_path / "b.idx", [100], [0, 1]))
    assert "128,256 ids do not fit 2 bytes a token, which hold 65,499" in vocabulary_error(narrow, 128256)
    assert vocabulary_error(narrow, 65499) == vocabulary_error(wide, 128256) == vocabulary_error(narrow, None) == ""


def shard(samples: int, encoding: str = "ndarray:int32:2048", column: str = "tokens") -> dict[str, Any]:
    """One shard of an index.json as the MDS writer makes it."""
    return {
        "column_encodings": [encoding],
        "column_names": [column],
        "column_sizes": [None],
        "compression": None,
        "format": "mds",
        "hashes": [],
        "raw_data": {"basename": "shard.00000.mds", "bytes": 67108864, "hashes": {}},
        "samples": samples,
        "size_limit": 67108864,
        "version": 2,
        "zip_data": None,
    }


def mosaic(folder: Path, shards: object) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "index.json"
    path.write_text(json.dumps({"shards": shards, "version": 2}))
    return path


def test_mosaic_index(tmp_path: Path) -> None:
    (found,) = counts_of(mosaic(tmp_path / "web", [shard(1000), shard(500)]))
    assert (found.name, found.tokens, found.documents, found.bytes_per_token) == ("web", 1500 * 2048, None, 4)
    assert found.note == "2 shards, 1,500 samples, 134,217,728 bytes"


@pytest.mark.parametrize("encoding", ["ndarray:int32", "bytes", "str", "ndarray:float32:2048"])
def test_mosaic_index_whose_tokens_cannot_be_told(tmp_path: Path, encoding: str) -> None:
    (found,) = counts_of(mosaic(tmp_path / "web", [shard(1000), shard(500, encoding)]))
    assert found.tokens is None
    assert "tokens cannot be told" in found.note


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[]", "no list of shards"),
        ('{"shards": []}', "no list of shards"),
        ('{"shards": [1]}', "no list of shards"),
        ('{"shards": [{"samples": -1}]}', "samples -1"),
        ('{"shards": [{"samples": true}]}', "samples True"),
        ('{"shards": [{"samples": 1e99}]}', "samples 1e+99"),
        ('{"shards": [{"samples": 99999999999999999999}]}', "samples 99999999999999999999"),
        ("[" * 100000, "nested too deeply"),
    ],
)
def test_mosaic_index_that_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "index.json"
    path.write_text(text)
    assert words in error_of(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "name,tokens,documents\nweb, 1.5T ,1000000000\ncode,200000,\n"),
        ("t.csv", "\ufeffName,Unique_Tokens,documents,license\r\nweb,1.5T,1e9,x\r\ncode,200k,,y\r\n"),
        ("t.toml", "[web]\ntokens = '1.5T'\ndocuments = 1_000_000_000\n[code]\ntokens = 200_000\n"),
        ("t.toml", "[[sources]]\nname = 'web'\ntokens = 1.5e12\ndocuments = 1000000000\n"
         "[[sources]]\nname = 'code'\nunique_tokens = '200k'\n"),
    ],
)  # fmt: skip
def test_tables(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    web, code = counts_of(path)
    assert (web.name, web.tokens, web.documents) == ("web", 1_500_000_000_000, 1_000_000_000)
    assert (code.name, code.tokens, code.documents) == ("code", 200_000, None)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.csv", "", "no column name"),
        ("t.csv", "name,docs\nweb,1\n", "no column tokens"),
        ("t.csv", "name,tokens\n", "no source"),
        ("t.csv", "name,tokens\nweb,\n", ":2: web has no tokens"),
        ("t.csv", "name,tokens\nweb,many\n", ":2: tokens of web: 'many'"),
        ("t.csv", "name,tokens\nweb,-5\n", "A whole number from 1"),
        ("t.csv", "name,tokens\nweb,nan\n", "'nan'"),
        ("t.csv", "name,tokens\nweb,1e30\n", "A whole number from 1"),
        ("t.csv", "name,tokens\nweb,1.5\n", "A whole number from 1"),
        ("t.csv", "name,tokens\nweb,5\nweb,6\n", "web is there 2 times"),
        ("t.csv", "name,tokens\na.b,5\n", "without dot"),
        ("t.csv", "name,tokens,documents\nweb,5,6\n", "6 documents for 5 tokens"),
        ("t.toml", "[web", "not TOML"),
        ("t.toml", "x = 1", "no source"),
        ("t.toml", "[web]\ntokens = true", "A whole number from 1"),
        ("t.toml", "[web]\ntokens = inf", "A whole number from 1"),
        ("t.toml", "[web]\ntokens = [1]", "A whole number from 1"),
    ],
)
def test_tables_that_are_wrong(tmp_path: Path, name: str, text: str, words: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert words in error_of(path)


def test_files_that_are_no_manifest(tmp_path: Path) -> None:
    import os

    (tmp_path / "a.bin").write_bytes(b"")
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(tmp_path / "c.idx")
    assert "not a manifest that is known" in error_of(tmp_path / "a.bin")
    assert "not UTF-8" in error_of(tmp_path / "b.csv")
    assert "not a regular file" in error_of(tmp_path / "c.idx")
    assert "not a regular file" in error_of(tmp_path)
    assert "the file does not exist" in error_of(tmp_path / "none.idx")


def test_a_table_larger_than_any_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name,tokens\n" + "web,5\n" * 700_000)
    assert "more than 4 MB" in error_of(path)


PLAN = """format = 1
[data]  # what people decided
sampler = "nanoset"

[[data.sources]]
name = "web"           # the large one
unique_tokens = "13.5T"
weight = 0.9
"""


def test_counts_go_into_the_plan_and_nothing_else_changes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name,tokens,documents\nweb,12T,10G\ncode,200k,\n")
    plan = plan_of_text(PLAN, "plan.toml")
    found = beside(plan, counts_of(path))
    assert [one.place for one in found] == [0, None]
    assert found[0].changes == {
        "unique_tokens": 12e12,
        "documents": 10e9,
        "mean_document_tokens": 1200.0,
        "manifest": str(path),
    }
    text = written(PLAN, found)
    after = plan_of_text(text, "plan.toml")
    web, code = after.data.sources
    assert (web.unique_tokens, web.documents, web.weight) == (12e12, 10e9, 0.9)
    assert (code.name, code.unique_tokens, code.weight) == ("code", 200_000, None)
    assert 'name = "web"           # the large one' in text
    assert "[data]  # what people decided" in text
    assert written(text, beside(after, counts_of(path))) == text


def test_a_source_is_found_by_the_manifest_that_it_names(tmp_path: Path) -> None:
    path = index(tmp_path / "shard.idx", [100], [0, 1])
    plan = plan_of_text(PLAN + f'manifest = "{path}"\n', "plan.toml")
    assert beside(plan, counts_of(path))[0].place == 0
