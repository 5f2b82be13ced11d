"""Files as tests hand them in: the plan that they make, or why they are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainplan.interop.launchers.reading import ImportRefused, Made, plan_of_files
from trainplan.plan.plan import Plan
from trainplan.plan.read import plan_of_text


def made_of(*texts: str) -> Made:
    """What texts make, as files a.txt, b.txt, ..."""
    return plan_of_files([(f"{'abcdef'[index]}.txt", text) for index, text in enumerate(texts)])


@pytest.fixture
def made() -> Callable[..., Made]:
    return made_of


@pytest.fixture
def plan() -> Callable[..., Plan]:
    return lambda *texts: plan_of_text(made_of(*texts).text, "plan.toml")


@pytest.fixture
def refused() -> Callable[..., list[str]]:
    def why(*texts: str) -> list[str]:
        with pytest.raises(ImportRefused) as caught:
            made_of(*texts)
        return str(caught.value).splitlines()

    return why


@pytest.fixture
def said(plan: Callable[..., Plan]) -> Callable[..., Any]:
    """The value at a path of the plan that options of Megatron make."""

    def value(options: str, path: str) -> Any:
        found: Any = plan(f"torchrun pretrain_gpt.py {options}\n")
        for part in path.split("."):
            found = getattr(found, part)
        return found

    return value
