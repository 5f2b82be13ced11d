"""Tables of token counts that people write: CSV with a header, or TOML with a table for each source.

Columns are name, tokens and documents; tokens may carry a suffix, as in a plan. Other columns are passed over.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from trainplan.interop.manifests.counts import Counts, ManifestError, source_name, text_of
from trainplan.quantity.unit import UnitError, parse

MOST: Final = 4_000_000
TOKENS: Final = ("tokens", "unique_tokens")
LARGEST: Final = 1e17
"""Tokens of the largest source that a plan can have."""


def table_counts(path: Path) -> tuple[Counts, ...]:
    """The sources of a CSV or TOML table. Raises ManifestError with the line of a CSV or the name of an entry."""
    rows = _csv_rows(path) if path.suffix == ".csv" else _toml_rows(path)
    if not rows:
        raise ManifestError(f"{path}: no source. {_WANTED}")
    found = tuple(_counts(path, place, row) for place, row in rows)
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise ManifestError(f"{path}: {name} is there {names.count(name)} times. A name for each source")
    return found


_WANTED: Final = "Columns name and tokens, and documents where they are known"


def _csv_rows(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    reader = csv.DictReader(text_of(path, MOST).splitlines(), skipinitialspace=True)
    try:
        columns = [column.strip().lower() for column in reader.fieldnames or []]
        if "name" not in columns or not set(TOKENS) & set(columns):
            raise ManifestError(f"{path}:1: no column {'tokens' if 'name' in columns else 'name'}. {_WANTED}")
        reader.fieldnames = columns
        return [(f":{reader.line_num}", row) for row in reader]
    except csv.Error as error:
        raise ManifestError(f"{path}:{reader.line_num}: not CSV: {error}") from None


def _toml_rows(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    try:
        data = tomllib.loads(text_of(path, MOST))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ManifestError(f"{path}: not TOML: {error or 'nested too deeply'}") from None
    inner = data.get("data")
    entries = data.get("sources", cast("dict[str, Any]", inner).get("sources") if isinstance(inner, dict) else None)
    if isinstance(entries, list):
        found = [(f": entry {i + 1}", entry) for i, entry in enumerate(cast("list[Any]", entries))]
    else:
        found = [(f": {name}", {"name": name, **table}) for name, table in data.items() if isinstance(table, dict)]
    return [(place, cast("Mapping[str, Any]", row)) for place, row in found if isinstance(row, Mapping)]


def _counts(path: Path, place: str, row: Mapping[str, Any]) -> Counts:
    name = str(row.get("name") or "").strip()
    if not name or name != source_name(name):
        raise ManifestError(f"{path}{place}: name {name!r}. A name without dot, quote or control character")
    key = next((one for one in TOKENS if row.get(one) not in (None, "")), "tokens")
    tokens = _number(path, f"{place}: {key} of {name}", row.get(key), "tokens")
    if tokens is None:
        raise ManifestError(f"{path}{place}: {name} has no tokens. {_WANTED}")
    documents = _number(path, f"{place}: documents of {name}", row.get("documents"), "1")
    if documents is not None and documents > tokens:
        raise ManifestError(
            f"{path}{place}: {name} has {documents:,} documents for {tokens:,} tokens. A document has a token at least"
        )
    return Counts(name, tokens, documents, None, str(path))


def _number(path: Path, place: str, value: Any, dimension: str) -> int | None:
    if value in (None, ""):
        return None
    try:
        number = parse(value, dimension) if isinstance(value, str) else float(value)
    except UnitError as error:
        raise ManifestError(f"{path}{place}: {value!r}: {error}") from None
    except TypeError:
        number = 0.0
    if isinstance(value, bool) or not 1 <= number <= LARGEST or number != int(number):
        raise ManifestError(f"{path}{place}: {value!r}. A whole number from 1 to {LARGEST:,.0f}")
    return int(number)
