"""Manifests against the plan: counts at the precision that was written, bytes of shards, checksums; every fault made for real."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from typing import Any

import pytest

from trainplan.files.automatic import automatic_checks
from trainplan.plan.plan import Plan

COUNTS = "manifests hold what the plan says"


def found(folder: Path, sources: list[dict[str, Any]], check: str = COUNTS, **more: Any) -> tuple[str, str]:
    paths = more.pop("paths", {})
    whole = {"format": 1, "paths": paths, "data": {"sources": sources, **more.pop("data", {})}, **more}
    looked = automatic_checks(folder, Plan.model_validate(whole), 5.0)
    (one,) = [one for one in looked if one.check == check]
    assert one.item == "data-manifests"
    return one.verdict, one.found


def index(path: Path, lengths: list[int], *, code: int = 4) -> None:
    """A Megatron .idx of version 1, each sequence a document."""
    head = b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, code, len(lengths), len(lengths) + 1)
    body = struct.pack(f"<{len(lengths)}i", *lengths) + bytes(8 * len(lengths)) + bytes(8 * (len(lengths) + 1))
    path.write_bytes(head + body)


def test_exact_counts_agree_and_a_token_more_does_not(tmp_path: Path) -> None:
    (tmp_path / "web.csv").write_text("name,tokens,documents\nweb,1000000,500\n")
    web = {"name": "web", "unique_tokens": 1_000_000, "documents": 500, "manifest": "web.csv"}
    assert found(tmp_path, [web]) == ("passed", "1 sources agree, 500 rows")
    assert found(tmp_path, [web | {"unique_tokens": 1_000_001}])[0] == "failed"
    verdict, told = found(tmp_path, [web | {"documents": 501}])
    assert verdict == "failed"
    assert "500 rows in the manifest" in told


@pytest.mark.parametrize(
    ("written", "verdict"),
    [
        ("13.5T", "passed"),
        ("13.51T", "passed"),
        ("13.512T", "passed"),
        ("13.52T", "failed"),
        ("14T", "passed"),
        ("13.513T", "failed"),
    ],
)
def test_a_count_is_compared_as_precisely_as_it_was_written(tmp_path: Path, written: str, verdict: str) -> None:
    (tmp_path / "web.csv").write_text("name,tokens\nweb,13512345678901\n")
    assert found(tmp_path, [{"name": "web", "unique_tokens": written, "manifest": "web.csv"}])[0] == verdict


def test_a_missing_and_a_broken_manifest_are_named(tmp_path: Path) -> None:
    web = {"name": "web", "unique_tokens": 10, "manifest": "web.csv"}
    assert found(tmp_path, [web]) == ("failed", "web.csv: the file does not exist")
    (tmp_path / "web.csv").write_text("tokens\n10\n")
    verdict, told = found(tmp_path, [web])
    assert verdict == "failed"
    assert told.startswith("web.csv:1: no column name")


def test_a_folder_of_manifests_is_read_by_source_name(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "a.csv").write_text("name,tokens\nweb,10\ncode,20\n")
    sources = [{"name": "web", "unique_tokens": 10}, {"name": "code", "unique_tokens": 20}]
    assert found(tmp_path, sources, paths={"manifests": "m"})[0] == "passed"
    verdict, told = found(tmp_path, [*sources, {"name": "books", "unique_tokens": 1}], paths={"manifests": "m"})
    assert verdict == "unknown"
    assert "no manifest for books" in told


def test_the_bin_beside_an_index_has_its_bytes(tmp_path: Path) -> None:
    index(tmp_path / "web.idx", [100, 200])
    web = [{"name": "web", "unique_tokens": 300, "manifest": "web.idx"}]
    assert found(tmp_path, web)[0] == "passed"
    (tmp_path / "web.bin").write_bytes(bytes(1200))
    assert found(tmp_path, web)[0] == "passed"
    (tmp_path / "web.bin").write_bytes(bytes(1199))
    assert found(tmp_path, web) == ("failed", "web: web.bin has 1,199 bytes, its index says 1,200")


def test_ids_that_do_not_fit_the_index_are_named(tmp_path: Path) -> None:
    index(tmp_path / "web.idx", [100], code=8)
    web = [{"name": "web", "unique_tokens": 100, "manifest": "web.idx"}]
    assert found(tmp_path, web, model={"vocab_size": 50_000})[0] == "passed"
    verdict, told = found(tmp_path, web, model={"vocab_size": 128_256})
    assert verdict == "failed"
    assert "128,256 ids do not fit 2 bytes" in told


def test_shards_hold_the_tokens_of_the_plan(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.bin").write_bytes(bytes(600))
    web, more = [{"name": "web", "unique_tokens": 300}], {"paths": {"data": "data"}, "data": {"bytes_per_token": 2}}
    assert found(tmp_path, web, "token shards", **more)[0] == "passed"
    (data / "b.bin").write_bytes(bytes(2))
    verdict, told = found(tmp_path, web, "token shards", paths={"data": "data"}, data={"bytes_per_token": 2})
    assert (verdict, told) == ("failed", "301 tokens in 2 .bin files, 300 planned")
    (data / "a.bin").unlink()
    (data / "b.bin").rename(data / "b.parquet")
    assert found(tmp_path, web, "token shards", paths={"data": "data"}, data={"bytes_per_token": 2})[0] == "unknown"


def sums(folder: Path, names: list[str]) -> None:
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}" for name in names]
    (folder / "SHA256SUMS").write_text("\n".join(lines) + "\n")


def test_listed_checksums_are_compared(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    names = [f"{number:03}.bin" for number in range(40)]
    for name in names:
        (data / name).write_text(name)
    sums(data, names)
    look = ("checksums in data",)
    verdict, told = found(tmp_path, [], *look, paths={"data": "data"})
    assert (verdict, told) == ("passed", "8 of 40 files have their sha256")
    (data / "000.bin").write_text("other")
    verdict, told = found(tmp_path, [], *look, paths={"data": "data"})
    assert verdict == "failed"
    assert told.startswith("000.bin: sha256 ")
    (data / "000.bin").unlink()
    assert found(tmp_path, [], *look, paths={"data": "data"}) == ("failed", "000.bin is missing")


def test_a_listed_name_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (tmp_path / "secret").write_text("x")
    (data / "link").symlink_to(tmp_path / "secret")
    digest = hashlib.sha256(b"x").hexdigest()
    (data / "SHA256SUMS").write_text(f"{digest}  ../secret\n")
    assert found(data.parent, [], "checksums in data", paths={"data": "data"}) == (
        "unknown",
        "0 of 1 files have their sha256; ../secret leads out of data",
    )
    (data / "SHA256SUMS").write_text(f"{digest}  link\n")
    assert found(data.parent, [], "checksums in data", paths={"data": "data"})[0] == "unknown"


def test_links_are_said(tmp_path: Path) -> None:
    folder, other = tmp_path / "plan", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    (other / "web.csv").write_text("name,tokens\nweb,10\n")
    (folder / "web.csv").symlink_to(other / "web.csv")
    web = {"name": "web", "unique_tokens": 10, "manifest": "web.csv"}
    verdict, told = found(folder, [web])
    assert verdict == "passed"
    assert f"web.csv is a link out of the plan's folder, to {(other / 'web.csv').resolve()}" in told
    (folder / "m").mkdir()
    (folder / "m" / "web.csv").symlink_to(other / "web.csv")
    verdict, told = found(folder, [{"name": "web", "unique_tokens": 10}], paths={"manifests": "m"})
    assert verdict == "unknown"
    assert told == "0 sources agree; no manifest for web; 1 links not followed"
