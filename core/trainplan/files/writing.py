"""Durable writing of bytes, and the sentences for what the system may answer.

It exists so that save and its backups fail with the same words. It refuses to decide what is written where.
"""

import errno
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

MARK = ".trainplan-"
NAME_BYTES = 200  # of the plan's name in a temporary name, so that the whole stays below 255

SENTENCES = {
    errno.EACCES: "this user may not write in {folder}",
    errno.EPERM: "the system does not permit this user to write {name}",
    errno.EROFS: "the file system of {folder} is read-only",
    errno.ENOSPC: "no space is left on the volume of {folder}",
    errno.EDQUOT: "the quota of this user on the volume of {folder} is used up; the volume itself may have space",
    errno.EIO: "the storage of {folder} reported an input or output error",
    errno.ESTALE: "the network file system lost {folder}",
    errno.EXDEV: "{folder} lies on more than one file system",
    errno.ENOENT: "the folder {folder} does not exist",
    errno.ENOTDIR: "{folder} is not a folder",
    errno.ELOOP: "{name} is a link that leads to itself",
    errno.ENAMETOOLONG: "the name {name} is too long for this file system",
    errno.EFBIG: "the text is larger than the system allows a file to be",
    errno.ETXTBSY: "{name} is in use by the system",
    errno.EBUSY: "{name} is in use by the system",
}


@dataclass(frozen=True, slots=True)
class Written:
    """A new file with its bytes on the disk: its path, and whether its folder was made durable too."""

    path: Path
    durable: bool


def sentence(error: OSError, path: Path) -> str:
    """What `error` means for writing `path`, in our words; quota is told apart from a full volume."""
    if error.errno == errno.ENOSPC and _without_inodes(path.parent):
        return f"the volume of {path.parent} can hold no more files, though it may have space"
    known = SENTENCES.get(error.errno or 0)
    if known is None:
        return f"the system answered: {os.strerror(error.errno or 0)}"
    return known.format(folder=path.parent, name=path.name)


def is_read_only_volume(path: Path) -> bool:
    """Whether the file system of a path takes no writing at all, whatever the mode of the file."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _without_inodes(folder: Path) -> bool:
    try:
        volume = os.statvfs(folder)
    except OSError:
        return False
    return volume.f_files > 0 and volume.f_favail == 0


def temporary_name(path: Path, suffix: str) -> Path:
    """A hidden name beside `path` that `leftovers` recognises."""
    name = os.fsdecode(os.fsencode(path.name)[:NAME_BYTES])
    return path.with_name(f".{name}{MARK}{secrets.token_hex(4)}{suffix}")


def created(path: Path, content: bytes, like: os.stat_result | None) -> None:
    """Makes the new file `path` with `content` on the disk, with mode and owner of `like` (or the umask's mode).

    Raises OSError, PermissionError too when the owner cannot be kept; then no file is left.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, 0o600 if like else 0o666)
    try:
        _fill(descriptor, content, like)
    except BaseException:
        removed(path)
        raise


def _fill(descriptor: int, content: bytes, like: os.stat_result | None) -> None:
    try:
        if like:
            _likened(descriptor, like)
        write_all(descriptor, content)
        os.fsync(descriptor)
    except BaseException:
        _closed_quietly(descriptor)
        raise
    os.close(descriptor)  # an error here is one of writing, on network file systems


def _likened(descriptor: int, like: os.stat_result) -> None:
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (like.st_uid, like.st_gid):
        os.fchown(descriptor, like.st_uid, like.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(like.st_mode))  # after the owner: changing that clears some bits


def _closed_quietly(descriptor: int) -> None:
    try:
        os.close(descriptor)
    except OSError:
        return


def write_all(descriptor: int, content: bytes) -> None:
    """Writes all of `content` at the descriptor's offset; raises OSError."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def removed(path: Path) -> bool:
    """Whether `path` is gone after an attempt to remove it."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def folder_synced(folder: Path) -> bool:
    """Whether the names in `folder` were confirmed to be on the disk; some file systems cannot say."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        os.fsync(descriptor)
    except OSError:
        _closed_quietly(descriptor)
        return False
    try:
        os.close(descriptor)
    except OSError:
        return False
    return True


def unkept_attributes(old: Path, new: Path) -> tuple[str, ...]:
    """Copies extended attributes (ACLs among them) from `old` to `new`; the names of those that could not be."""
    if not hasattr(os, "listxattr"):
        return ()
    try:
        names = os.listxattr(old)
    except OSError:  # a file system without them
        return ()
    return tuple(name for name in names if not _attribute_kept(old, new, name))


def _attribute_kept(old: Path, new: Path, name: str) -> bool:
    try:
        value = os.getxattr(old, name)
        os.setxattr(new, name, value)
    except OSError:
        return False
    return True
