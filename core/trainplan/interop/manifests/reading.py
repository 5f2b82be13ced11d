"""Manifests of token data: what a file says a source has, whichever format it is in.

Reads counts and nothing else: no tokens, no text. Every error is a sentence with what would be right. A file larger than
memory is read in pieces; a count that the file's own size denies is refused before anything is allocated.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final

from trainplan.interop.manifests.counts import Counts, ManifestError, vocabulary_error
from trainplan.plan.source import unread

__all__ = ["Counts", "ManifestError", "counts_of", "vocabulary_error"]
SUFFIXES: Final = ".idx of Megatron, index.json of MosaicML Streaming, .csv or .toml with name and tokens"


def counts_of(path: Path) -> tuple[Counts, ...]:
    """The sources that a manifest names. Raises ManifestError; never reads a pipe or a device."""
    _check_regular(path)
    try:
        return _counts(path)
    except OSError as error:
        raise ManifestError(unread(path, error)) from None


def _check_regular(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise ManifestError(unread(path, error)) from None
    if not stat.S_ISREG(mode):
        raise ManifestError(f"{path}: not a regular file. {SUFFIXES}")


def _counts(path: Path) -> tuple[Counts, ...]:
    if path.suffix == ".idx":
        from trainplan.interop.manifests.megatron_index import index_counts

        return (index_counts(path),)
    if path.suffix == ".json":
        from trainplan.interop.manifests.mosaic_index import mosaic_counts

        return (mosaic_counts(path),)
    if path.suffix in (".csv", ".toml"):
        from trainplan.interop.manifests.token_tables import table_counts

        return table_counts(path)
    raise ManifestError(f"{path}: not a manifest that is known. {SUFFIXES}")
