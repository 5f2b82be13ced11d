"""What a new plan keeps open gives way to what is filled in, and no other comment moves."""

from __future__ import annotations

import pytest

from trainplan.newplan import NEEDED, Answers, new_plan_text
from trainplan.plan.edit import set_all, with_literal
from trainplan.plan.read import plan_of_text
from trainplan.plan.skeleton import SOURCES
from trainplan.plan.splice import append_entry

NEW = new_plan_text(Answers("a run"))
VALUES = {
    "schedule.start": "2026-12-07",
    "data.sampler": "megatron-blended",
    "cluster.accelerator": "h100-sxm",
    "utilization.value": "0.4",
    "storage.capacity": "1PB",
    "storage.read_bandwidth": "1GB/s",
    "storage.write_bandwidth": "1GB/s",
}
FIELDS = [f"{table}.{field}" for table, fields in NEEDED.items() for field in fields]


def differing(before: str, after: str) -> tuple[list[str], list[str]]:
    old, new = before.splitlines(), after.splitlines()
    return [one for one in old if one not in new], [one for one in new if one not in old]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("path", [*FIELDS, "model.preset"])
def test_a_field_is_written_where_its_place_was_kept_open(path: str, end: str) -> None:
    text = NEW.replace("\n", end)
    field, value = path.rsplit(".", 1)[1], VALUES.get(path, "llama-3.1-8b" if path == "model.preset" else "8")
    after = set_all(text, plan_of_text(text, "plan.toml"), [f"{path}={value}"]).text
    gone, come = differing(text, after)
    assert len(after.splitlines()) == len(text.splitlines())
    assert [one.split()[:3] for one in gone] == [["#", field, "="]]
    assert [one.split(" = ")[0] for one in come] == [field]
    assert after.splitlines().index(come[0]) == text.splitlines().index(gone[0])
    assert after.count("\r\n") == text.count("\r\n")


def test_all_of_them_filled_leave_none_needed_and_every_default() -> None:
    assignments = [f"{path}={VALUES.get(path, '8')}" for path in FIELDS]
    after = set_all(NEW, plan_of_text(NEW, "plan.toml"), assignments).text
    assert [line for line in after.splitlines() if "# needed" in line] == [
        line for line in NEW.splitlines() if line.startswith("# preset")
    ]
    assert after.count("# default.") == NEW.count("# default.")
    assert all(line in after for line in SOURCES)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_first_source_takes_the_place_of_sources(end: str) -> None:
    text = NEW.replace("\n", end)
    items = {"name": '"web"', "unique_tokens": '"1T"', "weight": "1.0"}
    after = append_entry(text, ("data", "sources"), items)
    assert after == text.replace(
        end.join(SOURCES),
        end.join(
            line.removeprefix("# ")
            for line in (
                SOURCES[1],
                SOURCES[2],
                '# unique_tokens = "1T"',
                SOURCES[4],
            )
        ),
    )
    second = append_entry(after, ("data", "sources"), {**items, "name": '"code"'})
    assert second.startswith(after[: after.index("[batch]")].rstrip())


def test_sources_given_as_one_value_take_it_too() -> None:
    after = with_literal(NEW, ("data", "sources"), '[{ name = "web", unique_tokens = "1T" }]').text
    gone, come = differing(NEW, after)
    assert gone == list(SOURCES)
    assert come == ['sources = [{ name = "web", unique_tokens = "1T" }]']


MINE = """\
format = 1
[data]
# sampler = "megatron-blended"   # needed? ask Kim
# sampler: needed by Friday
# sequence_length = 4096
document_mask = true
# [[data.sources]]
# name = "old"
"""


def test_comments_of_a_person_stay() -> None:
    plan = plan_of_text(MINE, "plan.toml")
    after = set_all(MINE, plan, ["data.sampler=levanter", "data.sequence_length=8192"]).text
    assert differing(MINE, after)[0] == []
    grown = append_entry(MINE, ("data", "sources"), {"name": '"web"'})
    assert differing(MINE, grown)[0] == []


def test_a_place_of_another_table_or_inside_a_text_is_not_taken() -> None:
    text = (
        'format = 1\ndescription = "x"\n[data]\npacking = "pad"\n[utilization]\nsource = """\n'
        '# value =    # needed. in a text\n"""\n# sampler =   # needed. of another table\n'
    )
    plan = plan_of_text(text, "plan.toml")
    after = set_all(text, plan, ["data.sampler=levanter", "utilization.value=0.4"]).text
    assert differing(text, after)[0] == []
