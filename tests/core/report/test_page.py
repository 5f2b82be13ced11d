"""The page says what the app and `show` say, all of it, and the same of the same facts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from tests.core.report.conftest import NOW, PEN, Read, read

from trainplan.estimation import estimate
from trainplan.files.signoffs import appended
from trainplan.files.standing import standing_of
from trainplan.plan.canonical import plan_hash
from trainplan.plan.leaves import leaves
from trainplan.plan.read import plan_of_text
from trainplan.quantity.figure import Blocked, Card, Choice, Figure, Given
from trainplan.report.facts import Facts, facts_of
from trainplan.report.grounds import JUDGED
from trainplan.report.page import report
from trainplan.review.items import BY_NAME, item_covers
from trainplan.review.record import Act, EvidenceHash
from trainplan.rows.fields import field_row
from trainplan.rows.ledgers import TABLES
from trainplan.rows.table import FigureRow, cells
from trainplan.views.listings import ranks, transfers

PLANS = sorted((Path(__file__).resolve().parents[3] / "plans").glob("*.toml"))
Told = Callable[..., Facts]


@pytest.fixture(params=PLANS, ids=lambda path: path.stem)
def plan(request: pytest.FixtureRequest) -> str:
    return request.param.read_text(encoding="utf-8")


def page(facts: Facts) -> Read:
    return read(report(facts, PEN))


def test_every_figure_of_every_ledger_stands_there_as_show_writes_it(plan: str, facts: Told) -> None:
    told = facts(plan)
    found = {row[-1]: row[:-1] for _, rows in page(told).tables if rows[0][-1] == "key" for row in rows[1:] if row[-1]}
    for table in TABLES.values():
        if table.budget in ("pilot", "readiness"):
            continue
        for row in table.rows:
            if isinstance(row, FigureRow):
                here, value = cells(row, told.estimate), told.estimate.quantities[row.key]
                assert found[row.key][1:3] == [here.value, here.unit], row.key
                if not isinstance(value, Blocked):
                    assert found[row.key][3] == here.rests_on


def test_every_field_of_the_file_stands_there_as_its_box_shows_it(plan: str, facts: Told) -> None:
    told = facts(plan)
    found = page(told)
    for path, value in leaves(told.estimate.plan, ""):
        table, *rest = path.split(".")
        if table in ("format", "name", "description", "pilot", "readiness"):
            continue
        row = next((row for row in found.table(table) if row[0] == ".".join(rest)), None)
        if row is not None:
            assert row[2] == cells(field_row(path, told.estimate), told.estimate).value, path
        else:
            entries = found.table(f"{table}.{rest[0]}")[1:]
            named = [row for row in entries if row[0] == rest[1]] or [entries[int(rest[1])]]
            assert any(_says(cell, rest[-1], value) for cell in named[0]), path


def _says(cell: str, name: str, value: str) -> bool:
    """Whether a cell holds a value, alone or behind its name, however its number is spelled."""
    told = {part.removeprefix(f"{name} ").replace(",", "") for part in cell.split("; ")}
    return value.replace(",", "") in told or any(
        _is_number(one) and _is_number(value) and float(one) == float(value.replace(",", "")) for one in told
    )


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "").replace("e+", "").isdigit()


def test_every_finding_stands_there_with_its_fix_and_its_fields(plan: str, facts: Told) -> None:
    told = facts(plan)
    entries = page(told).entries
    for item in told.findings:
        place = entries.index(f"{item.code} {item.message}")
        below = entries[place + 1 : place + 3]
        assert not item.fix or below[0] == f"fix: {item.fix}"
        word = "field" if len(item.paths) == 1 else "fields"
        assert not item.paths or f"{word}: {', '.join(item.paths)}" in below


def test_all_that_was_not_read_again_is_named(plan: str, facts: Told) -> None:
    told = facts(plan)
    text = " ".join(cell for _, rows in page(told).tables for row in rows for cell in row)
    entries = page(told).entries
    seen: set[int] = set()

    def walk(value: Figure | Blocked | Choice) -> None:
        if id(value) in seen or isinstance(value, Blocked):
            return
        seen.add(id(value))
        origin = getattr(value, "origin", None)
        if isinstance(origin, Given) and not origin.verified:
            assert origin.name in text
        if isinstance(origin, Card) and not origin.verified and origin.source != "definition":
            assert any(entry.startswith(f"{origin.source}: ") and f"{origin.name} ?" in entry for entry in entries)
        for item in value.inputs:
            walk(item)

    for value in told.estimate.quantities.values():
        walk(value)


def test_a_reader_finds_tables_headings_and_lists_and_nothing_else(plan: str, facts: Told) -> None:
    found = page(facts(plan))
    levels = [level for level, _ in found.headings]
    assert found.markup == []
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(len(row) == len(rows[0]) for _, rows in found.tables for row in rows)


def test_the_same_facts_give_the_same_bytes(plan: str, facts: Told) -> None:
    text = report(facts(plan), PEN)
    assert text == report(facts(plan), PEN)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_listings_stand_there_as_show_prints_them(plan: str, facts: Told) -> None:
    told = facts(plan)
    found = page(told)
    for listing in (ranks(told.estimate), transfers(told.estimate)):
        rows = [list(row) for row in listing.rows]
        assert not rows or found.table(listing.title[0].upper() + listing.title[1:])[1:] == rows


def test_the_answer_of_a_plan_that_fits(varied, facts: Told) -> None:
    """1,000 steps of 1,048,576 tokens on 16 accelerators of 80 GB, of which 79.10 GiB can be used."""
    told = facts(varied())
    found = page(told)
    free = cells(FigureRow("memory.headroom"), told.estimate)
    assert found.cell("Answer", "fits").startswith(f"yes: {free.value} GiB free on rank 0 at its worst instant, ")
    assert found.cell("Answer", "fits").endswith(" % of 79.10 GiB usable")
    assert found.cell("Answer", "readiness") == "not ready: 0/10 items signed"
    assert found.cell("Answer", "pilot") == "0/7 rungs passed"
    assert found.headings[0] == (1, "small, with round numbers")
    assert found.cell("small, with round numbers", "plan hash") == plan_hash(told.estimate.plan)
    assert found.cell("small, with round numbers", "date of this report") == "2026-12-01"


def test_the_answer_of_a_plan_that_does_not_fit_says_by_how_much(varied, facts: Told) -> None:
    told = facts(varied("cluster.memory_per_accelerator=1GiB"))
    over = -float(told.estimate.figure("memory.headroom")) / 2**30
    answer = page(told).cell("Answer", "fits")
    assert answer.startswith(f"no: {over:.2f} GiB over on rank 0 at its worst instant, ")
    assert page(told).cell("Answer", "findings").startswith("1 error, ")


def test_quantiles_are_those_of_the_forecast(varied, facts: Told) -> None:
    told = facts(varied("schedule.deadline=2027-01-15", "schedule.budget=10k"))
    found = page(told)
    for name in ("P10", "P50", "P90"):
        seconds, cost = (
            float(told.forecast.quantities[f"forecast.{kind}.{name.lower()}"]) for kind in ("finish", "cost")
        )
        end = dt.datetime(2026, 12, 7) + dt.timedelta(seconds=seconds)
        assert found.cell("Finish and cost", name) == f"{seconds / 86400:,.2f} d, {end.date()}"
        assert found.cell("Finish and cost", name, 2) == f"{cost:,.0f} USD"
    assert found.cell("Answer", "deadline") == "2027-01-15: kept in 100.0 % of the histories"
    assert found.cell("Answer", "budget") == "10k USD: kept in 100.0 % of the histories"


def test_a_plan_that_says_nothing_says_of_each_figure_what_it_waits_for(facts: Told) -> None:
    told = facts("format = 1\n")
    found = page(told)
    assert found.markup == []
    assert found.cell("Answer", "fits") == "cannot be told: vocabulary missing (model.vocab_size)"
    assert found.cell("Answer", "cost, P50").startswith("cannot be told: ")
    assert "No finish can be told: nodes missing (cluster.nodes)." in found.paragraphs
    rows = {row[-1]: row for _, rows in found.tables if rows[0][-1] == "key" for row in rows[1:]}
    assert rows["memory.total"][1:4] == ["?", "", "vocabulary missing (model.vocab_size)"]
    assert rows["storage.restore_drill_age"][1:4] == ["-", "", "does not apply"]
    for key, row in rows.items():
        value = told.estimate.quantities[key]
        if isinstance(value, Blocked) and value.code.startswith("missing:"):
            assert f"({value.code.removeprefix('missing:')})" in row[3]


def test_a_figure_that_a_rule_blocks_names_its_finding(varied, facts: Told) -> None:
    """3 tensor ranks divide neither the heads nor the accelerators of a node."""
    told = facts(varied("parallelism.tensor=3"))
    codes = {value.code for value in told.estimate.quantities.values() if isinstance(value, Blocked)} - {"none"}
    found = page(told)
    reasons = {row[3] for _, rows in found.tables if rows[0][-1] == "key" for row in rows[1:] if row[1] == "?"}
    rules = {code for code in codes if ":" not in code}
    assert rules
    assert {f"see {code}" for code in rules} & reasons
    assert all(any(entry.startswith(f"{code} ") for entry in found.entries) for code in rules)


HOSTILE = ("a|b`c`", "<script>x</script>", "\\\\|x\\\\", "**b** _i_ [l](u) $x$ &amp;", "資料源", "- # 1) > item", "`|`")


def test_no_name_breaks_a_cell(facts: Told, example: str) -> None:
    names = [name.replace("\\\\", "\\") for name in HOSTILE]
    sources = "".join(
        f'\n[[data.sources]]\nname = "{name}"\nunique_tokens = "1B" # of | `{name}`\nweight = 0.1\n' for name in HOSTILE
    )
    stages = '\n[[data.stages]]\nname = "x\\u001b[31m\\ny | <!-- "\nuntil_tokens = "1B"\n[[data.stages]]\nname = "z"\n'
    text = example.replace('name = "small, with round numbers"', 'name = "# | <b>`n` #"\ndescription = "- a\\n# b"')
    told = facts(text + sources + stages, changed=("a=`|`",))
    text = report(told, PEN)
    found = read(text)
    assert found.markup == []
    assert "\x1b" not in text
    assert found.headings[0] == (1, "# | <b>`n` #")
    assert found.paragraphs[0] == "- a^J# b"
    assert found.cell("# | <b>`n` #", "changed for this report, not in the file") == "a=`|`"
    for heading in ("data.sources", "Sources"):
        assert [row[0] for row in found.table(heading)[1:]] == ["web", *names]
    assert [row[0] for row in found.table("data.stages")[1:]] == ["x^[[31m^Jy | <!--", "z"]
    assert all(len(row) == len(rows[0]) for _, rows in found.tables for row in rows)
    for spelled, row in zip(HOSTILE, found.table("data.sources")[2:], strict=True):
        assert row[-1] == f"unique tokens: of | `{spelled}`"


def test_a_name_of_blanks_is_no_name(facts: Told) -> None:
    assert page(facts('format = 1\nname = "  "\n')).headings[0] == (1, "plan.toml")


def test_comments_of_the_file_stand_beside_their_values_but_not_beside_others(facts: Told, example: str) -> None:
    text = example.replace("nodes = 2", "nodes = 2  # two, as agreed")
    assert _row(page(facts(text)), "cluster", "nodes")[-1] == "two, as agreed"
    assert _row(page(facts(text)), "cluster", "accelerator")[-1] == ""


def _row(found: Read, table: str, field: str) -> list[str]:
    return next(row for row in found.table(table)[1:] if row[0] == field)


def test_what_is_left_to_a_default_is_told_as_one(varied, facts: Told) -> None:
    found = page(facts(varied()))
    assert _row(found, "storage", "checkpoint_floor")[2:5] == ["5s", "", "default ?"]
    assert _row(found, "model", "hidden_size")[2:5] == ["64", "", "file"]
    row = next(row for row in found.table("Assumptions and unverified defaults") if "checkpoint_floor" in row[0])
    assert row[1:4] == ["5s", "default ?", "finish, cost"]
    words = next(row for row in found.table("Assumptions and unverified defaults") if "training.kernels" in row[0])
    assert words[1:4] == ["megatron-te", "default ?", "which formulas hold"]


def test_a_utilization_that_is_assumed_is_an_assumption(varied, facts: Told) -> None:
    found = page(facts(varied("utilization.evidence=assumed")))
    row = next(row for row in found.table("Assumptions and unverified defaults") if "utilization.value" in row[0])
    assert row[1:4] == ["0.400 of peak", "assumed", "finish, cost"]


def test_numbers_of_lists_have_commas_and_equal_neighbours_stand_together(varied, facts: Told) -> None:
    kinds = ", ".join(['"sliding_attention"'] * 3 + ['"full_attention"'])
    told = varied(f"model.layer_types=[{kinds}]", "model.num_hidden_layers=4", "model.sliding_window=128", more=STAGES)
    found = page(facts(told))
    assert _row(found, "model", "layer_types")[2:5] == ["3 x sliding_attention; full_attention", "", "file"]
    assert found.table("data.stages")[1:] == [["1,000,000,000,000", "web 0.5; code 0.25"], ["", ""]]


STAGES = """
[[data.sources]]
name = "code"
[[data.stages]]
until_tokens = 1e12
weights = { web = 0.5, code = 0.25 }
[[data.stages]]
"""


def test_experts_are_told_of_a_model_that_has_them(facts: Told) -> None:
    texts = {path.stem: path.read_text(encoding="utf-8") for path in PLANS}
    row = _row(page(facts(texts["deepseek-v3"])), "model", "moe.num_experts")
    assert row[2:5] == ["256", "", "preset"]
    assert not [row for row in page(facts(texts["llama-3.1-8b"])).table("model") if row[0].startswith("moe.")]


def test_planned_stands_beside_predicted(varied, facts: Told) -> None:
    told = facts(varied())
    planned = cells(FigureRow("compute.step_time"), told.estimate)
    found = page(told)
    assert found.cell("One step, predicted", "planned step") == planned.value
    assert [row[0] for row in found.table("One step, predicted")].index("matrix products") == 1


def test_a_figure_stands_in_its_own_budget_and_not_in_every_pane_that_shows_it(varied, facts: Told) -> None:
    keys = [row[-1] for _, rows in page(facts(varied())).tables[1:] if rows[0][-1] == "key" for row in rows[1:]]
    assert keys.count("reliability.goodput") == 2
    assert keys.count("storage.checkpoint_stall") == 1


def test_what_the_histories_alone_read_bears_on_the_finish(varied, facts: Told) -> None:
    """A repair that takes longer moves the finish of the histories, and no formula of it."""
    days = ("data.train_tokens=1000T", "reliability.failures_per_node_day=1")
    usual, longer = facts(varied(*days)), facts(varied(*days, "reliability.repair_time=6d"))
    assert usual.estimate.figure("compute.wall_time") == longer.estimate.figure("compute.wall_time")
    assert usual.forecast.quantities["forecast.finish.p90"] < longer.forecast.quantities["forecast.finish.p90"]
    rows = page(usual).table("Assumptions and unverified defaults")
    assert next(row[3] for row in rows if "reliability.repair_time" in row[0]) == "finish"


def test_money_has_its_currency_and_entries_that_say_nothing_make_no_table(varied, facts: Told) -> None:
    found = page(facts(varied("schedule.budget=10k", more="[[data.stages]]\n[[data.stages]]\n")))
    assert _row(found, "schedule", "budget")[2:5] == ["10k", "USD", "file"]
    assert "data.stages" not in [title for _, title in found.headings]


def test_every_figure_that_people_decide_by_exists(varied) -> None:
    assert set(JUDGED) <= set(varied().quantities)


def test_a_signature_is_told_with_who_what_and_what_moved_since(tmp_path: Path, example: str) -> None:
    path = tmp_path / "plan.toml"
    before = plan_of_text(example, "plan.toml")
    covers = item_covers(BY_NAME["cost"], before, estimate(before).quantities)
    proof = EvidenceHash("approval.md", "0" * 64, 12)
    at = dt.datetime(2026, 11, 30, 9, 30, tzinfo=dt.UTC)
    act = Act(
        "sign",
        "cost",
        "osei | <b>",
        at,
        "kim",
        role="finance",
        note="as agreed",
        plan=plan_hash(before),
        covers=covers,
        evidence=(proof,),
    )
    appended(path, act)
    plan = plan_of_text(
        example.replace("price_per_accelerator_hour = 2.0", "price_per_accelerator_hour = 2.5"), "plan.toml"
    )
    here = estimate(plan, NOW.date())
    found = page(facts_of("plan", "plan.toml", here, standing_of(path, here, NOW)))
    row = next(row for row in found.table("Readiness") if row[1] == "cost")
    assert row[2:6] == ["stale", "osei | <b>", "2026-11-30", "2026-12-30"]
    assert found.cell("Answer", "readiness") == "not ready: 0/10 items signed, 1 stale"
    told = found.entries[next(i for i, one in enumerate(found.entries) if one.startswith("cost: ")) :]
    assert told[2].startswith(
        "signed by osei | <b> as finance on 2026-11-30 09:30 UTC; evidence made by kim; note: as agreed; "
    )
    assert told[2].endswith(f"plan hash {plan_hash(before)[:12]}")
    assert f"evidence approval.md, 12 bytes, sha256 {'0' * 64}" in told
    assert "stale: cluster.price_per_accelerator_hour was 2 when signed and is 2.5" in told
    assert found.table("Evidence files")[1][:2] == ["approval.md", "broken"]
    assert found.markup == []


def test_a_loosened_threshold_is_told_with_who_and_why(tmp_path: Path, varied) -> None:
    plan = varied(more=MEASURED.replace("<= 0.1", "<= 0.3")).plan
    path, at = tmp_path / "plan.toml", dt.datetime(2026, 11, 30, tzinfo=dt.UTC)
    rung = MEASURED.split('"')[1]
    appended(path, Act("loosen", rung, "osei", at, verdict="<= 0.3", reason="noisy | data", covers={"loss": "<= 0.1"}))
    appended(path, Act("mode", "one-person", "osei", at, verdict="on"))
    here = estimate(plan, NOW.date())
    found = page(facts_of("plan", "plan.toml", here, standing_of(path, here, NOW)))
    assert f"{rung}: loss was loosened from <= 0.1 to <= 0.3, by osei on 2026-11-30: noisy | data" in found.entries
    assert "One-person mode is on: whoever made the evidence may sign for it." in found.paragraphs


def test_a_harmed_record_is_told(tmp_path: Path, varied) -> None:
    (tmp_path / "plan.signoffs.jsonl").write_text("no line\n")
    here = varied()
    found = page(facts_of("plan", "plan.toml", here, standing_of(tmp_path / "plan.toml", here, NOW)))
    assert "line 1: cannot be read: it is no JSON object" in found.entries
    assert any(entry.startswith("V8 error: line 1: ") for entry in found.entries)


MEASURED = """
[[pilot]]
rung = "unit"
[[pilot.checks]]
metric = "loss"
pass_if = "<= 0.1"
measured = 0.0512345678
evidence = "a|b.log"
"""


def test_what_was_measured_stands_in_the_ladder(varied, facts: Told) -> None:
    found = page(facts(varied(more=MEASURED)))
    assert found.table("Checks of the rungs")[1] == ["unit", "loss", "0.0512346", "<= 0.1", "passed", "a|b.log"]
    assert found.table("Pilot")[1][1:3] == ["unit", "passed"]
    assert found.cell("Answer", "pilot") == "1/7 rungs passed"
    assert "unit: the default check tokenizer_round_trip is left out" in found.entries
