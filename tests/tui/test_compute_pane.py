"""Compute: published runs beside the plan, and utilization taken from one, from the prediction, with its evidence."""

from __future__ import annotations

import asyncio

import pytest
from tests.tui.conftest import lines_of
from tests.tui.test_review_panes import _press


async def _read(app, pilot) -> None:
    for _ in range(200):
        if app.session.shown.runs:
            return
        await asyncio.sleep(0.05)
        await pilot.pause()
    pytest.fail("the published runs were not read")


async def test_a_published_run_becomes_the_evidence_as_one_edit(play, example) -> None:
    async def then(app, pilot) -> None:
        await _read(app, pilot)
        await _press(app, "3")
        row = next(row for row in app.rows() if row.id == "claim 1")
        app.cursor.put(row)
        await _press(app, "o")
        assert app.message.startswith("source: github.com/"), "where the run was read, without a browser"
        told = "".join(span.text for span in row.line).split()
        at = app.session.history.at
        await _press(app, "enter")
        claim = app.session.shown.plan.utilization
        assert app.session.history.at == at + 1
        assert claim.evidence == "published"
        assert 100 * claim.value == pytest.approx(float(told[-3]), abs=0.05)
        assert "tokens/s a device" in (claim.source or "")
        assert (claim.low, claim.high) == (None, None)
        rate = float(app.session.shown.estimate.quantities["compute.tokens_per_second_per_accelerator"])
        assert rate == pytest.approx(float(told[-4].replace(",", "")), rel=1e-3)
        await _press(app, "u")
        assert app.session.shown.plan.utilization.value == 0.4

    await play(example, then=then)


async def test_the_prediction_is_taken_with_its_range_and_stays_assumed(play, example) -> None:
    async def then(app, pilot) -> None:
        await _read(app, pilot)
        await _press(app, "3")
        app.cursor.put(next(row for row in app.rows() if row.id == "claim predicted"))
        app.paint()
        assert "take as evidence" in lines_of(app)[-1]
        await _press(app, "o")
        assert app.message == "no source under the cursor"
        await _press(app, "enter")
        claim, shown = app.session.shown.plan.utilization, app.session.shown
        assert claim.evidence == "assumed"
        assert claim.low < claim.value < claim.high
        planned, predicted = shown.estimate.speed.step_time, shown.estimate.step.predicted_step_time
        assert float(planned) == pytest.approx(float(predicted), rel=1e-3)
        assert "C16" not in {finding.code for finding in shown.findings}

    await play(example, then=then)


async def test_until_the_runs_are_read_the_pane_says_so(play, example) -> None:
    app = await play(example, "3")
    assert any("published runs are being read" in line for line in app.seen) or app.session.shown.runs


def test_a_run_is_told_as_a_person_would_and_no_two_collections_by_their_identifier() -> None:
    from trainplan.evidence.published import published_runs
    from trainplan_tui.panes.claims import COLLECTIONS, readable

    told = {run.name: readable(run) for run in published_runs()}
    assert told["torchtitan.8b.g128.compile"] == "torchtitan llama-3.1-8b, compile"
    assert told["torchtitan.8b.g128.eager"] == "torchtitan llama-3.1-8b, eager"
    assert told["llmf.h10080.bf16.30b.s4096.g8.mb1"] == "llm-foundry mpt-30b, recomputed"
    assert {name.partition(".")[0] for name in told} <= {*COLLECTIONS, "torchtitan"}
