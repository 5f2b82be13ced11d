"""Findings on how the data was made and is read: a plan that has cause, and one that has not."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainplan.checks import findings
from trainplan.estimation import estimate
from trainplan.finding import Finding
from trainplan.plan.read import plan_of_text

EXAMPLE = (Path(__file__).resolve().parents[3] / "plans" / "llama-3.1-8b.toml").read_text(encoding="utf-8")


def found(code: str, data: str = "") -> list[Finding]:
    """Findings of a code for the example with a line added to [data]."""
    text = EXAMPLE.replace("[data]\n", f"[data]\n{data}\n", 1)
    return [item for item in findings(estimate(plan_of_text(text, "plan.toml"))) if item.code == code]


@pytest.mark.parametrize(
    ("code", "cause", "none"),
    [
        ("D11", 'held_out = "split-tail"', 'held_out = "explicit"'),
        ("D13", 'shuffle = "affine"', 'shuffle = "sequences"'),
        ("D14", 'shuffle = "documents"', 'shuffle = "sequences"'),
        ("D15", 'critical_batch_tokens = "4M"', 'critical_batch_tokens = "16M"'),
        ("D21", "ngram_filter = false", "ngram_filter = true"),
    ],
)
def test_a_field_gives_cause_or_not(code: str, cause: str, none: str) -> None:
    assert len(found(code, cause)) == 1
    assert found(code, none) == []
    assert found(code) == []


def test_the_critical_batch_names_both_sizes() -> None:
    message = found("D15", 'critical_batch_tokens = "4M"')[0].message
    assert "8.389M" in message
    assert "4M" in message


def with_sources(web: str, code: str) -> str:
    text = EXAMPLE.replace('name = "web"\n', f'name = "web"\n{web}\n', 1)
    return text.replace('name = "code"\n', f'name = "code"\n{code}\n', 1)


def codes(text: str) -> list[Finding]:
    return [item for item in findings(estimate(plan_of_text(text, "plan.toml"))) if item.code in ("D18", "D19")]


def test_tokenizers_of_sources_have_to_agree() -> None:
    one, other = (f'tokenizer_sha256 = "{letter * 64}"' for letter in "ab")
    assert "2 different tokenizers" in codes(with_sources(one, other))[0].message
    assert codes(with_sources(one, other))[0].severity == "error"
    silent = codes(with_sources(one, one))
    assert "math" in silent[0].message
    assert silent[0].paths == ("data.sources.math.tokenizer_sha256",)
    assert codes(EXAMPLE) == []


def test_shards_older_than_their_code_are_named() -> None:
    old = EXAMPLE.replace('name = "web"\n', 'name = "web"\nbuilt = 2026-01-01\n', 1)
    changed = old.replace("[data]\n", "[data]\npreprocessing_changed = 2026-02-01\n", 1)
    assert codes(changed)[0].paths == ("data.sources.web.built",)
    assert codes(old) == []
    assert codes(old.replace("[data]\n", "[data]\npreprocessing_changed = 2025-12-31\n", 1)) == []


def test_tokens_typed_as_sequences_are_found_with_the_sequences_that_they_are() -> None:
    batch = EXAMPLE.replace("global_batch_sequences = 1024", 'global_batch_sequences = "8M"')
    (finding,) = [one for one in findings(estimate(plan_of_text(batch, "plan.toml"))) if one.code == "D15"]
    assert (finding.severity, finding.paths[0]) == ("warning", "batch.global_batch_sequences")
    assert finding.message.startswith(
        "8,000,000 sequences are 65.5B tokens a step, 1,042 times the largest published batch"
    )
    assert finding.fix == "1,024 sequences of 8,192 tokens, 8.389M a step, where 8M tokens were meant"
    mended = EXAMPLE.replace("global_batch_sequences = 1024", "global_batch_sequences = 15_360")
    assert not [one for one in findings(estimate(plan_of_text(mended, "plan.toml"))) if one.code == "D15"]
