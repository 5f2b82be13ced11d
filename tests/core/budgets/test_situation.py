"""What a situation keeps for all plans stays a plan's own where the plan says it, and a path that was read is read once."""

from __future__ import annotations

from typing import Any

from trainplan.budgets.situation import Situation
from trainplan.plan.read import plan_of_text
from trainplan.quantity.figure import Blocked, Given

HEAD = 'format = 1\n[model]\npreset = "llama-3.1-8b"\n[cluster]\naccelerator = "h100-sxm"\n'


def situation(text: str = "") -> Situation:
    return Situation(plan_of_text(HEAD + text, "plan.toml"))


def said(s: Situation, path: str) -> tuple[float, str, str]:
    figure = s[path]
    assert isinstance(figure.origin, Given)
    return float(figure), figure.rests_on, figure.origin.source


def test_plans_say_the_same_path_each_for_itself() -> None:
    found = [said(situation(f"[parallelism]\ntensor = {ranks}\n"), "parallelism.tensor") for ranks in (2, 4)]
    assert found == [(2.0, "file", "plan file"), (4.0, "file", "plan file")]
    assert said(situation(), "parallelism.tensor")[:2] == (1.0, "default")


def test_the_file_comes_before_the_preset_and_the_preset_before_nothing() -> None:
    preset, own = situation(), Situation(plan_of_text(HEAD.replace("[cluster]", "hidden_size = 2048\n[cluster]"), "p"))
    assert said(preset, "model.hidden_size")[:2] == (4096.0, "preset")
    assert said(own, "model.hidden_size") == (2048.0, "file", "plan file")
    assert isinstance(preset["data.train_tokens"], Blocked)
    assert (preset.word("model.norm"), preset.written("model.hidden_size")) == ("rmsnorm", False)
    assert own.written("model.hidden_size")


def test_evidence_is_the_plans_though_the_path_is_known() -> None:
    claim = '[utilization]\nvalue = 0.4\nevidence = "{}"\n'
    kinds = [said(situation(claim.format(word)), "utilization.value")[1] for word in ("published", "measured-here")]
    assert kinds == ["published", "measured"]


def test_reading_a_path_twice_gives_the_same_figure_and_a_stretch_has_its_own() -> None:
    s = situation("[data]\nsequence_length = 4096\n")
    length: Any = s["data.sequence_length"]
    other = s.replaced({"data.sequence_length": s["parallelism.tensor"]})
    assert s["data.sequence_length"] is length
    assert other["data.sequence_length"] is s["parallelism.tensor"]
    assert other["model.hidden_size"] is s["model.hidden_size"]


def test_sources_are_named_once_and_a_renamed_one_has_its_own_paths() -> None:
    sources = '[[data.sources]]\nname = "{}"\nunique_tokens = "1B"\n[[data.sources]]\n'
    for name in ("web", "code"):
        s = situation(sources.format(name))
        first, second = s.of_sources("unique_tokens", "tokens")
        assert s.source_names() == (name, "1")
        assert isinstance(first.origin, Given)
        assert (first.origin.name, first.origin.unit) == (f"data.sources.{name}.unique_tokens", "tokens")
        assert getattr(second, "code", None) == "missing:data.sources.1.unique_tokens"
