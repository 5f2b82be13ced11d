"""What a manifest says of one source, whatever its format, and the error that a reader raises."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

TWO_BYTES: Final = 65_500
"""Vocabulary from which Megatron no longer stores ids in two bytes (indexed_dataset.py, optimal_dtype)."""


class ManifestError(ValueError):
    """A manifest that cannot be used, in one sentence."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a manifest says of one source: tokens, documents, bytes of a token; None where it does not say."""

    name: str
    tokens: int | None
    documents: int | None
    bytes_per_token: int | None
    manifest: str
    note: str = ""

    @property
    def mean_document_tokens(self) -> float | None:
        """Mean tokens of a document, where both counts are known."""
        return self.tokens / self.documents if self.tokens is not None and self.documents else None


def source_name(text: str) -> str:
    """A name that a source can have: no dot, quote or control character."""
    return "".join("-" if one in ".\"'" or not one.isprintable() else one for one in text)[:200] or "source"


def text_of(path: Path, most: int) -> str:
    """The text of a small manifest, `most` bytes at the most. Raises ManifestError."""
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ManifestError(f"{path}: more than {most // 1_000_000} MB, which no list of sources has")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ManifestError(f"{path}: not UTF-8 text") from None


def vocabulary_error(counts: Counts, vocabulary: int | None) -> str:
    """Why a vocabulary does not fit the bytes that a manifest stores a token in; empty where it does or nobody says."""
    width = counts.bytes_per_token
    if vocabulary is None or width is None:
        return ""
    holds = TWO_BYTES - 1 if width == 2 else 256**width
    if vocabulary <= holds:
        return ""
    return f"{counts.manifest}: {vocabulary:,} ids do not fit {width} byte{'' if width == 1 else 's'} a token, which hold {holds:,}"
