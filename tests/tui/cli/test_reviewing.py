"""`review PLAN`: exit 1 until everything is signed; a changed plan, changed evidence and a harmed record show."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from trainplan.estimation import estimate
from trainplan.files.signoffs import appended
from trainplan.plan.read import open_plan
from trainplan.review.items import ITEMS, item_covers
from trainplan.review.ladder import RUNGS
from trainplan.review.record import Act, EvidenceHash, record_path
from trainplan_tui.cli import main

PLAN = """format = 1
[model]
preset = "llama-3.1-8b"
[data]
train_tokens = "1T"
sequence_length = 8192
sampler = "megatron-blended"
[batch]
global_batch_sequences = 1024
[cluster]
accelerator = "h100-sxm"
nodes = 16
price_per_accelerator_hour = 2.5
[utilization]
value = 0.40
"""
PASSED = '[[pilot.checks]]\nmetric = "error"\npass_if = "<= 0.1"\nmeasured = 0.05\nevidence = "run.log"\n'


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN + "".join(f'[[pilot]]\nrung = "{name}"\n{PASSED}' for name in RUNGS))
    (tmp_path / "run.log").write_text("steps")
    return path


@pytest.fixture
def signed(plan: Path) -> Path:
    opened = open_plan(plan).plan
    quantities = estimate(opened).quantities
    evidence = (EvidenceHash("run.log", hashlib.sha256(b"steps").hexdigest()),)
    now = dt.datetime.now(dt.UTC)
    for item in ITEMS:
        covers = item_covers(item, opened, quantities)
        appended(plan, Act("sign", item.name, "osei", now, "kim", covers=covers, evidence=evidence))
    return plan


def reviewed(plan: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    status = main(["review", str(plan), "--json", *words])
    return status, json.loads(capsys.readouterr().out)


def states(data: dict[str, Any]) -> dict[str, str]:
    return {item["item"]: item["state"] for item in data["items"]}


def codes(data: dict[str, Any]) -> set[str]:
    return {finding["code"] for finding in data["findings"]}


def test_nobody_signed(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, data = reviewed(plan, capsys)
    assert status == 1
    assert data["overall"] == "open"
    assert data["counts"]["open"] == 10
    assert [rung["state"] for rung in data["pilot"]] == ["passed"] * 7
    assert not record_path(plan).exists()


def test_all_signed_is_ready(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, data = reviewed(signed, capsys)
    assert (status, data["ready"], data["overall"]) == (0, True, "signed")
    assert [one["state"] for one in data["evidence"]] == ["same"]


def test_an_edit_breaks_what_it_changed(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, data = reviewed(signed, capsys, "--set", "cluster.price_per_accelerator_hour=2.6")
    assert status == 1
    assert {name for name, state in states(data).items() if state == "stale"} == {"configs", "cost"}
    (cost,) = [item for item in data["items"] if item["item"] == "cost"]
    assert cost["stale"] == [{"path": "cluster.price_per_accelerator_hour", "old": "2.5", "new": "2.6"}]


def test_changed_evidence_is_named(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (signed.parent / "run.log").write_text("other steps")
    status, data = reviewed(signed, capsys)
    assert (status, data["overall"]) == (1, "stale")
    assert "V2" in codes(data)
    (signed.parent / "run.log").unlink()
    assert any("missing" in finding["message"] for finding in reviewed(signed, capsys)[1]["findings"])


def test_a_harmed_record_is_named(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = record_path(signed)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    status, data = reviewed(signed, capsys)
    assert status == 1
    assert data["record"]["harms"]
    assert "V8" in codes(data)


def test_an_act_of_the_future_is_named(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=2)
    appended(signed, Act("note", "cost", "roth", later, note="seen"))
    status, data = reviewed(signed, capsys)
    assert status == 1
    assert "V6" in codes(data)


def test_the_text_can_be_pasted_and_says_one_person_mode(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    appended(signed, Act("mode", "one-person", "kim", dt.datetime.now(dt.UTC)))
    assert main(["review", str(signed)]) == 0
    out = capsys.readouterr().out
    assert "signed 10: ready" in out
    assert "one-person mode is on" in out
    assert "passed 7 of 7, in order" in out
    assert all(len(line) <= 120 for line in out.splitlines())


def test_a_record_cannot_send_escapes(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    appended(plan, Act("fail", "cost", "ro\x1b[31mth", dt.datetime.now(dt.UTC), reason="\x1b]0;x\x07"))
    assert main(["review", str(plan)]) == 1
    assert "\x1b" not in capsys.readouterr().out


def test_a_record_that_is_no_file_is_refused(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record_path(plan).mkdir()
    assert main(["review", str(plan)]) == 2
    assert "regular file" in capsys.readouterr().err


def test_what_the_program_checks_itself_stands_apart(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (signed.parent / "run.sh").write_text("rm -rf out\n")
    status, data = reviewed(signed, capsys, "--set", "paths.launch_script=run.sh")
    assert (status, data["ready"]) == (1, False)
    assert [one["verdict"] for one in data["automatic"] if one["item"] == "configs"] == ["passed", "failed"], (
        "its hash, the script"
    )
    assert main(["review", str(signed), "--set", "paths.launch_script=run.sh"]) == 1
    out = capsys.readouterr().out
    assert "signed 9, stale 1: not ready" in out
    assert "rm -rf out" in out


def test_signatures_over_rungs_that_did_not_pass_are_not_ready(
    signed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    signed.write_text(PLAN)
    status, data = reviewed(signed, capsys)
    assert (status, data["ready"], data["overall"]) == (1, False, "signed")
    assert "V5" in codes(data)
    assert main(["review", str(signed)]) == 1
    assert "signed 10: not ready" in capsys.readouterr().out


def test_a_pilot_on_mock_data_and_a_loosened_threshold_are_findings(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (plan.parent / "run.log").write_text("  mock_data ................ True\n iteration 1/ 1000 |\n")
    text = plan.read_text().replace(
        'metric = "error"\npass_if = "<= 0.1"', 'metric = "peak_memory_error"\npass_if = "<= 0.5"'
    )
    plan.write_text(text)
    _, data = reviewed(plan, capsys)
    messages = [finding["message"] for finding in data["findings"] if finding["code"] == "L6"]
    assert "run.log: short-scaled ran on mock data" in messages
    assert any("1,000 steps in the configuration of full" in message for message in messages)
    (loosened,) = [
        finding for finding in data["findings"] if finding["code"] == "L4" and "loosened" in finding["message"]
    ]
    assert loosened["severity"] == "warning"
    device = next(rung for rung in data["pilot"] if rung["rung"] == "one-device")
    assert device["loosened"][0]["old"] == "<= 0.10"


def test_evidence_of_the_record_is_looked_at(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (plan.parent / "dump.jsonl").write_text('{"source": "web", "text": "caf\\ufffd"}\n')
    evidence = (EvidenceHash("dump.jsonl", ""),)
    appended(plan, Act("attach", "sample-batches", "kim", dt.datetime.now(dt.UTC), evidence=evidence))
    _, data = reviewed(plan, capsys)
    told = {one["check"]: one["verdict"] for one in data["automatic"] if one["item"] == "sample-batches"}
    assert told["damage in dump.jsonl"] == "failed"


def test_check_names_a_sign_off_that_only_the_plan_claims(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(plan), "--json"]) in (0, 1)
    assert "V8" not in codes(json.loads(capsys.readouterr().out))
    plan.write_text(PLAN + '\n[[readiness]]\nitem = "cost"\nstatus = "signed"\nsigned_by = "ceo"\n')
    assert main(["check", str(plan), "--json"]) == 1
    told = [one for one in json.loads(capsys.readouterr().out)["findings"] if one["code"] == "V8"]
    assert [(one["severity"], one["message"]) for one in told] == [
        ("error", "cost is signed in the plan and open in the record")
    ]


def test_check_names_a_sign_off_of_a_day_to_come(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan.write_text(PLAN + '\n[[readiness]]\nitem = "cost"\nstatus = "signed"\nsigned_by = "ceo"\n')
    at = dt.datetime.now(dt.UTC) + dt.timedelta(days=2)
    appended(plan, Act("sign", "cost", "ceo", at))
    assert main(["check", str(plan), "--json"]) == 1
    (told,) = [one for one in json.loads(capsys.readouterr().out)["findings"] if one["code"] == "V6"]
    assert told["severity"] == "error"
    assert f"{at:%Y-%m-%d}" in told["message"]
    assert "in the future" in told["message"]
