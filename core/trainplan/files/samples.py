"""A dump of decoded batches: enough of every source, made after what it was made of, and free of damage that a scan can see.

JSON lines with `source` and `text`, among the evidence of item sample-batches. Reading it is a person's work; this only says
what a person would have to see first.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final, cast

from trainplan.files.bounded import Unread, content, opened
from trainplan.files.looks import Asked, Found, Look
from trainplan.review.items import LASTING

FILE_LIMIT: Final = 256_000_000  # bytes
ENOUGH, LEAST_SHARE = 20, 0.01
"""Sequences of each source, and the share of the mixture from which a source counts: the project's notes on item sample-batches."""

DAMAGED: Final = 0.01
"""Share of texts with one kind of damage above which the dump fails: judgement of the project."""

WORDS, REPEATED = 10, 0.10
"""Share of characters in repeated 10-grams that Gopher's filter lets pass: Rae et al. 2021, arXiv 2112.11446, table A1, as
datatrove's Gopher repetition filter quotes it."""

ESCAPES: Final = 3
"""Double escapes in one text that are no accident of code or markup: judgement of the project."""

_DOUBLE: Final = re.compile(r"\\{2,}[nrt\"u]|\\u[0-9a-fA-F]{4}|&amp;(?:amp|lt|gt|quot|nbsp|#\d+);|%25[0-9A-F]{2}")
_MOJIBAKE: Final = re.compile("Ã[\u0080-\u00bf]|â€|Â[\u00a0-\u00bf]")


@dataclass(frozen=True, slots=True)
class Sample:
    """One decoded sequence: its line in the dump from 1, its source and its text."""

    line: int
    source: str
    text: str


def sample_looks(asked: Asked) -> list[Look]:
    """Each dump of the evidence: sequences by source, age, damage."""
    looks: list[Look] = []
    for path in asked.files("sample-batches", ".jsonl"):
        looks += [
            Look("sample-batches", f"sequences of {path}", path, lambda path=path: _counts(asked, path)),
            Look("sample-batches", f"age of {path}", path, lambda path=path: _age(asked, path)),
            Look("sample-batches", f"damage in {path}", path, lambda path=path: _damage(asked, path)),
        ]
    return looks


def _samples(asked: Asked, path: str) -> list[Sample]:
    lines = content(asked.path(path), FILE_LIMIT).decode("utf-8", "replace").splitlines()
    return [_sample(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _sample(number: int, line: str) -> Sample:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    entry = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    source, text = entry.get("source"), entry.get("text")
    if not isinstance(source, str) or not isinstance(text, str):
        raise Unread("failed", f"line {number} is no JSON object with source and text")
    return Sample(number, source, text)


def _shares(asked: Asked) -> dict[str, float]:
    """Share of each source: its weight, or in proportion to unique tokens where no source has one."""
    sources = asked.plan.data.sources
    weighed = any(source.weight is not None for source in sources)
    power = float(asked.plan.data.temperature or 1.0)
    parts = {
        source.name or "?": float(source.weight or 0.0) if weighed else float(source.unique_tokens or 0.0) ** power
        for source in sources
    }
    whole = sum(parts.values())
    return {name: part / whole for name, part in parts.items()} if whole else dict.fromkeys(parts, 1.0)


def _counts(asked: Asked, path: str) -> Found:
    samples = Counter(sample.source for sample in _samples(asked, path))
    few = [name for name, share in _shares(asked).items() if share >= LEAST_SHARE and samples[name] < ENOUGH]
    if few:
        return "failed", f"{few[0]} has {samples[few[0]]} sequences, {ENOUGH} at least are right"
    return "passed", f"{sum(samples.values()):,} sequences of {len(samples)} sources"


def _age(asked: Asked, path: str) -> Found:
    with opened(asked.path(path), sys.maxsize) as descriptor:
        made = dt.datetime.fromtimestamp(os.fstat(descriptor).st_mtime, dt.UTC)
    for name, since in _made_of(asked):
        if since > made:
            return "failed", f"made on {made:%Y-%m-%d %H:%M} UTC, before {name} of {since:%Y-%m-%d %H:%M}"
    if asked.now is None:
        return "passed", f"made on {made:%Y-%m-%d}, after tokenizer, manifests and shards"
    if made > asked.now + dt.timedelta(minutes=5):
        return "unknown", f"dated {made:%Y-%m-%d %H:%M} UTC, which is in the future"
    days = (asked.now - made).days
    return ("failed" if days > LASTING else "passed"), f"{days} days old, {LASTING} at most are right"


def _made_of(asked: Asked) -> list[tuple[str, dt.datetime]]:
    """What a dump has to be younger than."""
    data, found = asked.plan.data, list[tuple[str, dt.datetime]]()
    for named in (asked.plan.paths.tokenizer, *(source.manifest for source in data.sources)):
        if named and os.path.exists(asked.path(named)):
            found.append((named, dt.datetime.fromtimestamp(asked.path(named).stat().st_mtime, dt.UTC)))
    days = [("data.preprocessing_changed", data.preprocessing_changed)]
    days += [(f"the shards of {source.name}", source.built) for source in data.sources]
    return found + [(name, dt.datetime.combine(day, dt.time(), dt.UTC)) for name, day in days if day]


def _damage(asked: Asked, path: str) -> Found:
    samples = _samples(asked, path)
    seen = Counter[str]()
    first = dict[str, int]()
    for sample in samples:
        for kind in _harms(sample.text):
            seen[kind] += 1
            first.setdefault(kind, sample.line)
    told = ", ".join(
        f"{kind} in {count} of {len(samples)}, first in line {first[kind]}" for kind, count in seen.most_common()
    )
    if any(count > DAMAGED * len(samples) for count in seen.values()):
        return "failed", told
    return "passed", told or f"none seen in {len(samples):,} sequences"


def _harms(text: str) -> list[str]:
    found = ["U+FFFD"] if "\ufffd" in text else []
    found += ["mojibake"] if _MOJIBAKE.search(text) else []
    found += ["double escapes"] if len(_DOUBLE.findall(text)) >= ESCAPES else []
    return found + (["repeated n-grams"] if repeated_share(text) > REPEATED else [])


def repeated_share(text: str) -> float:
    """Share of a text's characters that stand in a 10-gram of words seen before in it."""
    words, seen = text.split(), set[str]()
    place = repeated = 0
    while place + WORDS <= len(words):
        gram = " ".join(words[place : place + WORDS])
        if gram in seen:
            repeated += len(gram)
            place += WORDS
        else:
            seen.add(gram)
            place += 1
    return repeated / max(1, len(text))
