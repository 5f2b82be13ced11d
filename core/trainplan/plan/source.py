"""Reading a plan file without surprises: what is not a readable TOML text of modest size is said, never waited for.

It exists because a plan may be a FIFO, a device, UTF-16 or a megabyte of brackets, and because tomllib's errors have
no words for people. It refuses anything but regular files, never writes, and never judges what the values mean.
"""

import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import Any

from trainplan.frozen import frozen
from trainplan.plan.caps import values_of

LIMIT = 1_000_000  # bytes; a plan of a hundred sources is 20 kB
BOM = b"\xef\xbb\xbf"
WIDE_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@frozen
class PlanSource:
    """A file as it was read: `text` without byte order mark, line ends as found; `sha256` in hex, of the bytes."""

    path: Path
    text: str
    had_bom: bool
    sha256: str


class SourceError(Exception):
    """What cannot be read: line and column from 1, what is wrong, and what would be right ("" if that is open).

    Where no file was read there is no place in it: line and column are 0, and the sentence has none.
    """

    def __init__(self, path: Path, line: int, column: int, message: str, fix: str) -> None:
        super().__init__(f"{placed(path, line, column)}: {message}{f'. {fix}' if fix else ''}")
        self.path = path
        self.line = line
        self.column = column
        self.message = message
        self.fix = fix


def placed(file: Path | str, line: int, column: int) -> str:
    """`FILE:LINE:COLUMN`, and the file alone where it was not read: line and column are 0."""
    return f"{file}:{line}:{column}" if line else str(file)


def read_source(path: Path) -> PlanSource:
    """The file at `path`; raises SourceError. Never waits for a pipe, and reads at most LIMIT + 1 bytes."""
    try:
        content = _content(path)
    except OSError as error:
        message, fix = _refusal(path, error)
        raise SourceError(path, 0, 0, message, fix) from error
    if len(content) > LIMIT:
        raise SourceError(path, 1, 1, f"the file is over {LIMIT:,} bytes, which no plan is", "A plan file, in TOML")
    return PlanSource(path, _decoded(path, content), content.startswith(BOM), hashlib.sha256(content).hexdigest())


def _content(path: Path) -> bytes:
    """At most LIMIT + 1 bytes. A stale handle of a network file system is tried once more by path."""
    try:
        return _read(path)
    except OSError as error:
        if error.errno != errno.ESTALE:
            raise
        return _read(path)


def _read(path: Path) -> bytes:
    _check_kind(path, os.stat(path).st_mode)  # before opening: opening a device may act on it
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(descriptor, "rb", buffering=0) as file:
        _check_kind(path, os.fstat(descriptor).st_mode)
        return _all_of(file.read, LIMIT + 1)


def _all_of(read: Any, most: int) -> bytes:
    pieces = b""
    while len(pieces) < most and (piece := read(most - len(pieces))):
        pieces += piece
    return pieces


def _check_kind(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = KINDS.get(stat.S_IFMT(mode), "not a regular file")
        raise SourceError(path, 0, 0, f"this is {kind}", "A plan is a regular file")


def unread(path: Path, error: OSError) -> str:
    """Why a file that was named cannot be read, and the nearest name where it is not there: for logs and manifests as for plans."""
    return f"{path}: " + ". ".join(part for part in _refusal(path, error) if part)


def _refusal(path: Path, error: OSError) -> tuple[str, str]:
    if isinstance(error, FileNotFoundError):
        return _absence(path)
    if isinstance(error, PermissionError):
        return "the file may not be read by this user", "Read permission for the file and its folders"
    if error.errno == errno.ENOTDIR:
        return "a part of the path is a file, not a folder", ""
    return f"the file cannot be read: {os.strerror(error.errno or 0)}", ""


def _absence(path: Path) -> tuple[str, str]:
    folder = path.parent
    if not os.path.isdir(folder):
        return f"the folder {folder} does not exist", ""
    if os.path.islink(path):
        return f"the link leads to {os.readlink(path)}, which does not exist", ""
    nearest = _nearest(path.name, folder)
    return "the file does not exist", f"Nearest in its folder: {nearest}" if nearest else ""


def _nearest(name: str, folder: Path) -> str:
    from difflib import get_close_matches

    try:
        names = os.listdir(folder)
    except OSError:
        return ""
    return next(iter(get_close_matches(name, names, 1)), "")


def _decoded(path: Path, content: bytes) -> str:
    wide = _wide_encoding(content)
    if wide:
        raise SourceError(path, 1, 1, f"the file is {wide}", "TOML is UTF-8")
    body = content.removeprefix(BOM)
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        before = body[: error.start].decode()
        from trainplan.plan import syntax

        place = syntax.place_at(before, len(before))
        message = f"byte 0x{body[error.start]:02x} is not UTF-8"
        raise SourceError(path, place.line, place.column, message, "TOML is UTF-8") from error


def _wide_encoding(content: bytes) -> str | None:
    """UTF-16 or UTF-32 by its mark, or UTF-16 by the zeros between its letters."""
    marked = next((name for mark, name in WIDE_MARKS.items() if content.startswith(mark)), None)
    head = content[:200]
    zeros = max(head[0::2].count(0), head[1::2].count(0))
    return marked or ("UTF-16" if zeros * 4 > len(head) > 1 else None)


def parse_source(text: str, path: Path = Path("plan.toml")) -> dict[str, Any]:
    """The values of a TOML text; raises SourceError with line, column and a sentence. `path` is only for the error."""
    result = values_of(text)
    if result is None:
        from trainplan.plan import syntax  # the words for what is wrong: a good text never needs them

        result = syntax.parsed(text)
        if isinstance(result, syntax.Mistake):
            place = syntax.place_at(text, result.offset)
            raise SourceError(path, place.line, place.column, result.message, result.fix)
    return result
