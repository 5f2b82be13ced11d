"""Megatron's .idx: header, length of every sequence, and where documents begin. Lengths are summed in pieces.

Format of megatron/core/datasets/indexed_dataset.py: magic, version, dtype code, sequences, document offsets; then lengths
(int32), pointers (int64), document offsets (int64) and, for multimodal data, modes (int8).
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import BinaryIO, Final

from trainplan.interop.manifests.counts import Counts, ManifestError, source_name

MAGIC: Final = b"MMIDIDX\x00\x00"
HEADER: Final = struct.Struct("<9sQBQQ")
DTYPES: Final = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 8, 7: 4, 8: 2}
"""Bytes of a token by code: uint8, int8, int16, int32, int64, float64, float32, uint16."""
FLOATS: Final = (6, 7)
PIECE: Final = 1 << 20  # lengths at a time: 4 MiB


def index_counts(path: Path) -> Counts:
    """Tokens, documents and bytes of a token of one .idx. Raises ManifestError."""
    with path.open("rb") as file:
        code, sequences, offsets = _header(path, file)
        _check_size(path, sequences, offsets)
        tokens = _sum_lengths(path, file, sequences)
    documents = max(0, offsets - 1)  # the offsets have one more than there are documents
    name = source_name(path.stem.removesuffix("_document").removesuffix("_text"))
    return Counts(name, tokens, documents, DTYPES[code], str(path))


def _header(path: Path, file: BinaryIO) -> tuple[int, int, int]:
    """Code of the dtype, sequences, document offsets."""
    data = file.read(HEADER.size)
    if not MAGIC.startswith(data[: len(MAGIC)]) or not data:
        raise ManifestError(f"{path}: does not begin with MMIDIDX. The .idx of a Megatron indexed dataset")
    if len(data) < HEADER.size:
        raise ManifestError(f"{path}: {len(data)} bytes, and the header alone has {HEADER.size}: the file is cut off")
    _, version, code, sequences, offsets = HEADER.unpack(data)
    if version != 1:
        raise ManifestError(f"{path}: version {version}. Version 1 is right")
    if code not in DTYPES or code in FLOATS:
        raise ManifestError(f"{path}: dtype code {code}. 1 to 5 or 8, a whole number of bytes for each token")
    return code, sequences, offsets


def _check_size(path: Path, sequences: int, offsets: int) -> None:
    size, wanted = path.stat().st_size, HEADER.size + sequences * 12 + offsets * 8
    if size not in (wanted, wanted + sequences):
        what = "the file is cut off" if size < wanted else "there is more in the file"
        raise ManifestError(
            f"{path}: {sequences:,} sequences and {offsets:,} offsets take {wanted:,} bytes, and there are {size:,}: {what}"
        )
    if offsets == 0 or offsets - 1 > sequences:
        raise ManifestError(
            f"{path}: {offsets:,} document offsets for {sequences:,} sequences. One more than documents, each with a sequence"
        )


def _sum_lengths(path: Path, file: BinaryIO, sequences: int) -> int:
    from array import array

    tokens, left = 0, sequences
    while left:
        data = file.read(min(left, PIECE) * 4)
        piece = array("i", data[: len(data) // 4 * 4])
        if sys.byteorder == "big":
            piece.byteswap()
        if not piece:
            raise ManifestError(f"{path}: {left:,} lengths are missing: the file is cut off")
        if min(piece) < 0:
            raise ManifestError(f"{path}: a sequence of {min(piece)} tokens. Lengths are from 0")
        tokens, left = tokens + sum(piece), left - len(piece)
    return tokens
