"""The dump of decoded batches: enough of each source, fresh, and its damage found: each kind made for real, with a control."""

from __future__ import annotations

import datetime as dt
import json
import os
from pathlib import Path
from typing import Any

import pytest

from trainplan.files.automatic import automatic_checks
from trainplan.files.samples import repeated_share
from trainplan.plan.plan import Plan

NOW = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)
TEXT = " ".join(f"word{number}" for number in range(200))


def dump(folder: Path, *texts: tuple[str, str], days: float = 1.0) -> None:
    path = folder / "dump.jsonl"
    path.write_text("".join(json.dumps({"source": source, "text": text}) + "\n" for source, text in texts))
    stamp = (NOW - dt.timedelta(days=days)).timestamp()
    os.utime(path, (stamp, stamp))


def found(folder: Path, check: str, now: dt.datetime | None = NOW, **data: Any) -> tuple[str, str]:
    sources = data.pop("sources", [{"name": "web", "weight": 0.995}, {"name": "code", "weight": 0.005}])
    whole = {
        "format": 1,
        "data": {"sources": sources, **data},
        "readiness": [{"item": "sample-batches", "evidence": [{"path": "dump.jsonl"}, {"path": "notes.md"}]}],
        "paths": {"tokenizer": "tokenizer.json"},
    }
    looked = automatic_checks(folder, Plan.model_validate(whole), 5.0, now=now)
    (one,) = [one for one in looked if one.check == f"{check} dump.jsonl"]
    return one.verdict, one.found


def test_twenty_sequences_of_each_source_that_counts(tmp_path: Path) -> None:
    dump(tmp_path, *[("web", TEXT)] * 20)
    assert found(tmp_path, "sequences of")[0] == "passed"
    dump(tmp_path, *[("web", TEXT)] * 19)
    assert found(tmp_path, "sequences of") == ("failed", "web has 19 sequences, 20 at least are right")
    more = [{"name": "web", "weight": 0.98}, {"name": "code", "weight": 0.02}]
    dump(tmp_path, *[("web", TEXT)] * 20)
    assert found(tmp_path, "sequences of", sources=more) == ("failed", "code has 0 sequences, 20 at least are right")
    sized = [{"name": "web", "unique_tokens": "1T"}, {"name": "code", "unique_tokens": "1B"}]
    assert found(tmp_path, "sequences of", sources=sized)[0] == "passed"


def test_a_line_that_is_no_sample_is_named(tmp_path: Path) -> None:
    for line in ("{", "[]", '{"text": "x"}', '{"source": "web", "text": 1}'):
        dump(tmp_path, ("web", TEXT))
        with open(tmp_path / "dump.jsonl", "a") as file:
            file.write(line + "\n")
        assert found(tmp_path, "damage in") == ("failed", "line 2 is no JSON object with source and text")


def test_a_dump_is_fresh(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    old = (NOW - dt.timedelta(days=40)).timestamp()
    os.utime(tmp_path / "tokenizer.json", (old, old))
    dump(tmp_path, ("web", TEXT), days=30)
    assert found(tmp_path, "age of") == ("passed", "30 days old, 30 at most are right")
    dump(tmp_path, ("web", TEXT), days=31)
    assert found(tmp_path, "age of")[0] == "failed"
    assert found(tmp_path, "age of", now=None)[0] == "passed"
    dump(tmp_path, ("web", TEXT), days=41)
    verdict, told = found(tmp_path, "age of")
    assert verdict == "failed"
    assert "before tokenizer.json of 2026-10-20" in told
    dump(tmp_path, ("web", TEXT), days=-1)
    assert found(tmp_path, "age of")[0] == "unknown", "a clock that runs ahead proves nothing"


def test_a_dump_older_than_the_shards_fails(tmp_path: Path) -> None:
    dump(tmp_path, ("web", TEXT), days=5)
    assert found(tmp_path, "age of", preprocessing_changed=dt.date(2026, 11, 20))[0] == "passed"
    assert found(tmp_path, "age of", preprocessing_changed=dt.date(2026, 11, 28))[0] == "failed"
    built = [{"name": "web", "built": dt.date(2026, 11, 28)}]
    assert "the shards of web" in found(tmp_path, "age of", sources=built)[1]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("caf\ufffd", "U+FFFD"),
        ("cafÃ© and donâ€™t", "mojibake"),
        (r"one\\ntwo\\nthree\\nfour", "double escapes"),
        (r"\u00e9t\u00e9 \u00e0 la", "double escapes"),
        ("&amp;lt;p&amp;gt; a &amp;amp; b", "double escapes"),
        (("buy this thing now and never look back again my friend " * 20), "repeated n-grams"),
    ],
)
def test_damage_is_found_and_its_line_named(tmp_path: Path, text: str, kind: str) -> None:
    dump(tmp_path, *[("web", TEXT)] * 3, ("web", text))
    assert found(tmp_path, "damage in") == ("failed", f"{kind} in 1 of 4, first in line 4")
    dump(tmp_path, *[("web", TEXT)] * 200, ("web", text))
    assert found(tmp_path, "damage in") == ("passed", f"{kind} in 1 of 201, first in line 201")


@pytest.mark.parametrize(
    "text", [TEXT, "café", r'printf("a\n");', r"C:\new\table", "a &amp; b", r"\alpha \\ \beta", "Ã"]
)
def test_sound_text_has_no_damage(tmp_path: Path, text: str) -> None:
    dump(tmp_path, ("web", text))
    assert found(tmp_path, "damage in") == ("passed", "none seen in 1 sequences")


def test_repeats_are_counted_once_over() -> None:
    once = " ".join(f"w{number}" for number in range(10))
    assert repeated_share(once) == 0.0
    assert repeated_share(f"{once} {once}") == pytest.approx(len(once) / (2 * len(once) + 1))
    assert repeated_share("") == 0.0
