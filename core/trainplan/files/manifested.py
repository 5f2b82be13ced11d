"""Data manifests beside the plan's sources: they parse, and tokens, rows, bytes and checksums are what the plan says.

A count in the plan is compared at the precision that it was written with: `13.5T` is right for 13,512,345,678,901 tokens. Shards
are never read whole: sizes by `stat`, and a few checksums of a list that stands beside them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from trainplan.budgets.situation import Situation
from trainplan.files.bounded import Listing, Unread, leads_out, listing
from trainplan.files.looks import Asked, Found, Look
from trainplan.files.sums import held
from trainplan.interop.manifests.counts import Counts, ManifestError
from trainplan.interop.manifests.reading import counts_of, vocabulary_error
from trainplan.plan.tables import Source
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import Quantity

SUFFIXES: Final = (".idx", ".json", ".csv", ".toml")
SAMPLE: Final = 8  # shards whose checksum is computed
_WRITTEN: Final = re.compile(r"^\s*\d[\d_,]*(?:\.(\d+))?")


def manifest_looks(asked: Asked) -> list[Look]:
    """Manifests against the plan, shards by size, and listed checksums."""
    paths, looks = asked.plan.paths, list[Look]()
    if paths.manifests or any(source.manifest for source in asked.plan.data.sources):
        named = paths.manifests or ""
        looks.append(Look("data-manifests", "manifests hold what the plan says", named, lambda: _counted(asked)))
    if paths.data:
        looks.append(Look("data-manifests", "token shards", paths.data, lambda: _shards(asked, paths.data or "")))
    looks += [
        Look("data-manifests", f"checksums in {named}", named, lambda named=named: _sums(asked, named))
        for named in dict.fromkeys(one for one in (paths.manifests, paths.data) if one)
    ]
    return looks


def _counted(asked: Asked) -> Found:
    by_name, named = _in_folder(asked), 0
    lacking, faults, rows = list[str](), list[str](), 0
    for source in asked.plan.data.sources:
        counts = _of_source(asked, source) or by_name.get(source.name or "")
        if counts is None:
            lacking.append(source.name or "?")
            continue
        named, rows = named + 1, rows + (counts.documents or 0)
        faults += _faults(asked, source, counts)
    links = _links(asked)
    if faults:
        return "failed", _first(faults) + links
    if lacking:
        return "unknown", f"{named} sources agree; no manifest for {', '.join(lacking[:5])}{links}"
    return "passed", f"{named} sources agree, {rows:,} rows{links}"


def _links(asked: Asked) -> str:
    """Links out of the plan's folder that a source names and that were followed, and those of a folder that were not."""
    named = [source.manifest for source in asked.plan.data.sources if source.manifest]
    out = [(one, leads_out(asked.folder, asked.path(one))) for one in named]
    told = [f"; {one} is a link out of the plan's folder, to {real}" for one, real in out if real][:1]
    folder = asked.path(asked.plan.paths.manifests or "")
    passed = listing(folder).links if asked.plan.paths.manifests and os.path.isdir(folder) else 0
    return "".join([*told, *([f"; {passed} links not followed"] if passed else [])])


def _first(faults: list[str]) -> str:
    return faults[0] + (f", and {len(faults) - 1} more" if len(faults) > 1 else "")


def _in_folder(asked: Asked) -> dict[str, Counts]:
    """What the manifests of `paths.manifests` say, by source."""
    named = asked.plan.paths.manifests
    if not named:
        return {}
    path = asked.path(named)
    files = [one for one, _ in _whole(path).files if one.suffix in SUFFIXES] if os.path.isdir(path) else [path]
    return {counts.name: counts for file in files for counts in _counts(file)}


def _whole(folder: Path) -> Listing:
    found = listing(folder)
    if not found.whole:
        raise Unread("unknown", f"{folder.name} holds more than {len(found.files):,} files; the rest was not looked at")
    return found


def _counts(path: Path) -> tuple[Counts, ...]:
    try:
        return counts_of(path)
    except ManifestError as error:
        raise Unread("failed", str(error).replace(f"{path}", path.name)) from None


def _of_source(asked: Asked, source: Source) -> Counts | None:
    if not source.manifest:
        return None
    found = _counts(asked.path(source.manifest))
    return next((one for one in found if one.name == source.name), found[0] if len(found) == 1 else None)


def _faults(asked: Asked, source: Source, counts: Counts) -> Iterator[str]:
    for what, planned, found in (
        ("tokens", source.unique_tokens, counts.tokens),
        ("rows", source.documents, counts.documents),
    ):
        if planned is not None and found is not None and abs(found - float(planned)) > _rounding(planned):
            yield f"{source.name}: {found:,} {what} in the manifest, {_text(planned)} in the plan"
    vocabulary = Situation(asked.plan)["model.vocab_size"]
    wrong = vocabulary_error(counts, int(vocabulary) if isinstance(vocabulary, Figure) else None)
    if wrong:
        yield wrong
    yield from _bytes_of(asked, source, counts)


def _bytes_of(asked: Asked, source: Source, counts: Counts) -> Iterator[str]:
    """The .bin beside an .idx has as many bytes as its tokens take."""
    shards = Path(counts.manifest).with_suffix(".bin")
    if not counts.manifest.endswith(".idx") or not os.path.isfile(shards) or not counts.tokens:
        return
    wanted, size = counts.tokens * (counts.bytes_per_token or 0), shards.stat().st_size
    if size != wanted:
        yield f"{source.name}: {shards.name} has {size:,} bytes, its index says {wanted:,}"


def _rounding(value: float) -> float:
    """Half a unit of the last digit that was written; a whole number without a prefix is exact."""
    text = value.text if isinstance(value, Quantity) else ""
    written = _WRITTEN.match(text)
    if written is None:
        return 0.0
    number = float(written[0].replace(",", "").replace("_", ""))
    scale = float(value) / number if number else 1.0
    return 0.5 * scale / 10 ** len(written[1] or "") if scale > 1.0 else 0.0


def _text(value: float) -> str:
    return value.text if isinstance(value, Quantity) and value.text else f"{float(value):,.0f}"


def _shards(asked: Asked, named: str) -> Found:
    folder = asked.path(named)
    found = listing(folder)
    links = f"; {found.links} links not followed" if found.links else ""
    if not found.whole:
        return "unknown", f"more than {len(found.files):,} files; the rest was not looked at{links}"
    raw = [size for path, size in found.files if path.suffix == ".bin"]
    width, sources = asked.plan.data.bytes_per_token, asked.plan.data.sources
    if not raw or not width or not all(source.unique_tokens for source in sources):
        size = sum(size for _, size in found.files)
        return "unknown", f"{len(found.files):,} files, {size:,} bytes; tokens cannot be told from sizes{links}"
    planned = sum(float(source.unique_tokens or 0) for source in sources)
    slack = sum(_rounding(source.unique_tokens or 0.0) for source in sources)
    tokens = sum(raw) / float(width)
    told = f"{tokens:,.0f} tokens in {len(raw):,} .bin files, {planned:,.0f} planned{links}"
    return ("passed" if abs(tokens - planned) <= slack else "failed"), told


def _sums(asked: Asked, named: str) -> Found | None:
    """A few files of a SHA256SUMS list beside them, evenly chosen."""
    folder = asked.path(named)
    if not os.path.isdir(folder):
        return None
    lists = [one for name in ("SHA256SUMS", "sha256sums.txt", "SHA256SUMS.txt") if os.path.isfile(one := folder / name)]
    if not lists:
        return None
    return held(folder, lists[0], SAMPLE)
