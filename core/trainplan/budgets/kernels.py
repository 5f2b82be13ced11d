"""How fast the plan's software runs on its part: rates, floors and exposed shares, from fitted numbers looked up by name.

What a plan says decides; what it does not say has a default that is shown as assumed. Runs whose settings no plan can say (a
fabric that was measured, a share of layers that is computed again) put other figures in the place of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import repeat
from typing import Final

from trainplan.budgets.situation import Situation
from trainplan.catalogue import Fact, entry
from trainplan.formulas import communication as c
from trainplan.formulas import layer_time as f
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, blocked, given
from trainplan.quantity.kinds import Kinds

FAMILIES: Final = {
    "v100": "v100",
    "a100": "a100",
    "a800": "a100",
    "h100": "hopper",
    "h200": "hopper",
    "h800": "hopper",
    "h20": "hopper",
    "gh200": "hopper",
    "b200": "blackwell",
    "gb200": "blackwell",
    "b300": "blackwell-ultra",
    "gb300": "blackwell-ultra",
    "mi300x": "mi300",
    "mi325x": "mi300",
    "mi350x": "mi300",
    "mi355x": "mi300",
}
"""Families of fitted numbers by the first word of a part's name."""

LOW_PRECISION: Final = ("fp8-mixed",)

RECOMPUTED: Final = {
    ("none", "megatron"): (0.0, 0.0, 0.0),
    ("none", "torch"): (0.0, 0.0, 0.0),
    ("selective", "megatron"): (0.0, 1.0, 0.0),
    ("selective", "torch"): (0.35, 0.0, 1.0),
    ("full", "megatron"): (1.0, 1.0, 1.0),
    ("full", "torch"): (1.0, 1.0, 1.0),
}
"""Share of the linear layers, of the attention core and of passes over memory that is computed again, by kind of framework.

torchtitan's selective recompute keeps products and attention, and no operator between them.
"""

EARLY: Final = ("fsdp",)
"""Frameworks whose full recompute stops once the block's backward has what it needs: PyTorch's default; torchtitan's is not to."""

Numbers = Mapping[str, Figure]


@record
class Conditions:
    """Rates in FLOP/s and bytes/s, times in s, shares from 0 to 1; one figure each, or a column. `eager`: scores materialise.

    `loose`: operators run one by one, `loose_norms`: the norms' too. `pass_recomputed` is of passes over memory.

    `hides_stages`: what virtual stages send is hidden behind the chunks of other microbatches. `fused_experts`: gate and
    quantization of routed experts are in their products.

    `last_skipped` is the share of a dense block's last product that recompute leaves out, None where it leaves out nothing.
    """

    eager: bool
    loose: bool
    loose_norms: bool
    peak: Figure
    efficiency: Figure
    speedup: Figure
    expert_speedup: Figure
    stream: Figure
    stream_16: Figure
    memory: Figure
    attention: Figure
    linear_recomputed: Figure
    attention_recomputed: Figure
    pass_recomputed: Figure
    last_skipped: Figure | None
    host_floor: Figure
    expert_floor: Figure
    tensor_exposed: Figure
    data_exposed: Figure
    expert_exposed: Figure
    hides_stages: bool
    fused_experts: bool
    domain: Figure
    fabric: Figure
    numbers: Numbers


@cache
def family_of(accelerator: str | None) -> str:
    """The family of fitted numbers of a part."""
    name = accelerator or ""
    if name.startswith("tpu-") and entry("steptime", name) is not None:
        return name
    return FAMILIES.get(name.split("-", maxsplit=1)[0], "other")


def fitted(accelerator: str | None) -> Numbers:
    """The fitted and fixed numbers that hold for a part, the family's over the common ones."""
    return _of_family(family_of(accelerator))


@cache
def _of_family(family: str) -> Numbers:
    entries = ((name, entry("steptime", name)) for name in ("common", family))
    return {
        key: _figure(name, key, fact)
        for name, found in entries
        if found is not None
        for key, fact in found.facts.items()
    }


def _figure(name: str, key: str, fact: Fact) -> Figure:
    return given(
        f"catalogue.steptime.{name}.{key}",
        float(fact.value),
        fact.unit,
        fact.source,
        kind="published",
        verified=fact.verified,
    )


def stack_of(s: Situation) -> str:
    """The kind of software stack: eager (Megatron before fused attention), megatron, torch or xla."""
    framework = s.plan.training.framework
    if framework == "maxtext":
        return "xla"
    if framework in ("torchtitan", "fsdp"):
        return "torch"
    return "eager" if s.plan.training.attention == "eager" else "megatron"


def conditions(s: Situation, numbers: Numbers | None = None) -> Conditions:
    """The plan's conditions, from the part's fitted numbers unless others are handed in."""
    known = fitted(s.plan.cluster.accelerator) if numbers is None else numbers
    stack, low = stack_of(s), s.plan.training.precision in LOW_PRECISION
    one = _one("no gain")
    bandwidth = s.part_fact("memory_bandwidth")
    linear, core, passes = _recomputed(s, stack)
    kernels = s.word("training.kernels")
    loose, core_of = kernels == "torch-eager", "megatron" if (stack, kernels) == ("torch", "megatron-te") else stack
    efficiency = _efficiency(s, known)
    peak = _peak(s)
    found = Conditions(
        eager=s.plan.training.attention == "eager",
        loose=loose,
        loose_norms=loose and s.word("model.norm") == "rmsnorm",
        peak=peak,
        efficiency=efficiency,
        speedup=known.get("fp8", one) if low else one,
        expert_speedup=known["expert_speedup"] if low else one,
        stream=f.stream_rate(bandwidth, known["streaming"], known["low_precision_element"] if low else one),
        stream_16=f.stream_rate(bandwidth, known["streaming"], one),
        memory=f.memory_rate(bandwidth),
        attention=_attention(known, core_of, peak, efficiency),
        linear_recomputed=linear,
        attention_recomputed=core,
        pass_recomputed=passes,
        last_skipped=_last_skipped(s),
        host_floor=known[f"host_floor.{'eager' if stack == 'torch' else stack}"],
        expert_floor=known["expert_floor_xla" if stack == "xla" else "expert_floor"],
        tensor_exposed=_exposed(s, "overlap_tensor", _tensor_default(s, stack, linear, known["tensor_exposed"])),
        data_exposed=_exposed(s, "overlap_data", _one("no overlap") if stack == "eager" else known["data_exposed"]),
        expert_exposed=_exposed(s, "overlap_expert", _expert_default(s, known)),
        hides_stages=stack == "megatron" and s.plan.training.framework == "megatron",
        fused_experts=s.plan.training.expert_kernels == "fused",
        domain=c.domain_rate(s["cluster.scale_up_bandwidth"]),
        fabric=c.fabric_rate(_fabric(s), _one("a fabric as its part's class")),
        numbers=known,
    )
    return _newer(s, found)


def _newer(s: Situation, k: Conditions) -> Conditions:
    """What kernels of 2026 change, where the plan names one: few plans do, and the first figures do not wait for it."""
    training = s.plan.training
    if not k.fused_experts and training.cuda_graphs == "none" and training.attention_precision == "16-bit":
        return k
    from trainplan.budgets.newer import newer_figures

    return replace(k, **newer_figures(s, k.attention, k.speedup, k.numbers["attention_fp8"]))


@cache
def _one(why: str) -> Figure:
    return given(why, 1.0, "1", "step-time model", kind="default")


def _peak(s: Situation) -> Figure:
    """The dense bf16 peak, which every rate is told against; an fp32 run has its own."""
    if s.plan.training.precision == "fp32":
        return s.part_fact("peak_flops_fp32")
    return s.part_fact("peak_flops") if s.plan.training.precision in LOW_PRECISION else s["cluster.peak_flops"]


def _efficiency(s: Situation, known: Numbers) -> Figure:
    variant = known.get(f"variant.{s.plan.cluster.accelerator}")
    return known["efficiency"] if variant is None else f.variant_efficiency(known["efficiency"], variant)


def _attention(known: Numbers, stack: str, peak: Figure, efficiency: Figure) -> Figure:
    if stack == "eager":
        return blocked("none", "FLOP/s")
    return f.attention_rate(
        peak, efficiency, known["attention_most"], known[f"attention.{stack}"], _part_kernels(known, stack)
    )


def _part_kernels(known: Numbers, stack: str) -> Figure:
    """What a stack's attention kernels make of this part, beside what they make of others."""
    own = known.get(f"attention_kernels.{stack}")
    return known.get("attention_speedup", _one("attention kernels as on other parts")) if own is None else own


def _recomputed(s: Situation, stack: str) -> tuple[Figure, Figure, Figure]:
    word, framework = s.kind("parallelism.recompute"), "torch" if stack in ("torch", "xla") else "megatron"
    if isinstance(word, Kinds):
        both = [RECOMPUTED[one, framework] for one in word.words]
        linear, core, passes = (word.of(list(shares)) for shares in zip(*both, strict=True))
        return linear, core, passes
    kind, verified = s.origin("parallelism.recompute")
    shares = RECOMPUTED[word, framework]
    names = ("linear layers computed again", "attention computed again", "passes over memory done again")
    linear, core, passes = map(_share, names, shares, repeat(kind), repeat(verified))
    return linear, core, passes


def linear_recomputed(s: Situation) -> Figure:
    """Share of the linear layers that is computed again, by the plan's recompute and kind of framework."""
    return _recomputed(s, stack_of(s))[0]


@cache
def _share(name: str, share: float, kind: str, verified: bool) -> Figure:
    return given(name, share, "1", "parallelism.recompute", kind=kind, verified=verified)


def _last_skipped(s: Situation) -> Figure | None:
    """1 where recompute is full and stops early, else 0."""
    if s.plan.training.framework not in EARLY:
        return None
    word = s.kind("parallelism.recompute")
    if isinstance(word, Kinds):
        return word.of([float(one == "full") for one in word.words])
    kind, verified = s.origin("parallelism.recompute")
    return _share("last product left out", float(word == "full"), kind, verified)


def _exposed(s: Situation, field: str, default: Figure) -> Figure:
    path = f"parallelism.{field}"
    return c.exposed_share(s[path]) if s.written(path) else default


def _tensor_default(s: Situation, stack: str, recomputed: Figure, exposed: Figure) -> Figure:
    """All of it with torch; what backward cannot hide with eager kernels; what user buffers and XLA leave otherwise."""
    if stack == "torch":
        return _one("no overlap")
    if stack != "eager":
        return exposed
    return c.tensor_shown_share(
        recomputed, s.switch("parallelism.sequence_parallel", "1 where it is on, else 0"), exposed
    )


def _expert_default(s: Situation, known: Numbers) -> Figure:
    """DualPipe hides dispatch and combine behind the other direction's compute; without stages there is no other direction."""
    dual = s.plan.parallelism.schedule == "dualpipe" and s.plan.parallelism.pipeline > 1
    return known["expert_exposed_dual" if dual else "expert_exposed"]


def _fabric(s: Situation) -> Figure:
    """The fabric; a part whose domain holds every accelerator, or a single node, has none to cross and takes its own link."""
    domain = s["cluster.scale_up_domain"]
    inside = s.plan.cluster.nodes == 1 or (isinstance(domain, Figure) and domain >= 64)
    if s.value("cluster.scale_out_bandwidth") is None and inside:
        return s["cluster.scale_up_bandwidth"]
    return s["cluster.scale_out_bandwidth"]
