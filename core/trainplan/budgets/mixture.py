"""The mixture of a run: what is drawn from every source, how often, how much of it is seen, and what repeats are worth.

One stage or many, two sources or sixty. It knows no time; when a source runs out is in `exhaustion`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trainplan.budgets.contract import Contract, contract
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import TokenBudget
from trainplan.budgets.weights import Figures, Phase, lengths, name_of, phases, uniques
from trainplan.figure import Blocked, Figure, blocked, given, total
from trainplan.formulas import mixture as f
from trainplan.formulas import scaling

REPETITION = given(
    "repetition constant R*", 15.387756, "1", f.MUENNIGHOFF + ", parametric fit, R_D*", kind="published"
)
"""How fast repeats lose their worth: past 16 passes little is left."""


@dataclass(frozen=True, slots=True, eq=False)
class SourceBudget:
    """One source: weights and shares stage by stage, the rest over the whole run. `epochs` are those that Megatron builds
    in each stage, empty under other samplers; `length` is blocked where the plan has no document lengths."""

    name: str
    unique: Figure
    limit: Figure
    weights: Figures
    shares: Figures
    stage_drawn: Figures
    drawn: Figure
    share: Figure
    passes: Figure
    seen: Figure
    effective: Figure
    epochs: Figures
    length: Figure


@dataclass(frozen=True, slots=True, eq=False)
class MixtureBudget:
    """All sources together. `rows` has one record for each source, `sources` the same figures under `NAME.figure`."""

    unique: Figure
    unique_seen: Figure
    effective: Figure
    lost_to_repetition: Figure
    sources: Mapping[str, Figure]
    optimal: Mapping[str, Figure]
    rows: tuple[SourceBudget, ...]
    phases: tuple[Phase, ...]
    contract: Contract | None


def mixture_budget(s: Situation, tokens: TokenBudget, active_parameters: Figure | None = None) -> MixtureBudget:
    """The mixture of a plan. Blocked by what is missing, or by D3 where the sampler refuses the weights."""
    rule = contract(s)
    stages = phases(s, tokens, rule)
    rows = _rows(s, tokens, rule, stages)
    effective = _sum({row.name: row.effective for row in rows})
    return MixtureBudget(
        unique=_sum({row.name: row.unique for row in rows}),
        unique_seen=_sum({row.name: row.seen for row in rows}),
        effective=effective,
        lost_to_repetition=f.lost_share(effective, tokens.train_tokens),
        sources=dict(_keyed(rows)),
        optimal={} if active_parameters is None else optimal_marks(active_parameters),
        rows=rows,
        phases=stages,
        contract=rule,
    )


def _sum(parts: Mapping[str, Figure]) -> Figure:
    return total(**parts) if parts else blocked("missing:data.sources", "tokens")


def optimal_marks(parameters: Figure) -> dict[str, Figure]:
    """Tokens for which the model is compute-optimal: the rule of thumb, the published fit, its replication."""
    found = {"rule_of_thumb": scaling.rule_tokens(parameters, scaling.RATIO)}
    for name, fit in scaling.FITS.items():
        found[name] = scaling.optimal_tokens(parameters, fit["a"], fit["b"], fit["alpha"], fit["beta"])
    return found


def _keyed(rows: tuple[SourceBudget, ...]) -> list[tuple[str, Figure]]:
    found: list[tuple[str, Figure]] = []
    for row in rows:
        found += [
            (f"{row.name}.unique", row.unique),
            (f"{row.name}.drawn", row.drawn),
            (f"{row.name}.share", row.share),
            (f"{row.name}.passes", row.passes),
            (f"{row.name}.seen", row.seen),
            (f"{row.name}.effective", row.effective),
        ]
        if row.epochs:
            found.append((f"{row.name}.epochs", _stages_sum(row.epochs)))
    return found


def _stages_sum(parts: Figures) -> Figure:
    return parts[0] if len(parts) == 1 else total(**{f"stage {i + 1}": one for i, one in enumerate(parts)})


def _rows(
    s: Situation, tokens: TokenBudget, rule: Contract | None, stages: tuple[Phase, ...]
) -> tuple[SourceBudget, ...]:
    long, unique = lengths(s), uniques(s)
    names = _stage_names(stages)
    found: list[SourceBudget] = []
    for place, source in enumerate(s.plan.data.sources):
        limit = s["data.max_passes"]
        if source.max_passes is not None:
            limit = s.entry(f"data.sources.{name_of(source, place)}.max_passes", source.max_passes, "1")
        found.append(_row(name_of(source, place), place, unique[place], limit, long[place], rule, stages, names, tokens))
    return tuple(found)


def _stage_names(stages: tuple[Phase, ...]) -> tuple[str, ...]:
    names = tuple(stage.name for stage in stages)
    return names if len(set(names)) == len(names) else tuple(f"stage {i + 1}" for i in range(len(names)))


def _row(
    name: str,
    place: int,
    unique: Figure,
    limit: Figure,
    length: Figure,
    rule: Contract | None,
    stages: tuple[Phase, ...],
    names: tuple[str, ...],
    tokens: TokenBudget,
) -> SourceBudget:
    shares = tuple(stage.shares[place] for stage in stages)
    parts = tuple(f.drawn_tokens(share, stage.tokens) for share, stage in zip(shares, stages, strict=True))
    one = len(stages) == 1
    drawn = parts[0] if one else total(**dict(zip(names, parts, strict=True)))
    epochs, seen = _seen(unique, drawn, parts, shares, rule, stages)
    return SourceBudget(
        name=name,
        unique=unique,
        limit=limit,
        weights=tuple(stage.weights[place] for stage in stages),
        shares=shares,
        stage_drawn=parts,
        drawn=drawn,
        share=shares[0] if one else f.drawn_share(drawn, tokens.train_tokens),
        passes=f.passes(drawn, unique),
        seen=seen,
        effective=f.effective_tokens(unique, drawn, REPETITION),
        epochs=epochs,
        length=length,
    )


def _seen(
    unique: Figure, drawn: Figure, parts: Figures, shares: Figures, rule: Contract | None, stages: tuple[Phase, ...]
) -> tuple[Figures, Figure]:
    """Epochs built in each stage, where the sampler builds epochs, and the unique tokens seen by its rule."""
    if rule is None or rule.seen == "once":
        return (), f.seen_once(drawn, unique)
    if rule.seen == "replacement":
        return (), f.seen_with_replacement(unique, drawn)
    surplus, apart = rule.number("surplus"), rule.number("kept_apart")
    epochs: list[Figure] = []
    unseen: Figure | None = None
    for stage, part, share in zip(stages, parts, shares, strict=True):
        samples = f.samples_built(stage.tokens, stage.length, share, surplus)
        built = f.epochs_built(samples, stage.length, unique)
        joint = f.epochs_shuffled(built, samples, stage.length, unique, apart)
        missed = f.unseen_share(part, unique, joint)
        epochs.append(built)
        unseen = missed if unseen is None else f.unseen_after(unseen, missed)
    return tuple(epochs), f.seen_tokens(unique, unseen) if unseen is not None else blocked("undefined:seen", "tokens")


def known(row: SourceBudget) -> bool:
    """Whether the passes of a source follow."""
    return type(row.passes) is not Blocked
