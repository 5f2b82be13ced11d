"""What the table of differences prints: old, new and movement on one scale, in the units of their kind, in columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from trainplan.estimation import Estimate, estimate
from trainplan.plan.edit import set_all
from trainplan.plan.read import open_plan
from trainplan.quantity import numbers
from trainplan.quantity.figure import given
from trainplan.views.compare import Move, differences

PLAN = Path(__file__).resolve().parents[3] / "plans" / "llama-3.1-8b.toml"


def varied(*assignments: str) -> Estimate:
    opened = open_plan(PLAN)
    return estimate(set_all(opened.source.text, opened.plan, assignments).plan)


def moves(*assignments: str) -> dict[str, Move]:
    return {move.key: move for move in differences(varied(), varied(*assignments)).moves}


def test_old_and_new_stand_under_one_prefix() -> None:
    move = moves("data.train_tokens=20T")["compute.training_flops"]
    assert (move.label, move.before, move.after, move.moved) == ("training FLOP, YFLOP", "0.803", "1.029", "+0.226")
    back = {one.key: one for one in differences(varied("data.train_tokens=20T"), varied()).moves}
    assert back["compute.training_flops"].before == "1.029"
    assert back["compute.training_flops"].after == "0.803"


def test_every_difference_is_that_of_the_printed_values() -> None:
    for move in moves("data.train_tokens=20T", "cluster.nodes=64").values():
        if (
            move.before[-1:].isdigit()
            and "<" not in move.before + move.after + move.moved
            and "changed" not in move.moved
        ):
            before, after, moved = (float(text.replace(",", "")) for text in (move.before, move.after, move.moved))
            least = 10.0 ** -min(len(text.partition(".")[2]) for text in (move.before, move.after, move.moved))
            assert after - before == pytest.approx(moved, abs=1.1 * least), move.key


def test_device_memory_is_in_gib_and_disks_in_tb() -> None:
    found = moves("batch.micro_batch_sequences=2", "data.train_tokens=20T")
    assert found["memory.total"].label == "total, GiB"
    assert found["memory.total"].before == "60.95"
    assert found["storage.peak"].label.endswith(", TB")
    assert not [
        move.label
        for key, move in found.items()
        if key.startswith("memory.") and move.label.endswith("B") and "iB" not in move.label
    ]


def test_no_text_is_wider_than_its_column() -> None:
    found = moves("data.train_tokens=20T")
    assert (found["tokens.sequences"].before, found["tokens.sequences"].moved) == ("1.904B", "+0.537B")
    assert all(len(text) <= 12 for move in found.values() for text in (move.before, move.after, move.moved))


def test_a_scale_for_two_keeps_the_digits_of_the_smaller_one() -> None:
    scale = numbers.common(numbers.count, 2.0, 1.5)
    assert (scale.text(2.0), scale.text(1.5)) == ("2.000", "1.500")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (683.2, "11min 23s"),
        (1200.0, "20min"),
        (4500.0, "1.250 h"),
        (68.0, "68.00 s"),
        (200000.0, "2.315 d"),
        (0.0, "0 s"),
    ],
)
def test_times_below_an_hour_are_minutes_and_seconds(seconds: float, text: str) -> None:
    scale = numbers.time(seconds)
    assert f"{scale.text(seconds)} {scale.unit}".strip() == text


def test_a_time_moves_in_minutes_and_seconds() -> None:
    assert numbers.time(683.2).moved(600.0, 683.2) == "+83.20 s"
    assert numbers.time(683.2).moved(683.2, 683.2) == ""


def test_a_number_that_grew_tenfold_is_told_in_times() -> None:
    """Percent of thousands say nothing: 32 sequences in place of 1,024 take 32 times the steps."""
    found = moves("batch.global_batch_sequences=32", "cluster.nodes=4")["tokens.steps"]
    assert found.share == "x 32"
    assert moves("data.train_tokens=20T")["compute.training_flops"].share == "+28.2 %"


@pytest.mark.parametrize(
    ("edit", "path", "how"),
    [
        ("cluster.accelerators_per_node=8", "cluster.accelerators_per_node", "same value, now written out"),
        ("training.dropout=0", "training.dropout", "same value, now written out"),
        ("data.train_tokens=15600B", "data.train_tokens", "same value, other spelling"),
    ],
)
def test_what_is_written_otherwise_says_so(edit: str, path: str, how: str) -> None:
    found = differences(varied(), varied(edit))
    assert [(one[0], one[3]) for one in found.same] == [(path, how)]
    assert not found.fields
    back = differences(varied(edit), varied())
    assert back.same[0][3] == how.replace("now written out", "now the default")


def test_a_field_that_nothing_gives_is_a_change() -> None:
    found = differences(varied(), varied("description=other"))
    assert [path for path, _, _ in found.fields] == ["description"]
    assert not found.same


def test_one_stage_waits_for_none_to_the_last_bit() -> None:
    """Sums of floats differ in their last bits by the way that they are added up; a difference of equal sums is 0."""
    for name in ("llama-3.1-8b", "smollm2-135m", "smollm3-3b", "olmo-2-7b"):
        opened = open_plan(PLAN.with_name(f"{name}.toml"))
        for layers in range(7, 64, 3):
            edited = set_all(
                opened.source.text, opened.plan, (f"model.num_hidden_layers={layers}", "parallelism.pipeline=1")
            )
            value = estimate(edited.plan).quantities["parallelism.waterfall.imbalance"]
            assert value == 0.0, (name, layers)


def test_what_grew_from_nothing_is_told_so_and_ranks_as_what_went_to_nothing() -> None:
    found = differences(varied(), varied("parallelism.pipeline=4"))
    place = {move.key: index for index, move in enumerate(found.moves)}
    grown = found.moves[place["parallelism.waterfall.imbalance"]]
    assert (grown.before_value, grown.share, grown.weight) == (0, "from 0", 1.0)
    assert any(move.weight > 1.0 and place[move.key] < place[grown.key] for move in found.moves)
    back = {move.key: move for move in differences(varied("parallelism.pipeline=4"), varied()).moves}
    assert (back[grown.key].share, back[grown.key].weight) == ("-100.0 %", 1.0)


@pytest.mark.parametrize(("left", "moved"), [(1.8e-15, "from 0"), (-1.8e-15, "from 0"), (1.8e-3, "x 2,778")])
def test_what_roundings_left_is_nothing_beside_its_siblings(left: float, moved: str) -> None:
    key, before, after = "parallelism.waterfall.imbalance", varied(), varied()
    noisy = replace(before, quantities={**before.quantities, key: given(key, left, "s", "left over")})
    waited = replace(after, quantities={**after.quantities, key: given(key, 5.0, "s", "of another layout")})
    (move,) = [one for one in differences(noisy, waited).moves if one.key == key]
    assert move.share == moved
    assert not [one for one in differences(before, noisy).moves if one.key == key and moved == "from 0"]


def test_few_among_many_are_no_rounding() -> None:
    before = varied()
    few = {one: given(one, count, "bytes", "counted") for one, count in (("storage.logs", 1.0), ("storage.raw", 1e17))}
    after = replace(before, quantities={**before.quantities, **few})
    (move,) = [one for one in differences(before, after).moves if one.key == "storage.logs"]
    assert move.after_value == 1
