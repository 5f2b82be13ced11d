"""Pilot and Readiness from the keyboard: values into rungs, ticks, signatures, waivers, and what an edit breaks."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from collections.abc import Callable

import pytest
from tests.tui.conftest import lines_of

KIM = "ctrl+u k i m"


async def _until(pilot, holds: Callable[[], bool], what: str) -> None:
    for _ in range(200):
        if holds():
            return
        await asyncio.sleep(0.02)
        await pilot.pause()
    pytest.fail(f"{what} did not come")


async def _press(app, keys: str) -> None:
    from tests.tui.conftest import NAMES
    from textual.events import Key

    from trainplan_tui.keys import NAMED

    for word in keys.split():
        if word in NAMED or word.startswith("ctrl+") or len(word) == 1:
            await app.on_event(Key(NAMES.get(word, word), " " if word == "space" else word if len(word) == 1 else None))
        else:
            for letter in word:
                await app.on_event(Key(letter, letter))


async def _open(app, pilot, item: str) -> None:
    """The walk of one item, its files checked."""
    await _press(app, "0")
    await _until(pilot, lambda: app.session.dossier is not None and app.session.dossier.at is not None, "the checks")
    await _press(app, f"/ {item} enter enter")


def _record(app) -> list[dict]:
    path = app.session.path.with_name("plan.signoffs.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _at(app, text: str) -> str:
    return next((line for line in lines_of(app) if text in line), "")


ONE_CHECK = """
[[pilot]]
rung = "unit"
[[pilot.checks]]
metric = "parameter_difference"
pass_if = "= 0"
"""


async def test_a_measured_value_is_typed_judged_and_saved_with_the_plan_it_was_measured_on(play, example) -> None:
    async def then(app, pilot) -> None:
        await _press(app, "9 enter 4 enter")
        assert "failed" in _at(app, "parameter difference")
        await _press(app, "enter 0 enter")
        assert "passed" in _at(app, "parameter difference")
        assert _record(app) == []
        await _press(app, "w")
        assert [act["act"] for act in _record(app)] == ["attach"]
        assert _record(app)[0]["covers"]["model.preset"] == "llama-3.1-8b"
        app.apply("model.preset", "llama-3.1-70b")
        await _press(app, "1 9")
        assert "STALE" in _at(app, "parameter difference")
        assert "stale since model.preset llama-3.1-8b to llama-3.1-70b" in "\n".join(lines_of(app))
        assert "L3" in {item.code for item in app.session.shown.review_findings}

    await play(example + ONE_CHECK, then=then)


async def test_a_looser_threshold_asks_why_and_the_record_says_it(play, example) -> None:
    async def then(app, pilot) -> None:
        await _press(app, "9 / mask space leak enter l enter ctrl+u")
        for letter in "<= 2":
            await _press(app, "space" if letter == " " else letter)
        await _press(app, "enter")
        assert "why is mask_leak loosened" in _at(app, "why is")
        await _press(app, "flaky enter w")
        act = _record(app)[-1]
        assert (act["act"], act["subject"], act["reason"]) == ("loosen", "unit", "flaky")
        assert (act["covers"], act["verdict"]) == ({"mask_leak": "= 0"}, "<= 2")

    await play(example, then=then)


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_ticks_then_a_signature_which_the_plan_mirrors_at_once(play, example, size) -> None:
    async def then(app, pilot) -> None:
        await _open(app, pilot, "owner")
        assert "not offered: not attested" in _at(app, "S sign")
        await _press(app, "S")
        assert "not offered" in " ".join(lines_of(app)[-3:])
        await _press(app, "space j space j space S")
        await _press(app, f"{KIM} enter enter l e e enter runbook enter")
        assert [(act["act"], act["signer"], act["author"], len(act["attested"])) for act in _record(app)] == [
            ("sign", "kim", "lee", 3)
        ]
        assert "signed 1/10" in lines_of(app)[0]
        assert not app.session.shown.unsaved
        assert 'signed_by = "kim"' in app.session.path.read_text(encoding="utf-8")

    await play(example, size=size, then=then)


async def test_its_author_alone_does_not_sign_a_blocking_item_nor_in_the_mirror(play, example) -> None:
    async def then(app, pilot) -> None:
        await _open(app, pilot, "owner")
        await _press(app, f"space j space j space S {KIM} enter enter k i m enter runbook enter")
        assert "another person has to sign" in "\n".join(lines_of(app))
        assert "signed 0/10" in lines_of(app)[0]
        assert 'status = "open"' in app.session.path.read_text(encoding="utf-8")
        assert "V8" not in {item.code for item in app.session.shown.review_findings}

    await play(example, then=then)


async def test_one_persons_mode_counts_it_and_is_said_everywhere(play, example) -> None:
    async def then(app, pilot) -> None:
        app.do("ready.one_person")
        await _open(app, pilot, "owner")
        await _press(app, f"space j space j space S {KIM} enter enter k i m enter runbook enter esc")
        assert "signed 1/10" in lines_of(app)[0]
        assert "one-person mode is on" in "\n".join(lines_of(app))

    await play(example, then=then)


async def test_an_unsaved_edit_makes_it_stale_conditionally_and_undo_clears_it(play, example) -> None:
    async def then(app, pilot) -> None:
        await _open(app, pilot, "owner")
        await _press(app, f"space j space j space S {KIM} enter enter l e e enter runbook enter esc")
        app.apply("schedule.deadline", "2027-01-20")
        await _press(app, "0")
        assert "*STALE" in _at(app, "ownership")
        assert "signed 0/10 -1" in lines_of(app)[0]
        await _press(app, "S")
        assert "unsaved edits" in " ".join(lines_of(app)[-3:])
        await _press(app, "w")
        assert " STALE" in _at(app, "ownership")
        assert "*STALE" not in _at(app, "ownership")
        await _press(app, "j" * 2)
        assert "2027-01-15 to 2027-01-20" in "\n".join(lines_of(app))

    await play(example, then=then)


async def test_a_waiver_needs_reason_approver_and_an_end_in_time(play, example) -> None:
    async def then(app, pilot) -> None:
        await _open(app, pilot, "contam")
        await _press(app, f"W {KIM} enter enter enter enter")
        assert "no reason" in "\n".join(lines_of(app))
        await _press(app, "up up late enter park enter enter")
        assert [(act["act"], act["reason"], act["approver"]) for act in _record(app)] == [("waive", "late", "park")]
        await _press(app, "esc")
        assert "~ waived" in _at(app, "contamination")
        await _press(app, "g W")
        assert "blocking: it cannot be waived" in lines_of(app)[-1]

    await play(example, then=then)


async def test_a_waived_rung_ends_on_its_day_and_opens_again(play, example) -> None:
    async def then(app, pilot) -> None:
        await _press(app, f"9 W {KIM} enter proven enter ctrl+u 2030-01-01 enter")
        assert "within 30 days" in "\n".join(lines_of(app))
        await _press(app, "esc")
        await _press(app, f"W {KIM} enter proven enter enter")
        assert [(act["act"], act["subject"], act["reason"]) for act in _record(app)] == [("waive", "unit", "proven")]
        assert 'status = "waived"' in app.session.path.read_text(encoding="utf-8")
        assert "waived: proven" in "\n".join(lines_of(app))
        await _press(app, f"W {KIM} enter ctrl+u enter enter")
        assert app.session.shown.plan.pilot[0].status == "open"
        assert not app.session.shown.unsaved

    await play(example, then=then)


async def test_evidence_is_attached_with_its_hash_and_a_changed_file_is_found(play, example, tmp_path) -> None:
    (tmp_path / "runbook.md").write_text("stop at NaN\n", encoding="utf-8")

    async def then(app, pilot) -> None:
        await _open(app, pilot, "owner")
        await _press(app, "a runbook tab enter ctrl+u l e e enter enter 4 8 1 2 enter enter")
        assert _record(app)[0]["evidence"][0]["path"] == "runbook.md"
        assert _record(app)[0]["author"] == "lee"
        assert _record(app)[0]["evidence"][0]["job"] == "4812"
        assert _record(app)[0]["evidence"][0]["size"] == len("stop at NaN\n")
        assert _record(app)[0]["evidence"][0]["modified"].endswith("+00:00")
        await _press(app, f"space j space j space S {KIM} enter enter l e e enter ok enter esc")
        assert "✓ signed" in _at(app, "ownership")
        (tmp_path / "runbook.md").write_text("never stop\n", encoding="utf-8")
        await _press(app, "1 0")
        before = app.session.dossier.at
        await _until(pilot, lambda: app.session.dossier.at != before, "the second check")
        assert "STALE" in _at(app, "ownership")
        assert "V2" in {item.code for item in app.session.shown.review_findings}

    await play(example, then=then)


async def test_a_log_of_a_rung_is_read_shown_and_taken_as_one_edit(play, example, tmp_path) -> None:
    lines = [
        f" iteration {i:8d}/ 100000 | consumed samples: {i * 1024:12d} | elapsed time per iteration (ms): 1000.0 | "
        f"global batch size: 1024 | lm loss: 3.2E+00 |"
        for i in range(1, 121)
    ]
    (tmp_path / "scaled.log").write_text("\n".join(lines) + "\n", encoding="utf-8")

    async def then(app, pilot) -> None:
        await _press(app, "9 / scaled: space tokens enter L scaled tab enter")
        await _until(pilot, lambda: "enter writes" in "\n".join(lines_of(app)), "the measurement")
        before = app.session.history.at
        await _press(app, "enter")
        plan = app.session.shown.plan
        assert app.session.history.at == before + 1
        assert plan.utilization.evidence == "measured-scaled", "the log does not say on how many devices it ran"
        assert plan.utilization.value == pytest.approx(0.4263, abs=5e-4)
        rung = next(rung for rung in plan.pilot if rung.rung == "short-scaled")
        check = next(check for check in rung.checks if check.metric == "tokens_per_second_ratio")
        assert check.measured == pytest.approx(1.066, abs=5e-4)
        assert check.evidence == "scaled.log"
        await _press(app, "u")
        assert app.session.shown.plan.pilot == ()

    await play(example, then=then)


async def test_a_file_that_is_no_log_says_so_and_changes_nothing(play, example, tmp_path) -> None:
    (tmp_path / "other.txt").write_text("nothing here\n", encoding="utf-8")

    async def then(app, pilot) -> None:
        await _press(app, "9 L other tab enter")
        await _until(pilot, lambda: "no line of a step" in "\n".join(lines_of(app)), "the refusal")
        await _press(app, "enter esc")
        assert not app.session.shown.unsaved

    await play(example, then=then)


async def test_the_record_that_cannot_be_written_says_so_and_signs_nothing(play, example, tmp_path) -> None:
    (tmp_path / "plan.signoffs.jsonl").mkdir()

    async def then(app, pilot) -> None:
        await _press(app, "0")
        assert "not a regular file" in "\n".join(lines_of(app))
        await _until(pilot, lambda: app.session.dossier.at is not None, "the checks")
        await _press(app, f"/ owner enter enter space j space j space S {KIM} enter enter l e e enter ok enter")
        assert "nothing was recorded" in lines_of(app)[-1]
        assert "readiness" not in app.session.path.read_text(encoding="utf-8")

    await play(example, then=then)


SIGN = f"space j space j space S {KIM} enter enter l e e enter runbook enter"


async def test_a_signature_is_no_step_of_undo(play, example) -> None:
    async def then(app, pilot) -> None:
        app.apply("name", "another")
        await _press(app, "w")
        await _open(app, pilot, "owner")
        await _press(app, f"{SIGN} esc u")
        assert "nothing to undo" in lines_of(app)[-1]
        assert "signed 1/10" in lines_of(app)[0]
        assert not app.session.shown.unsaved

    await play(example, then=then)


async def test_nothing_is_signed_over_a_file_that_changed_on_disk(play, example) -> None:
    async def then(app, pilot) -> None:
        await _open(app, pilot, "owner")
        await _press(app, "space j space j space")
        app.session.path.write_text(example.replace("15.6T", "20T"), encoding="utf-8")
        await _press(app, "S")
        assert "changed on disk" in "\n".join(lines_of(app))
        assert _record(app) == []

    await play(example, then=then)


async def test_somebody_who_signed_meanwhile_is_told_before_the_second_signature(play, example) -> None:
    async def then(app, pilot) -> None:
        await _open(app, pilot, "owner")
        await _press(app, f"space j space j space S {KIM} enter enter l e e enter runbook")
        from trainplan.files.signoffs import appended
        from trainplan.review.record import Act

        appended(
            app.session.path, Act("sign", "ownership", "bob", dt.datetime.now(dt.UTC), author="lee", plan="ab" * 32)
        )
        await _press(app, "enter")
        assert "bob signed" in "\n".join(lines_of(app))
        assert len(_record(app)) == 1
        await _press(app, "enter")
        assert [act["signer"] for act in _record(app)] == ["bob", "kim"]

    await play(example, then=then)


async def test_the_strip_counts_what_the_record_says_and_not_what_a_plan_claims(play, example) -> None:
    claimed = '\n[[readiness]]\nitem = "cost"\nstatus = "signed"\nsigned_by = "ceo"\n'
    app = await play(example + claimed)
    assert "signed 0/10" in app.seen[0]


async def test_a_prefilled_name_is_replaced_by_what_is_typed(play, example) -> None:
    async def then(app, pilot) -> None:
        await _open(app, pilot, "contam")
        await _press(app, "W k i m enter late enter park enter enter")
        assert _record(app)[0]["signer"] == "kim"

    await play(example, then=then)


async def test_leaving_the_reason_takes_the_loosened_threshold_back(play, example) -> None:
    async def then(app, pilot) -> None:
        await _press(app, "9 / mask space leak enter l enter < = 2 enter")
        assert "why is mask_leak loosened" in _at(app, "why is")
        await _press(app, "enter")
        assert "needs a reason" in "\n".join(lines_of(app))
        await _press(app, "esc")
        assert "= 0" in _at(app, "mask leak")
        assert not app.session.shown.unsaved

    await play(example, then=then)


async def test_removing_a_check_leaves_the_cursor_where_it_was(play, example) -> None:
    async def then(app, pilot) -> None:
        await _press(app, "9 j j D enter")
        assert "with a reason" in "\n".join(lines_of(app))
        await _press(app, "untied enter")
        assert app.row().id == "pilot.unit.checks.nonfinite_gradients"
        await _press(app, "w")
        assert [(act["act"], act["note"], act["reason"]) for act in _record(app)] == [
            ("note", "check initial_loss_error left out", "untied")
        ]
        await _press(app, "u")
        assert "initial loss error" in "\n".join(lines_of(app))

    await play(example, then=then)


async def test_a_rung_is_not_waived_over_unsaved_edits(play, example) -> None:
    async def then(app, pilot) -> None:
        app.apply("data.train_tokens", "20T")
        await _press(app, "9 W")
        assert "unsaved edits" in " ".join(lines_of(app)[-3:])
        assert _record(app) == []

    await play(example, then=then)


async def test_an_absolute_path_stands_for_itself_after_the_folder_that_was_offered(play, example, tmp_path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "rota.md").write_text("x", encoding="utf-8")

    async def then(app, pilot) -> None:
        await _open(app, pilot, "owner")
        await _press(app, f"a {' '.join(str(tmp_path / 'elsewhere' / 'rota.md'))} enter enter enter enter enter")
        assert _record(app)[0]["evidence"][0]["path"] == "elsewhere/rota.md"

    await play(example, then=then)


async def test_every_key_of_the_walk_and_of_both_panes_answers(play, example) -> None:
    async def then(app, pilot) -> None:
        for pane in "90":
            for key in [
                "j",
                "k",
                "l",
                "h",
                "g",
                "G",
                "+",
                "-",
                "=",
                "x",
                "esc",
                "v",
                "o",
                "esc",
                "a",
                "esc",
                "D",
                "y",
                "P",
                "d",
                "esc",
                "n",
                "N",
                "/",
                "esc",
                ":",
                "esc",
                "?",
                "esc",
                "S",
                "esc",
                "W",
                "esc",
                "C",
                "esc",
                "L",
                "esc",
            ]:
                await _press(app, f"{pane} {key}")
                assert len(lines_of(app)) == 24
            app.close_sheets()
        await _press(app, "0 enter")
        for key in ["j", "k", "n", "N", "space", "enter", "esc", "enter", "G", "g", "y", "z", "u", "w", "tab"]:
            await _press(app, key)

    await play(example, then=then)


@pytest.mark.parametrize("size", [(60, 15), (64, 20), (80, 24), (119, 30), (200, 60)])
async def test_both_panes_and_the_walk_stand_at_every_size(play, example, size) -> None:
    async def then(app, pilot) -> None:
        for keys in ("9", "0", "v", "enter", "G"):
            await _press(app, keys)
            lines = lines_of(app)
            assert len(lines) == size[1]
            assert all(len(line) <= size[0] for line in lines)

    await play(example, size=size, then=then)


async def test_the_side_marks_checks_as_the_matrix_does(play, example) -> None:
    app = await play(example, "0 j j", (160, 45))
    assert any("│   ✓ " in line for line in app.seen), app.seen
    assert not any("│   + " in line for line in app.seen)


async def test_a_signed_item_shows_what_was_attested_and_what_a_new_signature_needs(play, example) -> None:
    async def then(app, pilot) -> None:
        await _open(app, pilot, "dashboards")
        points = len(app.session.shown.reviewed.now.items[6].item.attested)
        assert sum("[ ]" in line for line in lines_of(app)) == points
        await _press(app, f"{'space j ' * points} S {KIM} enter enter enter seen enter")
        app.paint()
        assert app.session.shown.reviewed.now.items[6].state == "signed"
        seen = lines_of(app)
        assert sum("[x]" in line for line in seen) == points
        assert not any("[ ]" in line for line in seen)
        assert _at(app, "attested with the signature of kim")
        assert _at(app, "a new signature needs each point answered again")
        await _press(app, "S")
        assert "signed by kim" in " ".join(lines_of(app))
        assert "not attested" not in " ".join(lines_of(app))

    await play(example, "", size=(100, 40), then=then)
