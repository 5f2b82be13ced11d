"""The tokenizer file: its checksum against the one that made the shards, its ids against the plan, and test vectors.

Vectors are JSON lines of `text` and `ids` among the evidence of item tokenizer. They are run where the package `tokenizers` is
installed; elsewhere the checksum is all that is checked, and that is said.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
from typing import Any, Final, cast

from trainplan.budgets.situation import Situation
from trainplan.files.bounded import content, digest
from trainplan.files.looks import Asked, Found, Look
from trainplan.quantity.figure import Figure

FILE_LIMIT: Final = 256_000_000  # bytes
VECTORS: Final = 20
"""Least number of test vectors: the project's notes on item tokenizer."""


def tokenizer_looks(asked: Asked) -> list[Look]:
    """Checksum, ids and vectors of `paths.tokenizer`."""
    named = asked.plan.paths.tokenizer or ""
    if not named:
        return []
    looks = [
        Look("tokenizer", "sha256", named, lambda: _checksum(asked, named)),
        Look("tokenizer", "ids fit", named, lambda: _ids(asked, named)),
    ]
    vectors = [path for path in asked.files("tokenizer", ".jsonl", ".json") if path != named]
    looks += [
        Look("tokenizer", f"vectors of {path}", path, lambda path=path: _vectors(asked, named, path))
        for path in vectors
    ]
    return looks


def _checksum(asked: Asked, named: str) -> Found:
    found = digest(asked.path(named), FILE_LIMIT)
    other = [one for one in asked.plan.data.sources if one.tokenizer_sha256 and one.tokenizer_sha256 != found]
    if other:
        return (
            "failed",
            f"{other[0].name} was made with {(other[0].tokenizer_sha256 or '')[:8]}, the file is {found[:8]}",
        )
    told = sum(bool(one.tokenizer_sha256) for one in asked.plan.data.sources)
    agree = f"; {told} of {len(asked.plan.data.sources)} sources name it" if told else "; no source names one"
    return ("passed" if told else "unknown"), f"{found}{agree}"


def _ids(asked: Asked, named: str) -> Found:
    largest = _largest_id(content(asked.path(named), FILE_LIMIT))
    if largest is None:
        return "unknown", "no tokenizer.json: its ids cannot be told"
    size, width = Situation(asked.plan)["model.vocab_size"], asked.plan.data.bytes_per_token
    if width and largest >= 256 ** int(width):
        return "failed", f"id {largest:,} does not fit {int(width)} bytes"
    if not isinstance(size, Figure):
        return "unknown", f"ids to {largest:,}; the plan has no vocabulary"
    if largest >= int(size):
        return "failed", f"ids to {largest:,}, the model's vocabulary has {int(size):,}"
    return "passed", f"ids to {largest:,}, below the vocabulary of {int(size):,}"


def _largest_id(data: bytes) -> int | None:
    """The largest id of a tokenizer.json; None where it is none."""
    try:
        whole: Any = json.loads(data)
    except ValueError:
        return None
    if not isinstance(whole, dict):
        return None
    top = cast("dict[str, Any]", whole)
    model = top.get("model")
    vocabulary = cast("dict[str, Any]", model).get("vocab") if isinstance(model, dict) else None
    added = [one.get("id") for one in top.get("added_tokens") or [] if isinstance(one, dict)]
    ids = list(cast("dict[str, Any]", vocabulary).values()) if isinstance(vocabulary, dict) else []
    ids += [len(cast("list[Any]", vocabulary)) - 1] if isinstance(vocabulary, list) else []
    return max((one for one in (*ids, *added) if isinstance(one, int)), default=None)


def _vectors(asked: Asked, named: str, path: str) -> Found:
    pairs = _pairs(content(asked.path(path), FILE_LIMIT))
    if pairs is None:
        return "failed", f"{path} is not JSON of objects with text and ids"
    if importlib.util.find_spec("tokenizers") is None:
        return "unknown", f"{len(pairs)} vectors not run: the package tokenizers is not installed; checksum only"
    tokenizer = _tokenizer(content(asked.path(named), FILE_LIMIT))
    if tokenizer is None:
        return "failed", f"{named} is no tokenizer.json that can be loaded"
    return _encoded(tokenizer, pairs)


def _encoded(tokenizer: Any, pairs: list[tuple[str, list[Any]]]) -> Found:
    for number, (text, ids) in enumerate(pairs, 1):
        found = list(tokenizer.encode(text, add_special_tokens=False).ids)
        if found != ids and list(tokenizer.encode(text).ids) != ids:
            return "failed", f"vector {number}, {text[:30]!r}: {found[:6]} where {ids[:6]} is right"
    if len(pairs) < VECTORS:
        return "failed", f"{len(pairs)} vectors encode as they should; {VECTORS} at least are right"
    return "passed", f"{len(pairs)} vectors encode as they should"


def _tokenizer(data: bytes) -> Any:
    try:
        return importlib.import_module("tokenizers").Tokenizer.from_buffer(data)
    except Exception:  # the package raises Exception itself
        return None


def _pairs(data: bytes) -> list[tuple[str, list[Any]]] | None:
    """Texts with their ids from a JSON array or JSON lines; None where one is neither."""
    try:
        text = data.decode("utf-8")
        whole: Any = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else [json.loads(line) for line in text.splitlines() if line]
        )
    except ValueError:
        return None
    entries = cast("list[Any]", whole)
    if not entries or not all(isinstance(one, dict) for one in entries):
        return None
    pairs = [(one.get("text"), one.get("ids")) for one in cast("list[dict[str, Any]]", entries)]
    good = all(isinstance(words, str) and isinstance(ids, list) for words, ids in pairs)
    return cast("list[tuple[str, list[Any]]]", pairs) if good else None
