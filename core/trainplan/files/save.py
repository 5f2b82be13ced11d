"""Saving a plan wholly or not at all, whatever happens, and never over what somebody else wrote meanwhile.

The text goes to a temporary file beside the plan, to the disk, and by one rename into its place; links stay links, mode
and owner stay. Where a rename would break a hard link, an owner or a read-only folder, the file is written in place,
after a backup is on the disk. It refuses to use locks, which differ between file systems: what is on disk is compared
by hash with what was read, at the start and just before the rename; between that and the rename, microseconds remain.
"""

import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from trainplan.files.writing import (
    MARK,
    created,
    folder_synced,
    is_read_only_volume,
    removed,
    sentence,
    temporary_name,
    unkept_attributes,
    write_all,
)

BOM = b"\xef\xbb\xbf"
READ_LIMIT = 4_000_000  # bytes; what is larger has changed in any case
UNCONFIRMED = "saved, durability not confirmed: the folder did not answer"


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save did: the file written (a link's target), the hash of its bytes, whether the disk confirmed it all.

    `notes` are sentences for people: what could not be kept, what was left beside.
    """

    path: Path
    sha256: str
    durable: bool
    notes: tuple[str, ...] = ()


class SaveError(Exception):
    """A save that did not happen: the old file is whole. `message` is the sentence, `fix` what would be right or ""."""

    def __init__(self, path: Path, message: str, fix: str = "") -> None:
        super().__init__(f"{path.name}: not written: {message}{f'. {fix}' if fix else ''}")
        self.path = path
        self.message = message
        self.fix = fix


class ChangedOnDisk(SaveError):
    """The file is not what was read. `on_disk_text` is what it holds now; None when it is gone or is not UTF-8."""

    def __init__(self, path: Path, on_disk: bytes | None) -> None:
        gone = on_disk is None
        super().__init__(
            path, "the file was removed since it was read" if gone else "the file changed since it was read"
        )
        self.on_disk_text = _text(on_disk)


class AlreadyThere(SaveError):
    """A new file was to be written where one exists."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "the file exists already", "Another name, or a decision to overwrite")


@dataclass(frozen=True, slots=True)
class _Task:
    """One save: the file a link leads to, its bytes to be, its status now (None when absent), a folder for backups."""

    target: Path
    content: bytes
    old: os.stat_result | None
    expected: str | None
    overwrite: bool
    backups: Path | None


def save(
    path: Path,
    text: str,
    *,
    expected_sha256: str | None,
    had_bom: bool = False,
    overwrite: bool = False,
    backups: Path | None = None,
) -> Saved:
    """Writes `text` as UTF-8 to `path`; `expected_sha256` is the hash of the bytes that were read, None for a new file.

    `overwrite` writes whatever is there. `backups` is a folder of the user's state for the backup of a file in a folder
    that cannot be written. Raises ChangedOnDisk, AlreadyThere or SaveError with a sentence; the old file is whole then.
    """
    try:
        content = (BOM if had_bom else b"") + text.encode()
    except UnicodeEncodeError as error:
        raise SaveError(path, "the text holds half of a character, which UTF-8 cannot say") from error
    target = _target(path)
    try:
        task = _Task(target, content, _status(target), expected_sha256, overwrite, backups)
        return _saved(task)
    except OSError as error:
        raise SaveError(target, sentence(error, target), "Another name or folder") from error


def _saved(task: _Task) -> Saved:
    _check_unchanged(task)
    if task.old is None:
        return _replaced(task)
    _check_writable(task)
    if task.old.st_nlink > 1:
        return _in_place(task, f"written in place: the file has {task.old.st_nlink} names (hard links)")
    try:
        return _replaced(task)
    except PermissionError as error:
        if _same_file(task):
            return _in_place(task, f"written in place: {sentence(error, task.target)}")
        raise


def _target(path: Path) -> Path:
    """The file that `path` leads to; links are followed, so that they stay links."""
    try:
        return Path(os.path.realpath(path, strict=os.path.islink(path) and os.path.exists(path)))
    except OSError as error:
        raise SaveError(path, sentence(error, path)) from error


def _status(target: Path) -> os.stat_result | None:
    try:
        return os.lstat(target)
    except FileNotFoundError:
        return None


def _same_file(task: _Task) -> bool:
    now = _status(task.target)
    return bool(now and task.old and (now.st_dev, now.st_ino) == (task.old.st_dev, task.old.st_ino))


def _check_writable(task: _Task) -> None:
    assert task.old is not None
    if not stat.S_ISREG(task.old.st_mode):
        kind = "a link that leads to itself" if stat.S_ISLNK(task.old.st_mode) else "not a regular file"
        raise SaveError(task.target, f"this is {kind}")
    effective = os.access in os.supports_effective_ids
    if not task.old.st_mode & 0o222 or not os.access(task.target, os.W_OK, effective_ids=effective):
        if is_read_only_volume(task.target):
            raise SaveError(task.target, sentence(OSError(errno.EROFS, ""), task.target), "Another folder")
        raise SaveError(task.target, "the file is read-only", "Write permission, or another name")


def _check_unchanged(task: _Task) -> None:
    """Compares what is on disk with what was read. Stat alone would miss a change of equal size and time."""
    if task.overwrite:
        return
    now = _content(task.target)
    if task.expected is None:
        if now is not None:
            raise AlreadyThere(task.target)
        return
    if now is None or hashlib.sha256(now).hexdigest() != task.expected:
        raise ChangedOnDisk(task.target, now)


def _content(target: Path) -> bytes | None:
    try:
        return _read(target)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno != errno.ESTALE:
            raise
        return _read(target)  # a stale handle of a network file system: once more by path


def _read(target: Path) -> bytes:
    descriptor = os.open(target, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        return file.read(READ_LIMIT) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""


def _text(content: bytes | None) -> str | None:
    try:
        return None if content is None else content.removeprefix(BOM).decode()
    except UnicodeDecodeError:
        return None


def _replaced(task: _Task) -> Saved:
    """Temporary file, disk, rename, disk. The temporary file is gone after any error before the rename."""
    temporary = temporary_name(task.target, ".tmp")
    created(temporary, task.content, task.old)
    try:
        unkept = unkept_attributes(task.target, temporary) if task.old else ()
        _check_unchanged(task)
        os.replace(temporary, task.target)
    except BaseException:
        removed(temporary)
        raise
    notes = tuple(f"the attribute {name} could not be kept" for name in unkept)
    return _confirmed(task, notes)


def _confirmed(task: _Task, notes: tuple[str, ...]) -> Saved:
    durable = folder_synced(task.target.parent)
    return Saved(task.target, _hash(task.content), durable, notes if durable else (*notes, UNCONFIRMED))


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _in_place(task: _Task, note: str) -> Saved:
    """Writes into the file itself, after a backup of it is on the disk; a failed write puts the old bytes back."""
    old = _content(task.target)
    if old is None or len(old) >= READ_LIMIT:
        raise SaveError(task.target, "the file cannot be backed up, and has to be written in place")
    backup = _backed_up(task, old)
    try:
        _check_unchanged(task)
        overwritten(task.target, task.content)
    except SaveError:
        removed(backup)
        raise
    except OSError as error:
        raise _put_back(task, old, backup, error) from error
    left = () if removed(backup) else (f"the backup {backup} is left",)
    return Saved(task.target, _hash(task.content), True, (note, *left))


def _backed_up(task: _Task, old: bytes) -> Path:
    """A durable copy of the old bytes, beside the plan or in the folder for backups."""
    folders = [task.target.parent, *([task.backups] if task.backups else [])]
    for folder in folders:
        backup = temporary_name(folder / task.target.name, ".bak")
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            created(backup, old, None)
            os.chmod(backup, 0o600)
        except OSError:
            continue
        if folder_synced(folder):
            return backup
        removed(backup)
    raise SaveError(task.target, "it has to be written in place, and no folder took a backup first", "Another folder")


def overwritten(target: Path, content: bytes) -> None:
    """Makes `content` the bytes of the existing file `target`, on the disk; after an OSError it may hold a mixture."""
    descriptor = os.open(target, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        write_all(descriptor, content)
        os.ftruncate(descriptor, len(content))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _put_back(task: _Task, old: bytes, backup: Path, error: OSError) -> SaveError:
    what = sentence(error, task.target)
    try:
        overwritten(task.target, old)
    except OSError:
        return SaveError(task.target, f"{what}, and the old text could not be put back", f"It is whole in {backup}")
    removed(backup)
    return SaveError(task.target, what, "Another folder")


def leftovers(path: Path, backups: Path | None = None) -> tuple[Path, ...]:
    """Files that a killed save of `path` left: temporary ones (.tmp) and backups (.bak); nothing is removed."""
    target = _target(path)
    start = temporary_name(target, "").name.rpartition(MARK)[0] + MARK
    folders = [target.parent, *([backups] if backups else [])]
    found = (item for folder in folders for item in _entries(folder) if item.name.startswith(start))
    return tuple(sorted(item for item in found if item.suffix in (".tmp", ".bak")))


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
