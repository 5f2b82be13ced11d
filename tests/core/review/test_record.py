"""The record: what was written reads back; a harmed line, a lost one and a clock in the future are found and named."""

from __future__ import annotations

import datetime as dt
import json
import os
import threading
from pathlib import Path

import pytest

from trainplan.files.signoffs import RecordError, appended, recorded
from trainplan.review.record import Act, EvidenceHash, line_of, read_record, record_path

NOW = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)


def act(subject: str = "tokenizer", signer: str = "osei", hours: int = 0, **more: object) -> Act:
    return Act("sign", subject, signer, NOW - dt.timedelta(hours=24 - hours), **more)  # type: ignore[arg-type]


def written(*acts: Act) -> bytes:
    content = b""
    for one in acts:
        content += line_of(one, content)
    return content


THREE = written(act("tokenizer", hours=1), act("cost", "roth", 2), act("resume", "diaz", 3))


def test_an_act_reads_back_as_it_was() -> None:
    whole = Act(
        "waive", "contamination", "park", NOW, "kim", "owner", "pass", "gsm8k", "lee", dt.date(2026, 12, 10), "note",
        "3f9c", {"compute.cost": 1391896.0, "data.train_tokens": "14.8T"}, (EvidenceHash("a.json", "0" * 64),),
    )  # fmt: skip
    record = read_record(written(whole), NOW)
    assert record.acts == (whole,)
    assert not record.harms


def test_an_unharmed_record_has_no_harms() -> None:
    record = read_record(THREE, NOW)
    assert len(record.acts) == 3
    assert not record.harms
    assert not record.notes


@pytest.mark.parametrize("removed", [0, 1])
def test_a_removed_line_is_found(removed: int) -> None:
    lines = THREE.splitlines(keepends=True)
    del lines[removed]
    assert any("removed" in harm.message for harm in read_record(b"".join(lines), NOW).harms)


def test_an_altered_line_is_found_and_named() -> None:
    harms = read_record(THREE.replace(b'"roth"', b'"lee"'), NOW).harms
    assert [harm.line for harm in harms] == [2, 3]
    assert harms[0].message == "was altered since it was written"
    assert "line 2, which it follows, was altered" in harms[1].message


def test_the_newest_line_shows_a_change_too() -> None:
    (harm,) = read_record(THREE.replace(b'"diaz"', b'"ceo"'), NOW).harms
    assert (harm.line, harm.message) == (3, "was altered since it was written")


def test_a_line_of_an_older_version_without_its_own_hash_is_read() -> None:
    line = json.loads(written(act()))
    del line["hash"]
    assert not read_record(json.dumps(line).encode() + b"\n", NOW).harms


def test_reordered_lines_are_found() -> None:
    first, second, third = THREE.splitlines(keepends=True)
    assert any("order" in harm.message for harm in read_record(first + third + second, NOW).harms)


def test_a_line_that_is_no_act_is_found() -> None:
    for broken in (b"{\n", b"[]\n", b'{"act": "sing"}\n', b'{"act": "sign"}\n', b"\xff\xfe\n", b"[" * 10_000 + b"\n"):
        (harm,) = read_record(broken, NOW).harms
        assert harm.line == 1


def test_an_act_of_the_future_is_found() -> None:
    (harm,) = read_record(written(act(hours=25)), NOW).harms
    assert "future" in harm.message


def test_two_lines_over_the_same_record_both_stand_and_it_is_said() -> None:
    before = written(act())
    branch = before + line_of(act("cost", "roth"), before) + line_of(act("resume", "diaz"), before)
    branch += line_of(act("ownership", "lee"), branch)
    record = read_record(branch, NOW)
    assert [one.subject for one in record.acts] == ["tokenizer", "cost", "resume", "ownership"]
    assert not record.harms
    assert [note.line for note in record.notes] == [3]
    lines = branch.splitlines(keepends=True)
    assert read_record(b"".join([lines[0], *lines[2:]]), NOW).harms, "a removed line of a branch is found"


def test_appends_at_once_lose_nothing(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    people = [f"person{number}" for number in range(16)]
    gate = threading.Barrier(len(people))

    def sign(person: str) -> None:
        gate.wait()
        appended(plan, act("cost", person))

    threads = [threading.Thread(target=sign, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    record = recorded(plan, NOW)
    assert sorted(one.signer for one in record.acts) == sorted(people)
    assert not record.harms


def test_appending_changes_no_line(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    appended(plan, act())
    before = record_path(plan).read_bytes()
    appended(plan, act("cost"))
    assert record_path(plan).read_bytes().startswith(before)


def test_a_torn_last_line_is_told_and_the_next_one_stands(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    record_path(plan).write_bytes(THREE[:-20])
    record = appended(plan, act("ownership", "lee"))
    assert record.acts[-1].signer == "lee"
    assert [harm.line for harm in record.harms] == [3]


def test_no_record_is_an_empty_one_and_a_fifo_is_refused(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    assert recorded(plan).acts == ()
    os.mkfifo(record_path(plan))
    with pytest.raises(RecordError, match="regular"):
        recorded(plan)
