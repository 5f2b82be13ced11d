"""The Tokens pane: mixtures edited in place."""

from __future__ import annotations

from pathlib import Path

import pytest


def source(app, name: str) -> str:
    return next(line for line in app.seen if line[3:].startswith(name) and "[" in line)


async def test_a_weight_keeps_the_sum_and_says_where_the_rest_went(play, example) -> None:
    app = await play(example, "2 / math enter l l enter 0.1875 enter")
    weights = app.session.history.now.plan.data.stages[1].weights
    assert weights is not None
    assert weights["math"] == 0.1875
    assert weights["web"] == 0.5625
    assert "web 0.5625" in app.seen[-1]


async def test_a_weight_edit_is_one_step_of_undo(play, example) -> None:
    app = await play(example, "2 / math enter l l enter 0.1875 enter u")
    assert app.session.history.now.text == example


async def test_tab_sets_several_weights_before_the_sum_is_looked_at(play, example) -> None:
    app = await play(example, "2 / web enter l enter 0.7 tab")
    sources = app.session.history.now.plan.data.sources
    assert [float(source.weight or 0) for source in sources] == [0.7, 0.17, 0.03]


async def test_a_source_is_added_moved_and_removed(play, example) -> None:
    app = await play(example, "2 / web enter a books space 250B space 0 enter")
    assert [one.name for one in app.session.history.now.plan.data.sources] == ["web", "code", "math", "books"]
    app = await play(example, "2 / math enter K")
    assert [one.name for one in app.session.history.now.plan.data.sources] == ["web", "math", "code"]
    app = await play(example, "2 / math enter D")
    assert [one.name for one in app.session.history.now.plan.data.sources] == ["web", "code"]
    assert "math" not in (app.session.history.now.plan.data.stages[1].weights or {})
    app = await play(example, "2 / math enter D u")
    assert app.session.history.now.text == example


async def test_weights_that_do_not_sum_to_one_can_be_normalised(play, example) -> None:
    off = example.replace("weights = { web = 0.5", "weights = { web = 0.6")
    assert off != example
    app = await play(off, "2 / math enter l l : divide enter")
    weights = app.session.history.now.plan.data.stages[1].weights or {}
    assert abs(sum(weights.values()) - 1) < 1e-9
    assert weights["web"] == pytest.approx(0.6 / 1.1)


async def test_sixty_sources_scroll_and_edit(play, example) -> None:
    head = example.split("[[data.sources]]")[0]
    tail = "[batch]" + example.split("[batch]")[1]
    many = "".join(f'[[data.sources]]\nname = "s{i}"\nunique_tokens = "1T"\nweight = {1 / 60!r}\n' for i in range(60))
    app = await play(head + many + tail, "2 / s59 enter enter 2T enter", size=(80, 24))
    assert app.session.history.now.plan.data.sources[59].unique_tokens == 2e12
    assert any("s59" in line for line in app.seen)


async def test_a_manifest_is_read_into_the_sources_as_one_edit(play, example, tmp_path) -> None:
    (tmp_path / "tokens.csv").write_text("name,tokens\nmath,321000000000\nlaw,5000000000\n", encoding="utf-8")
    app = await play(example, "2 : manifest's enter paste:tokens.csv enter")
    sources = {one.name: one for one in app.session.history.now.plan.data.sources}
    assert sources["math"].unique_tokens == 321e9
    assert sources["law"].unique_tokens == 5e9
    assert sources["math"].weight == {one.name: one for one in app.session.saved.plan.data.sources}["math"].weight
    assert "u takes it back" in app.seen[-1]
    back = await play(example, "2 : manifest's enter paste:tokens.csv enter u")
    assert back.session.history.now.text == example


async def test_a_manifest_that_cannot_be_read_changes_nothing_and_says_why(play, example, tmp_path) -> None:
    (tmp_path / "broken.idx").write_bytes(b"MMIDIDX\x00\x00\x01")
    app = await play(example, "2 : manifest's enter paste:broken.idx enter")
    assert app.session.history.now.text == example
    assert any("broken.idx" in line and not line.startswith(" :") for line in app.seen)


async def test_small_weights_are_rounded_never_cut(play, example) -> None:
    many = example.replace("weights = { web = 0.5", "weights = { web = 0.016667")
    app = await play(many, "2")
    row = next(line for line in app.seen if line.lstrip("> !Ei").startswith("web"))
    assert ".017" in row


async def test_other_views_say_which_they_are(play, example) -> None:
    app = await play(example, "2 v")
    assert "view 2 of" in app.seen[2]


async def test_the_bar_of_weights_is_what_the_sampler_draws_by_where_the_plan_gives_none(play) -> None:
    """OLMo 2 7B gives unique tokens alone: its sampler draws by size, so the first of seven sources has 95 %."""
    plan = Path(__file__).resolve().parents[2] / "plans" / "olmo-2-7b.toml"
    app = await play(plan.read_text(encoding="utf-8"), "2", size=(160, 45))
    bar = next(line[80:] for line in app.seen if line[80:].startswith("\u2502  run"))
    assert bar.count("\u2588") == pytest.approx(0.951 * (78 - 16), abs=1)
    legend = " ".join(line[80:] for line in app.seen)
    assert all(name in legend for name in ("dclm", "open-web-math", "\u2591 2 more"))


async def test_bars_of_passes_stand_once(play, example) -> None:
    for keys, expected in (("2", 0), ("2 v", 1)):
        app = await play(example, keys, size=(160, 45))
        assert sum("passes, most first" in line[80:] for line in app.seen) == expected


@pytest.mark.parametrize(
    ("keys", "seen"),
    [
        ("l enter 0.123456", "[0.123456 ]   2.528T  0.19"),
        ("l enter 0.25", "[0.25 ]         4.3T  0.32"),
        ("l enter 0.0000000000001", "[000000000001 ] 800B  0.06"),
        ("l l enter 0.12345", "[0.80] [0.12345 ]     0.84"),
        ("l l enter 0.1", "[0.80] [0.1 ]"),
    ],
)
async def test_what_is_typed_into_a_small_box_stands_whole(play, example, keys: str, seen: str) -> None:
    """A box grows to thirteen cells over what is beside it, which is never seen in half."""
    app = await play(example, f"2 / web enter {keys}")
    assert seen in source(app, "web")
    app = await play(example, f"2 / web enter {keys} esc")
    assert "[0.80] [0.50]" in source(app, "web")


@pytest.mark.parametrize(
    ("old", "new", "keys", "seen"),
    [
        ('"15.6T"', "11135877120000", "2", "[ 11.13587712T]"),
        ('"15.6T"', "11135877120123", "2", "[ 11.13587712T]"),
        ('capacity = "2PB"', "capacity = 2000000000000000", "6", "[          2PB]"),
        ('write_bandwidth = "100GB/s"', "write_bandwidth = 100000000000", "6", "[      100GB/s]"),
    ],
)
async def test_a_long_number_stands_in_its_box_with_a_prefix_and_is_never_cut(
    play, example, old: str, new: str, keys: str, seen: str
) -> None:
    assert old in example
    app = await play(example.replace(old, new, 1), keys)
    assert any(seen in line for line in app.seen), "\n".join(app.seen)
    assert not any("\u2026]" in line for line in app.seen)


async def test_the_saved_value_of_a_source_and_of_a_weight_comes_back_and_is_never_erased(play, example) -> None:
    for keys in ("2 / math enter =", "2 / math enter enter 200B enter =", "2 / math enter l ="):
        assert (await play(example, keys)).session.history.now.text == example, keys
    app = await play(example, "2 / math enter l l enter 0.1875 enter =")
    assert app.session.history.now.plan.data.stages[1].weights == {"web": 0.5, "code": 0.25, "math": 0.25}
    assert (await play(example, "enter 14.5T enter =")).session.history.now.text == example
