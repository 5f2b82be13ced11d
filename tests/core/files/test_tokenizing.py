"""The tokenizer: checksum against the sources, ids against vocabulary and width, vectors with `tokenizers` or said to be unrun."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainplan.files.automatic import automatic_checks
from trainplan.plan.plan import Plan

TOKENIZER = {
    "version": "1.0",
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": {"type": "Whitespace"},
    "post_processor": None,
    "decoder": None,
    "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "one": 1, "two": 2}, "unk_token": "[UNK]"},
}


def write(folder: Path, tokenizer: Any = TOKENIZER) -> str:
    data = json.dumps(tokenizer).encode()
    (folder / "tokenizer.json").write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def found(folder: Path, check: str, *, sha256: str = "", **data: Any) -> tuple[str, str]:
    whole = {
        "format": 1,
        "model": {"vocab_size": data.pop("vocab_size", 3)},
        "paths": {"tokenizer": "tokenizer.json"},
        "data": {"sources": [{"name": "web", "tokenizer_sha256": sha256}, {"name": "code"}], **data},
        "readiness": [{"item": "tokenizer", "evidence": [{"path": "tokenizer.json"}, {"path": "vectors.jsonl"}]}],
    }
    (one,) = [one for one in automatic_checks(folder, Plan.model_validate(whole), 5.0) if one.check == check]
    return one.verdict, one.found


def test_the_checksum_is_that_of_the_shards(tmp_path: Path) -> None:
    digest = write(tmp_path)
    assert found(tmp_path, "sha256", sha256=digest) == ("passed", f"{digest}; 1 of 2 sources name it")
    assert found(tmp_path, "sha256")[0] == "unknown"
    verdict, told = found(tmp_path, "sha256", sha256="0" * 64)
    assert verdict == "failed"
    assert told == f"web was made with 00000000, the file is {digest[:8]}"


def test_ids_fit_the_vocabulary_and_the_width(tmp_path: Path) -> None:
    write(tmp_path)
    assert found(tmp_path, "ids fit") == ("passed", "ids to 2, below the vocabulary of 3")
    assert found(tmp_path, "ids fit", vocab_size=2)[0] == "failed"
    added = TOKENIZER | {"added_tokens": [{"id": 70_000, "content": "<x>"}]}
    write(tmp_path, added)
    assert found(tmp_path, "ids fit", vocab_size=100_000, bytes_per_token=2) == (
        "failed",
        "id 70,000 does not fit 2 bytes",
    )
    assert found(tmp_path, "ids fit", vocab_size=100_000, bytes_per_token=4)[0] == "passed"
    (tmp_path / "tokenizer.json").write_bytes(b"\x0a\x0e\x0a\x05")
    assert found(tmp_path, "ids fit")[0] == "unknown"


def vectors(folder: Path, count: int = 20, ids: list[int] | None = None) -> None:
    lines = [json.dumps({"text": "one two", "ids": ids or [1, 2]}) for _ in range(count)]
    (folder / "vectors.jsonl").write_text("\n".join(lines) + "\n")


class Words:
    """What the package offers, for a vocabulary of words."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self.vocabulary = vocabulary

    @classmethod
    def from_buffer(cls, data: bytes) -> Words:
        return cls(json.loads(data)["model"]["vocab"])

    def encode(self, text: str, add_special_tokens: bool = True) -> SimpleNamespace:
        return SimpleNamespace(ids=[self.vocabulary.get(word, 0) for word in text.split()])


@pytest.fixture(params=["real", "stand-in"])
def package(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package `tokenizers` where it is installed, and a stand-in with its calls everywhere."""
    if request.param == "real":
        pytest.importorskip("tokenizers", reason="the package tokenizers is not installed here")
        return
    module = SimpleNamespace(Tokenizer=Words, __spec__=SimpleNamespace(name="tokenizers"))
    monkeypatch.setitem(sys.modules, "tokenizers", module)


@pytest.mark.usefixtures("package")
def test_vectors_are_run(tmp_path: Path) -> None:
    write(tmp_path)
    vectors(tmp_path)
    check = "vectors of vectors.jsonl"
    assert found(tmp_path, check) == ("passed", "20 vectors encode as they should")
    vectors(tmp_path, 19)
    assert found(tmp_path, check)[0] == "failed"
    vectors(tmp_path, ids=[2, 1])
    assert found(tmp_path, check) == ("failed", "vector 1, 'one two': [1, 2] where [2, 1] is right")
    (tmp_path / "tokenizer.json").write_text("{}")
    assert found(tmp_path, check)[0] == "failed"


def test_without_the_package_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "tokenizers" else real(name, *more)
    )
    write(tmp_path)
    vectors(tmp_path)
    verdict, told = found(tmp_path, "vectors of vectors.jsonl")
    assert verdict == "unknown"
    assert "tokenizers is not installed; checksum only" in told


def test_vectors_that_are_none_fail(tmp_path: Path) -> None:
    write(tmp_path)
    for broken in ("", "[1]", '{"text": "one"}', "{", '{"text": 1, "ids": []}'):
        (tmp_path / "vectors.jsonl").write_text(broken)
        assert found(tmp_path, "vectors of vectors.jsonl")[0] == "failed", broken
