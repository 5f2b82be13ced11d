"""Sampler contracts: every sampler of the plan format says everything that the pane prints, each with its source."""

from __future__ import annotations

from typing import get_args

import pytest

from trainplan.budgets.contract import contract_of
from trainplan.catalogue import entry, names
from trainplan.plan.tables import Sampler

SENTENCES = ("unit", "selection", "inside", "exhaustion", "epoch_boundary", "resume", "new_degree")
WORDS = {
    "mix_unit": {"token", "sequence", "document", "shard"},
    "weights": {"normalised", "refused", "unused", "premixed"},
    "seen": {"once", "joint-epochs", "replacement"},
}


def test_every_sampler_of_the_format_has_a_contract() -> None:
    assert set(names("samplers")) == set(get_args(Sampler))


@pytest.mark.parametrize("name", names("samplers"))
def test_a_contract_is_whole(name: str) -> None:
    found = entry("samplers", name)
    assert found is not None
    for key in SENTENCES:
        assert len(str(found[key].value)) > 6
        assert found[key].source
    for key, words in WORDS.items():
        assert found[key].value in words
    assert found["replacement"].value == (found["seen"].value == "replacement")
    assert found.note


def test_megatron_says_what_its_epochs_are_built_from() -> None:
    rule = contract_of("megatron-blended")
    assert rule is not None
    assert (float(rule.numbers["surplus"]), float(rule.numbers["kept_apart"])) == (1.005, 0.8)
    assert rule.numbers["surplus"].origin.source


def test_an_unknown_sampler_has_no_contract() -> None:
    assert contract_of("none such") is None
