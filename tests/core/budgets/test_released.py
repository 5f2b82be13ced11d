"""What released code has: every framework and word is known, what is missing has a nearest, and exports agree."""

from __future__ import annotations

from typing import get_args

import pytest

from trainplan.budgets.framework_defaults import WORDS
from trainplan.budgets.legality.frameworks import NEAREST, SCHEDULES, SHARDINGS, Released, nearest_word, used_schedule
from trainplan.interop.export.titan import SCHEDULES as TITAN
from trainplan.plan.tables import Framework, Schedule, Sharding

KINDS = [(SCHEDULES, get_args(Schedule)), (SHARDINGS, get_args(Sharding))]


@pytest.mark.parametrize(("table", "words"), KINDS)
def test_every_framework_is_told_of_with_words_of_the_plan_format(
    table: dict[str, Released], words: tuple[str, ...]
) -> None:
    assert set(table) == set(get_args(Framework))
    for has in table.values():
        assert set(has.words) <= set(words), has
        assert has.source, has


@pytest.mark.parametrize(("table", "words"), KINDS)
def test_whatever_a_framework_has_not_has_a_nearest_that_it_has(
    table: dict[str, Released], words: tuple[str, ...]
) -> None:
    for has in table.values():
        for word in set(words) - set(has.words) if has.words else ():
            assert nearest_word(word, has) in has.words, (has.name, word)
    assert set(NEAREST) <= {word for _, words in KINDS for word in words}


def test_the_default_sharding_of_a_framework_is_one_that_it_has() -> None:
    for framework, default in WORDS["parallelism.sharding"].items():
        assert default.value in SHARDINGS[framework].words, framework


def test_torchtitans_text_names_the_schedules_that_it_has() -> None:
    assert set(TITAN) == set(SCHEDULES["torchtitan"].words)


def test_virtual_stages_make_1f1b_interleaved() -> None:
    assert used_schedule("1f1b", 4) == used_schedule("interleaved", 2) == "interleaved"
    assert used_schedule("interleaved", 1) == "1f1b"
    assert used_schedule("zb-v", 2) == "zb-v"
