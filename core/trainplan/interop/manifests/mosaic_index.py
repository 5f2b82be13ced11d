"""MosaicML Streaming's index.json: shards, samples and bytes; tokens only where every sample has a fixed shape.

Format of streaming/base/format: a list of shards, each with samples, column names and encodings. A sample is what somebody
wrote, mostly one sequence, so that its number is no number of documents.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final, cast

from trainplan.interop.manifests.counts import Counts, ManifestError, source_name, text_of

MOST: Final = 64_000_000
"""Bytes of the largest index that is read; a shard takes about 300."""

_FIXED: Final = re.compile(r"ndarray:u?int(8|16|32|64):(\d{1,15}(?:,\d{1,15}){0,7})")
_TYPED: Final = re.compile(r"ndarray:u?int(8|16|32|64)")
COLUMNS: Final = ("tokens", "input_ids")


def mosaic_counts(path: Path) -> Counts:
    """Samples of an index.json, and tokens where the encoding fixes them. Raises ManifestError."""
    shards = _shards(path)
    samples = sum(_count(path, shard, "samples") for shard in shards)
    size = sum(_raw_bytes(path, shard) for shard in shards)
    lengths = [_tokens(shard) for shard in shards]
    fixed = [length for length in lengths if length is not None]
    tokens = None
    if len(fixed) == len(shards):
        tokens = sum(_count(path, shard, "samples") * length for shard, length in zip(shards, fixed, strict=True))
    note = f"{len(shards):,} shards, {samples:,} samples, {size:,} bytes"
    if tokens is None:
        note += "; tokens cannot be told: no column of tokens has a fixed shape"
    return Counts(source_name(path.parent.name or "source"), tokens, None, _width(shards), str(path), note)


def _shards(path: Path) -> list[dict[str, Any]]:
    try:
        data: Any = json.loads(text_of(path, MOST))
    except json.JSONDecodeError as error:
        raise ManifestError(
            f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}. The index.json of a data set"
        ) from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, ManifestError):
            raise
        raise ManifestError(f"{path}: nested too deeply or a number too long. The index.json of a data set") from None
    found = cast("dict[str, Any]", data).get("shards") if isinstance(data, dict) else None
    shards = cast("list[Any]", found) if isinstance(found, list) else []
    if not shards or not all(isinstance(one, dict) for one in shards):
        raise ManifestError(f"{path}: no list of shards. The index.json of a MosaicML streaming data set")
    return cast("list[dict[str, Any]]", shards)


def _count(path: Path, shard: dict[str, Any], key: str) -> int:
    value = shard.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise ManifestError(f"{path}: a shard has {key} {value!r}. A whole number from 0")
    return value


def _raw_bytes(path: Path, shard: dict[str, Any]) -> int:
    raw = shard.get("raw_data")
    return _count(path, cast("dict[str, Any]", raw), "bytes") if isinstance(raw, dict) else 0


def _encoding(shard: dict[str, Any]) -> str:
    """The encoding of the column that holds tokens; empty where there is none."""
    columns, encodings = shard.get("column_names"), shard.get("column_encodings")
    if not isinstance(columns, list) or not isinstance(encodings, list):
        return ""
    pairs = dict(zip(cast("list[Any]", columns), cast("list[Any]", encodings), strict=False))
    return next((str(pairs[name]) for name in COLUMNS if name in pairs), "")


def _tokens(shard: dict[str, Any]) -> int | None:
    found = _FIXED.fullmatch(_encoding(shard))
    if found is None:
        return None
    product = 1
    for part in found[2].split(","):
        product *= int(part)
    return product


def _width(shards: list[dict[str, Any]]) -> int | None:
    """Bytes of a token, where the encodings say so; the narrowest of them."""
    found = [_TYPED.match(_encoding(shard)) for shard in shards]
    return min((int(one[1]) // 8 for one in found if one is not None), default=None)
