"""The hash of a plan: the same for the same plan however it is written, another for every field that counts."""

from __future__ import annotations

import hashlib
import json

import pytest

from trainplan.plan.canonical import canonical, plan_hash
from trainplan.plan.read import plan_of_text

TEXT = 'format = 1\n[data]\ntrain_tokens = "1T"\nsequence_length = 8192\n[cluster]\nnodes = 4\npue = 1.5\n'


def digest(text: str) -> str:
    return plan_hash(plan_of_text(text, "plan.toml"))


def test_hash_is_of_canonical_json() -> None:
    """Sorted keys, numbers in base units, whole ones as integers, and no default."""
    data = {"cluster": {"nodes": 4, "pue": 1.5}, "data": {"sequence_length": 8192, "train_tokens": 10**12}, "format": 1}
    assert canonical(plan_of_text(TEXT, "plan.toml")) == data
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    assert digest(TEXT) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace('"1T"', "1_000_000_000_000"),
        TEXT.replace('"1T"', "1e12"),
        TEXT.replace('"1T"', '"1000B"'),
        TEXT.replace("8192", '"8Ki"'),
        "# a comment\n" + TEXT.replace("\n", "  \n"),
        'format = 1\n[cluster]\npue = 1.50\nnodes = 4\n[data]\nsequence_length = 8192\ntrain_tokens = "1T"\n',
        'name = "another"\ndescription = "words"\n' + TEXT,
        TEXT + '[[pilot]]\nrung = "unit"\nstatus = "passed"\n',
        TEXT + '[[readiness]]\nitem = "cost"\n',
    ],
)
def test_writing_names_and_reviews_leave_it_as_it_is(text: str) -> None:
    assert digest(text) == digest(TEXT)


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("nodes = 4", "nodes = 5"),
        TEXT.replace("pue = 1.5", "pue = 1.25"),
        TEXT + "scale_up_domain = 8\n",
        TEXT + "[memory]\nfragmentation = 0.06\n",
        TEXT + "[schedule]\nstart = 2026-12-07\n",
        TEXT + '[[data.sources]]\nname = "a"\n',
    ],
)
def test_every_field_that_counts_changes_it(text: str) -> None:
    """A default that is written down counts: somebody decided it."""
    assert digest(text) != digest(TEXT)


def test_order_of_entries_counts() -> None:
    one, other = ('[[data.sources]]\nname = "a"\n', '[[data.sources]]\nname = "b"\n')
    assert digest(TEXT + one + other) != digest(TEXT + other + one)


def test_order_of_the_weights_of_a_stage_does_not_count() -> None:
    stage = '[[data.sources]]\nname = "a"\n[[data.sources]]\nname = "b"\n[[data.stages]]\nname = "s"\nweights = '
    assert digest(TEXT + stage + "{ a = 0.5, b = 0.5 }\n") == digest(TEXT + stage + "{ b = 0.5, a = 0.5 }\n")


def test_hash_of_the_first_day() -> None:
    """Sign-offs keep hashes: this one never changes."""
    assert digest(TEXT) == "bcce657ddb6dd76d73e7f59acee0bf57cf63fc92932c9d82f89625360b4b6a1c"
