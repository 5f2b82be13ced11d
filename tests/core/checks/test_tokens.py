"""Findings on tokens: for each a plan that gives cause and one that does not, the field that decides, and the fix."""

from __future__ import annotations

from typing import Any

import pytest

from trainplan.checks import findings
from trainplan.checks.amounts import at_least, at_most, listed
from trainplan.estimation import estimate
from trainplan.finding import Finding
from trainplan.plan.plan import Plan
from trainplan.quantity.unit import amount

WEB = {"name": "web", "unique_tokens": "13.5T", "weight": 0.80, "mean_document_tokens": 900}
CODE = {"name": "code", "unique_tokens": "1.6T", "weight": 0.17, "mean_document_tokens": 1000}
MATH = {"name": "math", "unique_tokens": "180B", "weight": 0.03, "mean_document_tokens": 1100}
MAIN = {"name": "main", "until_tokens": "14T", "weights": {"web": 0.80, "code": 0.17, "math": 0.03}}
ANNEAL = {"name": "anneal", "weights": {"web": 0.50, "code": 0.25, "math": 0.25}}
ALONE = [{"name": "web", "unique_tokens": "13.5T", "weight": 1.0, "mean_document_tokens": 900}]


def found(code: str, sampler: str = "mosaic-streaming", **data: Any) -> list[Finding]:
    """Findings of one code for a plan of 15.6T tokens, with fields of [data] and other tables changed."""
    other = {key: data.pop(key) for key in ("batch", "model") if key in data}
    table = {"train_tokens": "15.6T", "sequence_length": 8192, "sampler": sampler, "sources": [WEB, CODE, MATH]} | data
    fields = {
        "format": 1,
        "model": {"preset": "llama-3.1-8b"},
        "data": table,
        "batch": {"global_batch_sequences": 1024},
        "cluster": {"accelerator": "h100-sxm", "nodes": 128, "price_per_accelerator_hour": 2.5},
        "utilization": {"value": 0.4},
        "storage": {"write_bandwidth": "100GB/s", "read_bandwidth": "100GB/s"},
    }
    return [one for one in findings(estimate(Plan.model_validate(fields | other))) if one.code == code]


def one(code: str, sampler: str = "mosaic-streaming", **data: Any) -> Finding:
    every = found(code, sampler, **data)
    assert len(every) == 1, every
    return every[0]


def test_d1_names_the_weight_of_the_stage_that_causes_it() -> None:
    finding = one("D1", stages=[MAIN, ANNEAL])
    assert finding.severity == "warning"
    assert finding.paths[0] == "data.stages.anneal.weights.math"
    assert finding.fix == "anneal weight <= 0.1875 holds, or 205B unique tokens of math, or 15.2T train tokens"
    assert "math is drawn 4.56 times" in finding.message


def test_d1_goes_with_the_weight_that_it_proposes() -> None:
    held = {"name": "anneal", "weights": {"web": 0.5625, "code": 0.25, "math": 0.1875}}
    assert found("D1", stages=[MAIN, held]) == []
    over = {"name": "anneal", "weights": {"web": 0.5624, "code": 0.25, "math": 0.1876}}
    assert len(found("D1", stages=[MAIN, over])) == 1
    assert found("D1", stages=[MAIN, ANNEAL], train_tokens="15.2T") == []
    assert found("D1", stages=[MAIN, ANNEAL], sources=[WEB, CODE, MATH | {"unique_tokens": "205B"}]) == []


def test_d1_names_the_weight_of_the_source_without_stages() -> None:
    finding = one("D1", sources=[WEB | {"weight": 0.9}, MATH | {"weight": 0.1}])
    assert finding.paths[0] == "data.sources.math.weight"
    assert finding.fix.startswith("weight <= 0.04615 holds")


def test_d1_names_the_tokens_where_there_are_no_weights() -> None:
    finding = one("D1", sources=[{"name": "a", "unique_tokens": "2T"}])
    assert finding.paths[0] == "data.train_tokens"
    assert finding.fix == "3.9T unique tokens of a, or 8T train tokens"


def test_own_limit_of_a_source_counts() -> None:
    assert found("D1", stages=[MAIN, ANNEAL], sources=[WEB, CODE, MATH | {"max_passes": 5}]) == []
    assert found("D1", stages=[MAIN, ANNEAL], max_passes=5) == []


def test_d2_is_an_error_unless_a_limit_allows_it() -> None:
    often = {"name": "a", "unique_tokens": "500B"}
    finding = one("D2", sources=[often])
    assert finding.severity == "error"
    assert "drawn 31.2 times" in finding.message
    assert found("D1", sources=[often]) == []
    allowed = one("D2", sources=[often | {"max_passes": 40}])
    assert (allowed.severity, allowed.paths) == ("warning", ("data.sources.a.max_passes",))


@pytest.mark.parametrize(
    ("sampler", "words"),
    [
        ("megatron-blended", "divides by the sum without a word"),
        ("levanter", "divides by the sum without a word"),
        ("mosaic-streaming", "divides by the sum without a word"),
        ("olmo-core", "refuses them"),
        ("hf-interleave", "refuses them"),
        ("megatron-exhaustive", "does not read weights"),
        ("torchtitan", "has one mix"),
    ],
)
def test_d3_says_what_the_sampler_does(sampler: str, words: str) -> None:
    finding = one("D3", sampler, sources=[WEB, CODE, MATH | {"weight": 0.02}])
    assert finding.severity == "error"
    assert "sum to 0.99, not 1" in finding.message
    assert words in finding.message
    assert finding.fix == "web 0.81, or divide each by 0.99"
    assert finding.paths[0] == "data.sources.web.weight"


def test_d3_of_a_stage_names_the_stage() -> None:
    wrong = ANNEAL | {"weights": {"web": 0.5, "code": 0.25, "math": 0.20}}
    finding = one("D3", stages=[MAIN, wrong])
    assert finding.paths[0] == "data.stages.anneal.weights.web"
    assert "weights of anneal sum to 0.95" in finding.message


def test_d3_allows_the_rounding_of_what_is_typed() -> None:
    thirds = [{"name": f"s{i}", "unique_tokens": "13T", "weight": 0.3333333} for i in range(3)]
    assert found("D3", sources=thirds) == []
    tenths = [{"name": f"s{i}", "unique_tokens": "13T", "weight": 0.1} for i in range(10)]
    assert found("D3", sources=tenths) == []
    assert len(found("D3", sources=[one | {"weight": 0.33333} for one in thirds])) == 1


def test_d4_shows_the_shares_and_the_weights_that_were_meant() -> None:
    long = CODE | {"mean_document_tokens": 1800, "weight": 0.2}
    finding = one("D4", "torchdata-weighted", sources=[WEB, long])
    assert "web 0.6667, code 0.3333" in finding.message
    assert finding.fix == "weights web 0.8889, code 0.1111 bring the shares that were meant"
    assert found("D4", "torchdata-weighted", sources=[WEB, CODE | {"weight": 0.2}]) == []
    assert found("D4", "megatron-blended", sources=[WEB, long]) == []


def test_d4_goes_with_the_weights_that_it_proposes() -> None:
    """0.8889 of 900 and 0.1111 of 1,800 are 0.8 and 0.2 of the tokens."""
    sources = [WEB | {"weight": 0.8889}, CODE | {"mean_document_tokens": 1800, "weight": 0.1111}]
    assert "web 0.8, code 0.2" in one("D4", "torchdata-weighted", sources=sources).message


def test_d5_is_a_weight_that_levanter_never_samples() -> None:
    sources = [WEB | {"weight": 0.9999}, MATH | {"weight": 0.0001}]
    finding = one("D5", "levanter", sources=sources)
    assert finding.severity == "error"
    assert finding.paths[0] == "data.sources.math.weight"
    assert finding.fix == "a weight from 0.0004883, or a block of 10,000 sequences"
    assert found("D5", "levanter", sources=sources, mixture_block=10000) == []
    assert found("D5", "nanoset", sources=sources) == []


def test_d6_is_levanter_over_more_than_one_pass() -> None:
    assert one("D6", "levanter").paths[0] == "data.sampler"
    assert found("D6", "levanter", train_tokens="1T") == []
    assert found("D6", "nanoset") == []


def test_d7_is_megatron_with_more_than_one_epoch() -> None:
    finding = one("D7", "megatron-blended")
    assert (finding.severity, finding.paths[0]) == ("info", "data.sampler")
    assert "shuffles 2 epochs of math together" in finding.message
    alone = [{"name": "a", "unique_tokens": "15.6T"}]
    assert found("D7", "megatron-blended", sources=alone) == []  # two epochs, and the second stays apart
    assert found("D7", "megatron-blended", train_tokens="1T") == []
    assert found("D7", "nanoset") == []


def test_d8_is_a_change_of_weights_under_megatron() -> None:
    assert one("D8", "megatron-blended", stages=[MAIN, ANNEAL]).paths[0] == "data.stages.anneal.weights"
    assert found("D8", "megatron-blended", stages=[MAIN, {"name": "longer", "sequence_length": 32768}]) == []
    assert found("D8", "levanter", stages=[MAIN, ANNEAL]) == []


def test_d9_is_a_position_in_each_rank() -> None:
    assert "1,024 replicas" in one("D9", "torchtitan").message
    assert found("D9", "levanter") == []
    assert found("D9", "webdataset") == []


def test_d10_and_d12_are_samplers_that_need_a_setting() -> None:
    assert one("D10", "webdataset").severity == "warning"
    assert one("D12", "mosaic-streaming").severity == "error"
    assert found("D12", "mosaic-streaming", shuffle="sequences") == []
    assert found("D10", "nanoset") == found("D12", "nanoset") == []


def test_d16_is_a_batch_that_changes() -> None:
    schedule = [
        {"from_tokens": 0, "global_batch_sequences": 512},
        {"from_tokens": "1T", "global_batch_sequences": 1024},
    ]
    finding = one("D16", batch={"schedule": schedule})
    assert "4.194M to 8.389M" in finding.message
    assert finding.paths == ("batch.schedule",)
    same = {"name": "long", "sequence_length": 32768, "global_batch_sequences": 256}
    assert found("D16", stages=[MAIN, same]) == []


def test_d17_is_few_tokens_for_the_model() -> None:
    finding = one("D17", train_tokens="100B")
    assert (finding.severity, finding.fix) == ("info", "160.7B train tokens")
    assert found("D17") == []


@pytest.mark.parametrize(
    ("width", "vocabulary", "wrong"),
    [(2, 65499, False), (2, 65500, True), (2, 128256, True), (4, 128256, False), (1, 257, True), (1, 256, False)],
)
def test_d17_is_a_vocabulary_that_does_not_fit(width: int, vocabulary: int, wrong: bool) -> None:
    errors = found("D17", model={"preset": "llama-3.1-8b", "vocab_size": vocabulary}, bytes_per_token=width)
    errors = [finding for finding in errors if finding.severity == "error"]
    assert bool(errors) == wrong
    assert all(finding.paths[0] == "data.bytes_per_token" for finding in errors)


def test_d20_is_more_tokens_than_there_are() -> None:
    finding = one("D20")
    assert finding.severity == "info"
    assert "15.28T unique tokens for 15.6T: math is the first to repeat, at 6T" in finding.message
    assert found("D20", train_tokens="15.28T") == []


def test_d20_counts_no_source_that_is_never_drawn() -> None:
    never = {"name": "spare", "unique_tokens": "9T", "weight": 0.0, "mean_document_tokens": 900}
    finding = one("D20", sources=[*ALONE, never])
    assert finding.message.startswith("13.5T unique tokens for 15.6T: web is the first to repeat")
    assert finding.fix == "13.5T train tokens"
    later = {"name": "later", "until_tokens": "15.6T", "weights": {"web": 0.5, "spare": 0.5}}
    assert found("D20", sources=[*ALONE, never], stages=[{"name": "first", "until_tokens": "8T"}, later]) == []


def test_d23_is_a_weight_that_nothing_reads() -> None:
    assert one("D23", "megatron-exhaustive").paths == ("data.sampler", "data.sources.web.weight")
    assert one("D23", temperature=0.5).paths == ("data.temperature",)
    bare = [{"name": "a", "unique_tokens": "20T"}]
    assert found("D23", "megatron-exhaustive", sources=bare) == []
    assert found("D23", sources=bare, temperature=0.5) == []


def test_d24_is_a_blend_that_ends_before_the_run() -> None:
    finding = one("D24", "megatron-exhaustive")
    assert "ends after one pass, at 15.28T, 320B before" in finding.message
    assert found("D24", "megatron-exhaustive", train_tokens="15.28T") == []
    assert found("D24", "megatron-blended") == []


def test_d25_is_a_mixture_that_olmo_core_refuses() -> None:
    """Per build: each stage has its own quota, 0.03 x 14T of 180B are 2.33 passes."""
    finding = one("D25", "olmo-core", stages=[MAIN, ANNEAL])
    assert finding.fix == "max_repetition_ratio of 2.34 for math"
    assert found("D25", "olmo-core", train_tokens="1T") == []
    assert found("D25", "nanoset") == []


def test_d26_is_interleaving_that_stops_early() -> None:
    finding = one("D26", "hf-interleave")
    assert "stops near 5,454,545,455 items" in finding.message  # 180B / 1,100 / 0.03
    assert found("D26", "hf-interleave", train_tokens="1T") == []
    assert found("D26", "torchdata-weighted") == []


@pytest.mark.parametrize("sampler", ["megatron-exhaustive", "nanoset", "mosaic-streaming", "olmo-core", "levanter"])
def test_a_sound_plan_gives_no_cause(sampler: str) -> None:
    codes = {"D1", "D2", "D3", "D4", "D5", "D6", "D16", "D17", "D20", "D23", "D24", "D25", "D26"} | {"D7", "D8"}
    bare = [{"name": "web", "unique_tokens": "13.5T", "mean_document_tokens": 900}]
    for code in codes:
        assert found(code, sampler, sources=bare, train_tokens="13T") == []


def test_amounts_round_to_the_side_that_holds() -> None:
    assert (at_most(0.18759), at_least(0.18751)) == (pytest.approx(0.1875), pytest.approx(0.1876))
    assert (at_most(0.1875), at_least(0.1875)) == (pytest.approx(0.1875), pytest.approx(0.1875))
    assert [amount(value) for value in (205e9, 15.2e12, 1e9, 999)] == ["205B", "15.2T", "1B", "999"]
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


def test_padding_is_not_tokens_of_documents() -> None:
    """Documents of 900 tokens fill 900 of 8,192; of 8,111 all but a hundredth."""
    padded = one("D28", sources=ALONE, packing="pad")
    assert (padded.severity, padded.fix, padded.paths[0]) == ("warning", 'packing = "best-fit"', "data.packing")
    assert padded.message.startswith("89.0 % of a batch is padding: 1.71T of 15.6T train tokens are of documents")
    assert not found("D28", sources=ALONE)
    assert not found("D28", sources=ALONE, packing="best-fit")
    assert found("D28", sources=[ALONE[0] | {"mean_document_tokens": 8110}], packing="pad")
    assert not found("D28", sources=[ALONE[0] | {"mean_document_tokens": 8111}], packing="pad")


def test_padding_is_counted_at_the_length_of_each_stage() -> None:
    """900 tokens of each sequence, of 8,192 in 14T and of 131,072 in 1.6T: 1.538T and 0.011T, not all as in the last stage."""
    stages = [{"name": "main", "until_tokens": "14T"}, {"name": "long", "sequence_length": 131_072}]
    padded = one("D28", sources=ALONE, packing="pad", stages=stages)
    assert padded.message.startswith("90.1 % of a batch is padding: 1.55T of 15.6T train tokens are of documents")


def test_a_stage_of_less_than_a_step_is_told_too() -> None:
    stages = [
        {"name": "main", "until_tokens": "14T"},
        {"name": "tail", "until_tokens": 14_000_001_000_000},
        {"name": "end"},
    ]
    short = one("D27", sources=ALONE, stages=stages)
    assert short.severity == "error"
    assert short.message.startswith("1,000,000 tokens of tail are less than one batch of ")
    assert not found("D27", sources=ALONE, stages=[stages[0], stages[2]])
