"""The mixture of a plan: passes, shares, unique and effective tokens, exhaustion, packing, all worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from trainplan.estimation import Estimate, estimate
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Blocked, Figure

WEB = {"name": "web", "unique_tokens": "13.5T", "weight": 0.80, "mean_document_tokens": 900}
CODE = {"name": "code", "unique_tokens": "1.6T", "weight": 0.17, "mean_document_tokens": 1500}
MATH = {"name": "math", "unique_tokens": "180B", "weight": 0.03, "mean_document_tokens": 2000}
STAGES = [
    {"name": "main", "until_tokens": "14T", "weights": {"web": 0.80, "code": 0.17, "math": 0.03}},
    {"name": "anneal", "weights": {"web": 0.50, "code": 0.25, "math": 0.25}},
]


def plan(sampler: str | None = "megatron-blended", **data: Any) -> Estimate:
    """An estimate of 15.6T tokens of Llama 3.1 8B on three sources, with fields of [data] and other tables changed."""
    other = {key: data.pop(key) for key in ("schedule", "batch", "parallelism") if key in data}
    table = {"train_tokens": "15.6T", "sequence_length": 8192, "sources": [WEB, CODE, MATH]} | data
    if sampler is not None:
        table["sampler"] = sampler
    fields = {
        "format": 1,
        "model": {"preset": "llama-3.1-8b"},
        "data": table,
        "batch": {"global_batch_sequences": 1024},
        "cluster": {"accelerator": "h100-sxm", "nodes": 128, "price_per_accelerator_hour": 2.5},
        "utilization": {"value": 0.4},
        "storage": {"write_bandwidth": "100GB/s", "read_bandwidth": "100GB/s"},
    }
    return estimate(Plan.model_validate(fields | other))


def value(found: Estimate, key: str) -> float:
    figure = found.quantities[f"tokens.{key}"]
    assert isinstance(figure, Figure), f"{key}: {figure!r}"
    return float(figure)


def code(found: Estimate, key: str) -> str:
    blocked = found.quantities[f"tokens.{key}"]
    assert isinstance(blocked, Blocked), f"{key}: {blocked!r}"
    return blocked.code


def test_one_stage() -> None:
    found = plan(sources=[WEB | {"weight": 0.8}, CODE | {"weight": 0.2}])
    assert value(found, "sources.web.passes") == pytest.approx(0.8 * 15.6 / 13.5, rel=1e-12)
    assert value(found, "sources.code.passes") == pytest.approx(1.95, rel=1e-12)
    assert value(found, "sources.code.share") == 0.2
    assert value(found, "first_exhausted_at") == 32e12
    assert str(found.quantities["tokens.first_exhausted"]) == "code"
    assert value(found, "exhaustion_headroom") == pytest.approx(32 / 15.6 - 1, rel=1e-12)


def test_two_stages() -> None:
    """The drawing of the tokens pane: 0.03 x 14T + 0.25 x 1.6T = 0.82T of math, 4.56 passes, limit at 15.2T."""
    found = plan(stages=STAGES)
    assert value(found, "sources.math.drawn") == 0.82e12
    assert value(found, "sources.math.passes") == pytest.approx(4.5555555556, rel=1e-9)
    assert value(found, "sources.math.share") == pytest.approx(0.82 / 15.6, rel=1e-12)
    assert [value(found, f"sources.{name}.epochs") for name in ("web", "code", "math")] == [1, 2, 5]
    assert value(found, "first_exhausted_at") == pytest.approx(15.2e12, rel=1e-12)
    assert value(found, "first_repeat_at") == pytest.approx(6e12, rel=1e-12)
    assert str(found.quantities["tokens.first_repeat"]) == "math"
    assert value(found, "effective") == pytest.approx(15.5036e12, rel=1e-5)
    assert value(found, "lost_to_repetition") == pytest.approx(0.00618, abs=5e-6)


def test_a_stage_without_weights_takes_those_of_the_sources() -> None:
    found = plan(stages=[{"name": "main", "until_tokens": "10T"}, STAGES[1]])
    assert value(found, "sources.math.drawn") == pytest.approx((0.03 * 10 + 0.25 * 5.6) * 1e12, rel=1e-12)


def test_sources_that_a_stage_does_not_name_are_zero() -> None:
    found = plan(stages=[STAGES[0], {"name": "anneal", "weights": {"math": 1.0}}])
    assert value(found, "sources.web.drawn") == pytest.approx(11.2e12, rel=1e-12)
    assert value(found, "sources.math.drawn") == pytest.approx(2.02e12, rel=1e-12)


def test_limit_is_reached_with_the_last_weights_after_the_end() -> None:
    """Web: 0.8 x 14T in main; at 0.5 it would reach 4 x 13.5T at 14T + (54 - 11.2) / 0.5 T."""
    found = plan(stages=STAGES, sources=[WEB, CODE | {"max_passes": 1000}, MATH | {"max_passes": 1000}])
    assert value(found, "first_exhausted_at") == pytest.approx(99.6e12, rel=1e-12)
    assert code(found, "first_exhausted_step") == "none"


def test_no_limit_is_reached_where_the_last_stage_draws_nothing_limited() -> None:
    """Only what the last stage draws can run out after it; the source's own limit of 1,000 passes is one too."""
    found = plan(stages=[STAGES[0], {"name": "anneal", "weights": {"web": 1.0}}], max_passes=1e6)
    assert str(found.quantities["tokens.first_exhausted"]) == "web"
    assert value(found, "first_exhausted_at") == pytest.approx(14e12 + (1e6 * 13.5e12 - 11.2e12), rel=1e-12)


def test_weights_by_size_and_by_temperature() -> None:
    sources = [{"name": "a", "unique_tokens": 16e9}, {"name": "b", "unique_tokens": 1e9}]
    assert value(plan(sources=sources), "sources.a.share") == pytest.approx(16 / 17, rel=1e-12)
    assert value(plan(sources=sources, temperature=0.5), "sources.a.share") == pytest.approx(0.8, rel=1e-12)


def test_blocked_by_what_is_missing() -> None:
    assert code(plan(None), "sources.web.passes") == "missing:data.sampler"
    assert code(plan(sources=[]), "unique_seen") == "missing:data.sources"
    half = plan(sources=[WEB, {"name": "code", "unique_tokens": "1T"}])
    assert code(half, "sources.web.passes") == "missing:data.sources.code.weight"
    bare = plan(sources=[WEB | {"weight": 1.0, "unique_tokens": None}])
    assert code(bare, "sources.web.passes") == "missing:data.sources.web.unique_tokens"
    assert code(bare, "first_exhausted_at") == "missing:data.sources.web.unique_tokens"
    items = plan("hf-interleave", sources=[WEB, {"name": "code", "unique_tokens": "1T", "weight": 0.2}])
    assert code(items, "sources.web.share") == "missing:data.sources.code.mean_document_tokens"


def test_document_length_follows_from_documents() -> None:
    documents = {"name": "code", "unique_tokens": "1.5T", "weight": 0.2, "documents": 1_000_000_000}
    found = plan("torchdata-weighted", sources=[WEB, documents])
    assert value(found, "sources.code.share") == pytest.approx(0.2 * 1500 / (0.8 * 900 + 0.2 * 1500), rel=1e-12)


@pytest.mark.parametrize(
    ("sampler", "share"),
    [
        ("megatron-blended", 0.8 / 0.9),
        ("mosaic-streaming", 0.8 / 0.9),
        ("nanoset", 0.8 / 0.9),
        ("torchtitan", 0.8 / 0.9),
        ("megatron-exhaustive", 13.5 / 15.1),
        ("torchdata-weighted", 0.8 * 900 / (0.8 * 900 + 0.1 * 1500)),
        ("olmo-core", None),
        ("hf-interleave", None),
    ],
)
def test_what_a_wrong_sum_becomes(sampler: str, share: float | None) -> None:
    found = plan(sampler, sources=[WEB, CODE | {"weight": 0.1}])
    if share is None:
        assert code(found, "sources.web.share") == "D3"
    else:
        assert value(found, "sources.web.share") == pytest.approx(share, rel=1e-12)


def test_levanter_counts_are_exact_in_a_block() -> None:
    """0.03 x 100 = 3, 0.165 x 100 = 16.5 rounded down, and the rest of 100 to web."""
    sources = [WEB | {"weight": 0.805}, CODE | {"weight": 0.165}, MATH]
    found = plan("levanter", sources=sources, mixture_block=100)
    assert [value(found, f"sources.{name}.share") for name in ("web", "code", "math")] == [0.81, 0.16, 0.03]


def test_unique_tokens_by_the_sampler_rule() -> None:
    one = [{"name": "a", "unique_tokens": 1e12, "weight": 1.0, "mean_document_tokens": 1000}]
    once = plan("levanter", sources=one, train_tokens="1.9T")
    again = plan("webdataset", sources=one, train_tokens="1.9T")
    joint = plan("megatron-blended", sources=one, train_tokens="1.9T")
    apart = plan("megatron-blended", sources=one, train_tokens="1.5T")
    assert value(once, "unique_seen") == 1e12
    assert value(again, "unique_seen") == pytest.approx(1e12 * (1 - 2.718281828459045**-1.9), rel=1e-12)
    assert value(joint, "unique_seen") == pytest.approx(1e12 * (1 - 0.05**2), rel=1e-9)
    assert value(apart, "unique_seen") == 1e12


def test_first_repeat_in_steps_time_and_days() -> None:
    """6T tokens of 8,388,608 a step: in step 715,256. The time is that share of the wall time without downtime."""
    found = plan(stages=STAGES)
    assert value(found, "first_repeat_step") == 715256
    speed, faults = found.speed, found.faults
    whole = speed.times[0] * faults.slowdown
    assert value(found, "first_repeat_time") == pytest.approx(whole * 6 / 14, rel=1e-12)
    assert code(found, "first_repeat_date") == "none"


def test_day_of_the_first_repeat() -> None:
    import datetime as dt

    found = plan(stages=STAGES, schedule={"start": dt.date(2026, 12, 7)})
    days = int(value(found, "first_repeat_time") // 86400)
    assert str(found.quantities["tokens.first_repeat_date"]) == str(dt.date(2026, 12, 7) + dt.timedelta(days=days))


def test_first_repeat_in_a_batch_schedule() -> None:
    """3T at 4,194,304 tokens a step, then 3T more at 8,388,608."""
    schedule = [
        {"from_tokens": 0, "global_batch_sequences": 512},
        {"from_tokens": "3T", "global_batch_sequences": 1024},
    ]
    found = plan(batch={"schedule": schedule})
    assert value(found, "first_repeat_step") == -(-3 * 10**12 // 4194304) + -(-3 * 10**12 // 8388608)


def test_no_repeat_inside_the_run() -> None:
    found = plan(train_tokens="1T")
    assert code(found, "first_repeat_at") == "none"
    assert value(found, "first_exhausted_at") == pytest.approx(24e12, rel=1e-12)


def test_stages_with_a_batch_schedule_block() -> None:
    found = plan(stages=STAGES, batch={"schedule": [{"from_tokens": 0, "global_batch_sequences": 512}]})
    assert code(found, "sources.math.passes") == "D22"


def test_packing() -> None:
    one = [WEB | {"weight": 1.0}]
    assert value(plan(sources=one), "cut_share") == 0.10986328125
    assert value(plan(sources=one), "padding_share") == 0
    assert value(plan(sources=one, packing="pad"), "padding_share") == pytest.approx(1 - 900 / 8192, rel=1e-12)
    assert value(plan(sources=one, packing="best-fit"), "padding_share") == 0.001
    assert value(plan(sources=one, packing="best-fit"), "cut_share") == 0
    assert code(plan(sources=one, packing="best-fit", sequence_length=1024), "padding_share") == "none"
    assert code(plan(sources=[{"name": "a", "unique_tokens": "1T", "weight": 1.0}]), "cut_share") == "none"


def test_packing_of_two_sources_counts_documents() -> None:
    """Documents for each token: 0.8 / 900 and 0.2 / 1500; cut 900 / 8192 and 1500 / 8192 of them."""
    found = plan(sources=[WEB, CODE | {"weight": 0.2}])
    web, other = 0.8 / 900, 0.2 / 1500
    expected = (web * 900 / 8192 + other * 1500 / 8192) / (web + other)
    assert value(found, "cut_share") == pytest.approx(expected, rel=1e-12)
    assert value(found, "cuts.code") == pytest.approx(1500 / 8192, rel=1e-12)


def test_packing_by_histogram() -> None:
    """Nine documents of 1,000 tokens and one of 20,000: padded to 8,192, (9 x 1,000 + 8,192) of 81,920 are kept."""
    long = [{"name": "a", "unique_tokens": "1T", "weight": 1.0, "document_lengths": [[1000, 9], [20000, 1]]}]
    found = plan(sources=long, packing="pad")
    assert value(found, "padding_share") == pytest.approx(1 - 17192 / 81920, rel=1e-12)
    assert value(found, "cut_share") == pytest.approx(0.1, rel=1e-12)
    assert value(plan(sources=long), "cut_share") == pytest.approx((9 * 1000 / 8192 + 1) / 10, rel=1e-12)


def test_masks_leave_out_scores() -> None:
    """Documents of 900 tokens in sequences of 8,192 leave 900 / 8,192 of the scores."""
    found = plan(sources=[WEB | {"weight": 1.0}])
    assert value(found, "mask_saving") == pytest.approx(1 - 900 / 8192, rel=1e-12)
    assert code(plan(sources=[WEB | {"weight": 1.0}], document_mask=False), "mask_saving") == "none"


def test_interleaving_ends_with_its_first_source() -> None:
    """200M math documents at 0.05 of the items: 4B items, of 0.75 x 900 + 0.2 x 1,500 + 0.05 x 900 tokens."""
    sources = [WEB | {"weight": 0.75}, CODE | {"weight": 0.2}, MATH | {"weight": 0.05, "mean_document_tokens": 900}]
    found = plan("hf-interleave", sources=sources)
    assert value(found, "interleaved_items") == pytest.approx(4e9, rel=1e-12)
    assert value(found, "interleaved_tokens") == pytest.approx(4e9 * 1020, rel=1e-12)
    assert "tokens.interleaved_items" not in plan().quantities


def test_marks_stand_beside_each_other() -> None:
    found = plan()
    marks = [value(found, f"optimal.{name}") for name in ("rule_of_thumb", "hoffmann_rounded", "besiroglu")]
    assert marks[0] == 20 * 8030261248
    assert marks[1] > 3 * marks[2]
    unsure = found.quantities["tokens.optimal.hoffmann_unrounded"]
    assert isinstance(unsure, Figure)
    assert not unsure.verified


def test_every_key_of_a_source_explains_itself() -> None:
    from trainplan.views.explain import tree

    found = plan(stages=STAGES)
    node = tree(found, "tokens.sources.math.passes")
    assert [child.name for child in node.children] == ["drawn", "unique"]
    fields = {child.key for child in node.children[0].children for child in child.children}
    assert "data.stages.anneal.weights.math" in fields


def _many(count: int) -> Estimate:
    """A plan of so many sources in two stages."""
    sources = [
        {"name": f"s{i}", "unique_tokens": (100 + i) * 10**9, "mean_document_tokens": 500 + i} for i in range(count)
    ]
    even = {f"s{i}": 1 / count for i in range(count)}
    stages = [{"name": "a", "until_tokens": "10T", "weights": even}, {"name": "b", "weights": {"s0": 0.5, "s1": 0.5}}]
    return plan(sources=sources, stages=stages)


def test_sixty_sources_stay_cheap_in_figures() -> None:
    """Figures are what an estimate costs: a score for each source of two stages, not hundreds."""
    found = _many(60)
    assert value(found, "sources.s0.passes") == pytest.approx((10e12 / 60 + 2.8e12) / 100e9, rel=1e-12)
    assert (len(found.all_quantities) - len(_many(30).all_quantities)) / 30 <= 20


LONGER = [
    {"name": "main", "until_tokens": "9T"},
    {"name": "long", "sequence_length": 65536, "weights": {"web": 0.5, "code": 0.5}},
]
TWO = [WEB | {"weight": 0.75}, CODE | {"weight": 0.25}]


def test_padding_is_that_of_each_stage_at_its_own_mixture() -> None:
    """9 of 10 T at 8,192 with 0.75 and 0.25, the rest at 65,536 with halves; documents of 900 and 1,500 tokens."""
    found = plan(sources=TWO, stages=LONGER, train_tokens="10T", packing="pad")
    short = 1 / (0.75 / 900 + 0.25 / 1500) / 8192
    last = 1 / (0.5 / 900 + 0.5 / 1500) / 65536
    assert value(found, "padding_share") == pytest.approx(1 - 0.9 * short - 0.1 * last, rel=1e-12)


def test_documents_are_cut_at_the_length_of_their_stage() -> None:
    found = plan(sources=TWO, stages=LONGER, train_tokens="10T")
    web, other = (0.9 * 0.75 / 900, 0.1 * 0.5 / 900), (0.9 * 0.25 / 1500, 0.1 * 0.5 / 1500)
    cut = web[0] * 900 / 8192 + web[1] * 900 / 65536 + other[0] * 1500 / 8192 + other[1] * 1500 / 65536
    assert value(found, "cut_share") == pytest.approx(cut / sum((*web, *other)), rel=1e-12)
    own = (web[0] * 900 / 8192 + web[1] * 900 / 65536) / sum(web)
    assert value(found, "cuts.web") == pytest.approx(own, rel=1e-12)


def test_masks_leave_out_scores_of_every_stage() -> None:
    """A token sees half its document, or half its sequence: 1,050 of 8,192 in nine tenths, 1,200 of 65,536 in the rest."""
    found = plan(sources=TWO, stages=LONGER, train_tokens="10T")
    saved = 1 - (0.9 * 1050 + 0.1 * 1200) / (0.9 * 8192 + 0.1 * 65536)
    assert value(found, "mask_saving") == pytest.approx(saved, rel=1e-12)
    assert found.speed.flops.masked_keys == pytest.approx(600, rel=1e-12)


def test_other_weights_at_one_length_pack_as_the_whole_run_draws() -> None:
    weighed = [LONGER[0], {key: told for key, told in LONGER[1].items() if key != "sequence_length"}]
    found = plan(sources=TWO, stages=weighed, train_tokens="10T", packing="pad")
    web, other = 0.9 * 0.75 + 0.1 * 0.5, 0.9 * 0.25 + 0.1 * 0.5
    assert value(found, "padding_share") == pytest.approx(1 - 1 / (web / 900 + other / 1500) / 8192, rel=1e-12)
    assert value(found, "mask_saving") == pytest.approx(1 - (web * 900 + other * 1500) / 8192, rel=1e-12)
