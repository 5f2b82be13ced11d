"""Saving: what stays, what is refused, and that the file is wholly old or wholly new under injected faults."""

import errno
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from trainplan.files import save as saving
from trainplan.files.save import AlreadyThere, ChangedOnDisk, SaveError, leftovers, save

OLD, NEW = "old = 1\n", "new = 2 # longer than the old text\n"
NOBODY = 65534
SCRIPT = Path(__file__).with_name("save_once.py")
CORE = Path(__file__).resolve().parents[3] / "core"


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    file = tmp_path / "plan.toml"
    file.write_text(OLD)
    return file


def refusal(path: Path, text: str = NEW, **options: Any) -> SaveError:
    options.setdefault("expected_sha256", digest(path) if os.path.isfile(path) else None)
    with pytest.raises(SaveError) as caught:
        save(path, text, **options)
    return caught.value


def test_a_save_replaces_the_text_and_keeps_the_mode(plan: Path) -> None:
    plan.chmod(0o640)
    saved = save(plan, NEW, expected_sha256=digest(plan))
    assert plan.read_text() == NEW
    assert (saved.path, saved.sha256, saved.durable, saved.notes) == (plan, digest(plan), True, ())
    assert stat.S_IMODE(plan.stat().st_mode) == 0o640
    assert os.listdir(plan.parent) == ["plan.toml"]


def test_line_ends_and_a_byte_order_mark_are_written_as_they_are(plan: Path) -> None:
    save(plan, "a = 1\r\nb = 2", expected_sha256=digest(plan), had_bom=True)
    assert plan.read_bytes() == b"\xef\xbb\xbfa = 1\r\nb = 2"


def test_a_new_file_takes_the_umask_and_never_an_existing_place(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        save(tmp_path / "n", NEW, expected_sha256=None)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "n").stat().st_mode) == 0o640
    assert isinstance(refusal(tmp_path / "n", OLD, expected_sha256=None), AlreadyThere)
    assert (tmp_path / "n").read_text() == NEW
    save(tmp_path / "n", OLD, expected_sha256=None, overwrite=True)
    assert (tmp_path / "n").read_text() == OLD


def test_a_link_stays_a_link(plan: Path) -> None:
    (plan.parent / "sub").mkdir()
    link = plan.parent / "sub" / "link"
    link.symlink_to("../plan.toml")
    assert save(link, NEW, expected_sha256=digest(link)).path == plan
    assert link.is_symlink()
    assert plan.read_text() == NEW
    dangling = plan.parent / "dangling"
    dangling.symlink_to("sub/made")
    save(dangling, NEW, expected_sha256=None)
    assert dangling.is_symlink()
    assert (plan.parent / "sub" / "made").read_text() == NEW


def test_a_file_with_two_names_keeps_both(plan: Path) -> None:
    other = plan.with_name("other")
    other.hardlink_to(plan)
    saved = save(plan, NEW, expected_sha256=digest(plan))
    assert other.read_text() == NEW
    assert plan.samefile(other)
    assert saved.notes == ("written in place: the file has 2 names (hard links)",)
    assert leftovers(plan) == ()


def test_a_failed_write_in_place_puts_the_old_text_back(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan.with_name("other").hardlink_to(plan)
    failing_write(monkeypatch, times=1)
    assert refusal(plan).message.startswith("the quota of this user")
    assert plan.read_text() == OLD
    assert leftovers(plan) == ()


def test_a_text_that_cannot_be_put_back_stays_in_its_backup(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan.with_name("other").hardlink_to(plan)
    failing_write(monkeypatch, times=2)
    error = refusal(plan)
    [backup] = leftovers(plan)
    assert error.fix == f"It is whole in {backup}"
    assert backup.read_text() == OLD
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600


def failing_write(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Lets the next writes in place write half and fail with EDQUOT."""
    whole, left = saving.write_all, [times]

    def write(descriptor: int, content: bytes) -> None:
        if not left[0]:
            return whole(descriptor, content)
        left[0] -= 1
        whole(descriptor, content[: len(content) // 2])
        raise OSError(errno.EDQUOT, "quota")

    monkeypatch.setattr(saving, "write_all", write)


def test_a_read_only_file_is_refused(plan: Path) -> None:
    plan.chmod(0o444)
    assert refusal(plan).message == "the file is read-only"
    assert plan.read_text() == OLD


@contextmanager
def shared_folder(mode: int) -> Iterator[Path]:
    """A folder that another user reaches, with a plan that anybody may write, seen as that other user."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    plan = folder / "plan.toml"
    plan.write_text(OLD)
    plan.chmod(0o666)
    (folder / "state").mkdir(mode=0o777)
    (folder / "state").chmod(0o777)
    folder.chmod(mode)
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        os.seteuid(0)
        os.setegid(0)
        shutil.rmtree(folder)


def test_a_read_only_folder_needs_a_backup_elsewhere() -> None:
    with shared_folder(0o755) as folder:
        plan = folder / "plan.toml"
        assert "no folder took a backup first" in refusal(plan).message
        assert plan.read_text() == OLD
        saved = save(plan, NEW, expected_sha256=digest(plan), backups=folder / "state" / "new")
        assert plan.read_text() == NEW
        assert saved.notes == (f"written in place: this user may not write in {folder}",)
        assert leftovers(plan, folder / "state" / "new") == ()


def test_the_owner_stays() -> None:
    with shared_folder(0o777) as folder:
        plan = folder / "plan.toml"
        saved = save(plan, NEW, expected_sha256=digest(plan))
        assert plan.read_text() == NEW
        assert plan.stat().st_uid == 0
        assert saved.notes == ("written in place: the system does not permit this user to write plan.toml",)


def test_extended_attributes_stay(plan: Path) -> None:
    try:
        os.setxattr(plan, "user.origin", b"here")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    save(plan, NEW, expected_sha256=digest(plan))
    assert os.getxattr(plan, "user.origin") == b"here"


def test_attributes_that_cannot_stay_are_said(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "listxattr", lambda _path: ["user.none"])
    saved = save(plan, NEW, expected_sha256=digest(plan))
    assert saved.notes == ("the attribute user.none could not be kept",)


def test_a_change_that_stat_does_not_show_is_found(plan: Path) -> None:
    read, before = digest(plan), plan.stat()
    plan.write_text("odl = 1\n")
    os.utime(plan, ns=(before.st_atime_ns, before.st_mtime_ns))
    error = refusal(plan, expected_sha256=read)
    assert isinstance(error, ChangedOnDisk)
    assert error.on_disk_text == "odl = 1\n"
    assert plan.read_text() == "odl = 1\n"


def test_times_of_the_file_do_not_matter(plan: Path) -> None:
    for year in (-1, 1):
        when = plan.stat().st_mtime + year * 31_536_000
        os.utime(plan, (when, when))
        assert save(plan, plan.read_text(), expected_sha256=digest(plan)).durable


def test_a_file_that_was_removed_or_is_no_text_has_changed(plan: Path) -> None:
    read = digest(plan)
    plan.write_bytes(b"\xff\xfe")
    unread = refusal(plan, expected_sha256=read)
    plan.unlink()
    gone = refusal(plan, expected_sha256=read)
    assert isinstance(unread, ChangedOnDisk)
    assert isinstance(gone, ChangedOnDisk)
    assert (unread.on_disk_text, gone.on_disk_text) == (None, None)
    assert (unread.message, gone.message) == (
        "the file changed since it was read",
        "the file was removed since it was read",
    )


def test_a_change_while_saving_is_found_before_the_rename(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = saving.created

    def created(path: Path, content: bytes, like: os.stat_result | None) -> None:
        whole(path, content, like)
        plan.write_text("theirs = 1\n")

    monkeypatch.setattr(saving, "created", created)
    assert isinstance(refusal(plan), ChangedOnDisk)
    assert plan.read_text() == "theirs = 1\n"
    assert os.listdir(plan.parent) == ["plan.toml"]


def test_what_cannot_be_written_is_said(plan: Path) -> None:
    folder = plan.parent
    os.mkfifo(folder / "fifo")
    (folder / "loop").symlink_to("loop")
    assert isinstance(refusal(folder / "fifo"), AlreadyThere)
    assert refusal(folder / "fifo", overwrite=True).message == "this is not a regular file"
    assert refusal(folder / "loop").message == "loop is a link that leads to itself"
    assert refusal(folder / "no" / "p").message == f"the folder {folder / 'no'} does not exist"
    assert refusal(plan / "p").message == f"{plan} is not a folder"
    assert refusal(folder / ("n" * 300)).message.endswith("is too long for this file system")
    assert "half of a character" in refusal(plan, "\ud800").message
    assert str(refusal(folder, overwrite=True)) == f"{folder.name}: not written: this is not a regular file"


def test_leftovers_are_those_of_the_plan(plan: Path) -> None:
    names = [
        ".plan.toml.trainplan-0a1b2c3d.tmp",
        ".plan.toml.trainplan-0a1b2c3d.bak",
        ".other.trainplan-0a.tmp",
        "x.tmp",
    ]
    for name in names:
        plan.with_name(name).touch()
    assert [file.name for file in leftovers(plan)] == sorted(names[:2])


# Faults injected into the system calls of a save in a process of its own. strace counts `when` for each call's name.

MEMORY = {"mmap", "munmap", "mremap", "brk", "ioctl", "lseek", "mprotect", "getrandom"}
CALL = re.compile(r"^(\w+)\((.*)")


def traced(plan: Path, way: str, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": os.fspath(CORE), "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]}
    command = ["strace", "-qq", *options, sys.executable, "-S", os.fspath(SCRIPT), os.fspath(plan), NEW, way]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def calls(plan: Path, way: str) -> list[tuple[str, int, str]]:
    """The system calls of one save: name, which one of its name in the whole process, and arguments."""
    log = plan.parent.with_name("trace")
    if shutil.which("strace") is None or traced(plan, way, "-o", os.fspath(log)).returncode:
        pytest.skip("strace cannot trace here")
    found: list[tuple[str, int, str]] = []
    counts: Counter[str] = Counter()
    inside = False
    for match in filter(None, map(CALL.match, log.read_text().splitlines())):
        counts[match[1]] += 1
        inside = "/marker-begin" in match[2] or (inside and "/marker-end" not in match[2])
        if inside and "/marker" not in match[2] and match[1] not in MEMORY:
            found.append((match[1], counts[match[1]], match[2]))
    return found


def faulted(folder: Path, way: str, call: tuple[str, int, str], fault: str) -> tuple[int, str, str]:
    """Runs a save with a fault at one call: its exit status, what it said, and the text afterwards."""
    plan = fresh(folder)
    name, number, _ = call
    options = ["-o", "/dev/null", "-e", f"trace={name}", "-e", f"inject={name}:{fault}:when={number}"]
    result = traced(plan, way, *options)
    return result.returncode, result.stdout.strip(), plan.read_text()


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "plan.toml").write_text(OLD)
    return folder / "plan.toml"


def test_a_kill_at_any_call_leaves_the_old_or_the_new_text(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    texts: Counter[str] = Counter()
    left = 0
    for call in calls(fresh(folder), "safe"):
        status, said, text = faulted(folder, "safe", call, "signal=KILL")
        assert status in (-9, 137), (call, said)
        texts[text] += 1
        others = [name for name in os.listdir(folder) if name != "plan.toml"]
        assert [file.name for file in leftovers(folder / "plan.toml")] == others
        left += bool(others)
    assert set(texts) == {OLD, NEW}
    assert left > 3


def test_the_control_that_truncates_loses_the_text(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    texts = {faulted(folder, "naive", call, "signal=KILL")[2] for call in calls(fresh(folder), "naive")}
    assert "" in texts


def of_the_new_file(found: list[tuple[str, int, str]]) -> tuple[list[Any], list[Any]]:
    """The calls that make the new file, up to the rename; and those after it."""
    names = [name for name, _, _ in found]
    start = next(i for i, (_, _, arguments) in enumerate(found) if ".tmp" in arguments)
    rename = names.index("rename")
    closed = names.index("close", start)
    before = [call for call in found[start : closed + 1] if call[0] in ("openat", "write", "fsync", "close")]
    return [*before, found[rename]], found[rename + 1 :]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("ENOSPC", "no space is left on the volume"),
        ("EDQUOT", "the quota of this user on the volume"),
        ("EIO", "reported an input or output error"),
    ],
)
def test_an_error_at_any_step_keeps_the_old_text_and_says_what(tmp_path: Path, fault: str, words: str) -> None:
    folder = tmp_path / "f"
    steps, _ = of_the_new_file(calls(fresh(folder), "safe"))
    assert [name for name, _, _ in steps] == ["openat", "write", "fsync", "close", "rename"]
    for step in steps:
        status, said, text = faulted(folder, "safe", step, f"error={fault}")
        assert (status, text) == (0, OLD), step
        assert said.startswith("SaveError plan.toml: not written: "), step
        assert words in said, step
        assert os.listdir(folder) == ["plan.toml"], step


@pytest.mark.parametrize("fault", ["ESTALE", "EXDEV", "EACCES"])
def test_a_rename_that_fails_never_costs_the_old_text(tmp_path: Path, fault: str) -> None:
    folder = tmp_path / "f"
    steps, _ = of_the_new_file(calls(fresh(folder), "safe"))
    _, said, text = faulted(folder, "safe", steps[-1], f"error={fault}")
    assert text == (NEW if fault == "EACCES" else OLD), said
    assert os.listdir(folder) == ["plan.toml"]


def test_an_error_after_the_rename_is_a_save_without_confirmation(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    _, after = of_the_new_file(calls(fresh(folder), "safe"))
    assert [name for name, _, _ in after] == ["openat", "fsync", "close"]
    for step in after:
        assert faulted(folder, "safe", step, "error=EIO") == (0, "saved durable=False", NEW), step


FULL = """
import sys
from pathlib import Path
from trainplan.files.save import SaveError, save
import hashlib
plan = Path(sys.argv[1]) / "plan.toml"
plan.write_text("o" * 30_000)
try:
    save(plan, "n" * int(sys.argv[2]), expected_sha256=hashlib.sha256(plan.read_bytes()).hexdigest())
except SaveError as error:
    print(error.message)
print(plan.read_text() == "o" * 30_000, [file.name for file in plan.parent.iterdir()])
"""


@pytest.mark.parametrize(
    ("limits", "size", "words"),
    [
        ("size=64k", 60_000, "no space is left on the volume"),
        ("size=1m,nr_inodes=2", 10, "can hold no more files"),
    ],
)
def test_a_full_volume_keeps_the_old_text(tmp_path: Path, limits: str, size: int, words: str) -> None:
    mount = f'mount -t tmpfs -o {limits} none "$1" || exit 77; exec "$2" -S -c "$3" "$1" {size}'
    command = ["unshare", "-Urm", "sh", "-c", mount, "sh", os.fspath(tmp_path), sys.executable, FULL]
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not here")
    environment = {**os.environ, "PYTHONPATH": os.fspath(CORE)}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    if result.returncode in (1, 77) and not result.stdout:
        pytest.skip("no tmpfs of our own can be mounted here")
    message, rest = result.stdout.splitlines()
    assert words in message
    assert rest == "True ['plan.toml']"


def test_a_read_only_file_system_is_called_that(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write permission would not help: nobody writes there, root neither."""
    whole = os.statvfs(plan)
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    monkeypatch.setattr(
        os, "statvfs", lambda path: os.statvfs_result((*whole[:8], whole.f_flag | os.ST_RDONLY, whole[9]))
    )
    error = refusal(plan)
    assert error.message == f"the file system of {plan.parent} is read-only"
    assert error.fix == "Another folder"
