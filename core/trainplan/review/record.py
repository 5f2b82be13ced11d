"""The append-only record of acts beside a plan: one JSON line each, chained by hash, so that a harmed line shows.

Each line says how many lines its writer saw and the hash of the last of them. Two people who sign at once both say the same
number: a branch, which is told and loses nothing. A chain without keys shows what was changed by mistake or in passing; it
refuses to claim that somebody who rewrites every following line would be found.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

from trainplan.review.covers import Covers
from trainplan.review.items import record_name

Kind = Literal["sign", "waive", "fail", "note", "attach", "reopen", "mode", "loosen"]
KINDS: Final = get_args(Kind)

ONE_PERSON: Final = "one-person"
LINE_LIMIT: Final = 1_000_000  # bytes


@dataclass(frozen=True, slots=True)
class EvidenceHash:
    """A file that an act stands on: its path relative to the plan, and its sha256 in hexadecimal when it was attached.

    `size` in bytes and `modified` (UTC) are the file's then, 0 and "" where nobody recorded them; `job` is the job that wrote it.
    """

    path: str
    sha256: str
    size: int = 0
    modified: str = ""
    job: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """What one person did to one item or rung. `at` is UTC; `until` ends a waiver; `plan` is the plan's hash then.

    `attested` are the points that the signer answered for, in the words of the item. For kind `mode` the subject is `one-person`
    and `verdict` says on or off. For kind `loosen` the subject is a rung, `covers` holds the metric with the threshold that was,
    and `verdict` the one that is.
    """

    kind: Kind
    subject: str
    signer: str
    at: dt.datetime
    author: str = ""
    role: str = ""
    verdict: str = ""
    reason: str = ""
    approver: str = ""
    until: dt.date | None = None
    note: str = ""
    plan: str = ""
    covers: Covers = field(default_factory=dict[str, Any])
    evidence: tuple[EvidenceHash, ...] = ()
    attested: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Harm:
    """What is wrong with a line of the record, counted from 1."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Record:
    """The acts of a record in order, what is wrong with it, and what is only worth saying (`notes`: branches)."""

    acts: tuple[Act, ...] = ()
    harms: tuple[Harm, ...] = ()
    notes: tuple[Harm, ...] = ()

    @property
    def one_person(self) -> bool:
        """Whether one person may both make the evidence and sign."""
        modes = [act for act in self.acts if act.kind == "mode" and act.subject == ONE_PERSON]
        return bool(modes) and modes[-1].verdict != "off"


def record_path(plan: Path) -> Path:
    """`PLAN.signoffs.jsonl` beside `PLAN.toml`."""
    return plan.with_name(record_name(plan.name))


def line_of(act: Act, before: bytes) -> bytes:
    """The line of an act that follows what the record held, with its line end. Raises ValueError above LINE_LIMIT."""
    lines = _lines(before)
    data = {
        "lines": len(lines),
        "previous": _hash(lines[-1]) if lines else "",
        "act": act.kind,
        "subject": act.subject,
        "signer": act.signer,
        "at": act.at.astimezone(dt.UTC).isoformat(timespec="seconds"),
        **{name: text for name in _WORDS if (text := getattr(act, name))},
        **({"until": act.until.isoformat()} if act.until else {}),
        **({"covers": dict(act.covers)} if act.covers else {}),
        **({"attested": list(act.attested)} if act.attested else {}),
        **({"evidence": [_file_data(one) for one in act.evidence]} if act.evidence else {}),
    }
    line = json.dumps({**data, "hash": _own_hash(data)}, ensure_ascii=True, allow_nan=False).encode() + b"\n"
    if len(line) > LINE_LIMIT:
        raise ValueError(f"one act has {len(line):,} bytes, {LINE_LIMIT:,} at most")
    return line


_WORDS: Final = ("author", "role", "verdict", "reason", "approver", "note", "plan")


def read_record(content: bytes, now: dt.datetime | None = None) -> Record:
    """The record that some bytes hold. What cannot be read is a harm, never an error; `now` finds acts of the future."""
    lines = _lines(content)
    acts: list[Act] = []
    harms: list[Harm] = []
    notes: list[Harm] = []
    for index, line in enumerate(lines):
        try:
            data = _parsed(line)
            acts.append(_act(data))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            harms.append(Harm(index + 1, f"cannot be read: {error}"))
            continue
        wrong = _chain_fault(data, index, lines)
        if wrong:
            harms.append(Harm(index + 1, wrong))
        elif data["lines"] < index:
            notes.append(Harm(index + 1, f"written while line {data['lines'] + 1} was written; both stand"))
        harms.extend(_time_faults(acts, index, now))
    return Record(tuple(acts), tuple(harms), tuple(notes))


def _lines(content: bytes) -> list[bytes]:
    return [line for line in content.split(b"\n") if line.strip()]


def _hash(line: bytes) -> str:
    return hashlib.sha256(line.strip()).hexdigest()


def _own_hash(data: Mapping[str, Any]) -> str:
    """Of everything that a line says, so that the newest line shows a change too."""
    return hashlib.sha256(json.dumps(data, ensure_ascii=True, allow_nan=False).encode()).hexdigest()


def _parsed(line: bytes) -> dict[str, Any]:
    if len(line) > LINE_LIMIT:
        raise ValueError(f"more than {LINE_LIMIT:,} bytes")
    try:
        data = json.loads(line)
    except ValueError:
        raise ValueError("it is no JSON object") from None
    if not isinstance(data, dict):
        raise TypeError("it is no JSON object")
    return cast("dict[str, Any]", data)


def _chain_fault(data: Mapping[str, Any], index: int, lines: list[bytes]) -> str:
    """What a line's own count and hashes say of it and of the lines before it; empty where they agree."""
    rest = {name: value for name, value in data.items() if name != "hash"}
    if "hash" in data and data["hash"] != _own_hash(rest):
        return "was altered since it was written"
    seen, previous = data.get("lines"), data.get("previous")
    if not isinstance(seen, int) or isinstance(seen, bool) or seen < 0:
        return "does not say how many lines were before it"
    if seen > index:
        return f"was written after {seen} lines, and {index} are before it: lines were removed or their order changed"
    if seen == 0:
        return "" if previous == "" else "says that no line was before it and names one"
    if previous == _hash(lines[seen - 1]):
        return ""
    if previous in {_hash(line) for line in lines}:
        return "follows a line that now stands elsewhere: lines were removed, added or their order changed"
    return f"line {seen}, which it follows, was altered or removed since"


def _time_faults(acts: list[Act], index: int, now: dt.datetime | None) -> list[Harm]:
    at = acts[-1].at
    if now is not None and at > now:
        return [Harm(index + 1, f"{acts[-1].signer} acted at {at:%Y-%m-%d %H:%M} UTC, which is in the future")]
    return []


def _act(data: Mapping[str, Any]) -> Act:
    kind = str(data["act"])
    if kind not in KINDS:
        raise ValueError(f'no act "{kind}"')
    at = dt.datetime.fromisoformat(_text(data, "at"))
    if at.tzinfo is None:
        raise ValueError("the time has no offset")
    covers, evidence = data.get("covers", {}), data.get("evidence", [])
    until = _text(data, "until", "")
    attested = data.get("attested", [])
    return Act(
        cast("Kind", kind),
        _text(data, "subject"),
        _text(data, "signer"),
        at.astimezone(dt.UTC),
        **{name: _text(data, name, "") for name in _WORDS},
        until=dt.date.fromisoformat(until) if until else None,
        covers=_covers(covers),
        evidence=tuple(_file(one) for one in evidence),
        attested=tuple(_point(one) for one in attested),
    )


def _text(data: Mapping[str, Any], name: str, absent: str | None = None) -> str:
    value = data[name] if absent is None else data.get(name, absent)
    if not isinstance(value, str):
        raise TypeError(f"{name} is not text")
    return value


def _file_data(one: EvidenceHash) -> dict[str, Any]:
    told = {"path": one.path, "sha256": one.sha256, "size": one.size, "modified": one.modified, "job": one.job}
    return {name: value for name, value in told.items() if value or name in ("path", "sha256")}


def _file(data: Mapping[str, Any]) -> EvidenceHash:
    size = data.get("size", 0)
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise TypeError("size of evidence is no number of bytes")
    words = [_text(data, name, "") for name in ("sha256", "modified", "job")]
    return EvidenceHash(_text(data, "path"), words[0], size, *words[1:])


def _point(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a point of attested is not text")
    return value


def _covers(value: Any) -> Covers:
    if not isinstance(value, dict):
        raise TypeError("covers is not a table")
    found = cast("dict[str, Any]", value)
    wrong = [key for key, item in found.items() if not isinstance(item, str | int | float | bool)]
    if wrong:
        raise TypeError(f"covers.{wrong[0]} is neither text nor a number")
    return found
