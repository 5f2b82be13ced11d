"""The mixture of a run: what is drawn from every source, how often, how much of it is seen, and what repeats are worth.

One stage or many, two sources or sixty. It knows no time; when a source runs out is in `exhaustion`.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainplan.budgets.contract import Contract, contract
from trainplan.budgets.record import record
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import TokenBudget
from trainplan.budgets.weights import Figures, Phase, lengths, name_of, phases, uniques
from trainplan.figure import Figure, blocked, given, total
from trainplan.formulas import mixture as f
from trainplan.formulas import scaling

REPETITION = given("repetition constant R*", 15.387756, "1", f.MUENNIGHOFF + ", parametric fit, R_D*", kind="published")
"""How fast repeats lose their worth: past 16 passes little is left."""

NOTHING = given("a source that no stage draws from", 0.0, "tokens", "definition", kind="file")


@record
class SourceBudget:
    """One source: weights and shares stage by stage, the rest over the whole run.

    `epochs` are those that Megatron builds and `together` those of them that it shuffles together, None under other
    samplers; `length` is blocked where the plan has no document lengths.
    """

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
    epochs: Figure | None
    together: Figure | None
    length: Figure


@record
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
        if row.epochs is not None:
            found.append((f"{row.name}.epochs", row.epochs))
    return found


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
        found.append(
            _row(name_of(source, place), place, unique[place], limit, long[place], rule, stages, names, tokens)
        )
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
    one = len(stages) == 1
    shares = tuple([stage.shares[place] for stage in stages])
    parts = tuple(
        [
            NOTHING if stage.shares[place] == 0 and not one else f.drawn_tokens(stage.shares[place], stage.tokens)
            for stage in stages
        ]
    )
    drawn = parts[0] if one else _drawn(names, parts)
    share = shares[0] if one else f.drawn_share(drawn, tokens.train_tokens)
    epochs, together, seen = _seen(unique, drawn, share, rule, stages[0], tokens)
    return SourceBudget(
        name=name,
        unique=unique,
        limit=limit,
        weights=tuple([stage.weights[place] for stage in stages]),
        shares=shares,
        stage_drawn=parts,
        drawn=drawn,
        share=share,
        passes=f.passes(drawn, unique),
        seen=seen,
        effective=f.effective_tokens(unique, drawn, REPETITION),
        epochs=epochs,
        together=together,
        length=length,
    )


def _drawn(names: tuple[str, ...], parts: Figures) -> Figure:
    """Tokens of the stages that draw from a source, summed; stages that do not are no part of the sum."""
    found = {name: part for name, part in zip(names, parts, strict=True) if part != 0}
    return total(**found) if found else NOTHING


def _seen(
    unique: Figure, drawn: Figure, share: Figure, rule: Contract | None, first: Phase, tokens: TokenBudget
) -> tuple[Figure | None, Figure | None, Figure]:
    """Epochs built and epochs shuffled together, where the sampler has them, and the unique tokens seen by its rule."""
    if rule is None or rule.seen == "once":
        return None, None, f.seen_once(drawn, unique)
    if rule.seen == "replacement":
        return None, None, f.seen_with_replacement(unique, drawn)
    samples = f.samples_built(tokens.train_tokens, first.length, share, rule.numbers["surplus"])
    built = f.epochs_built(samples, first.length, unique)
    together = f.epochs_together(built, samples, first.length, unique, rule.numbers["kept_apart"])
    return built, together, f.seen_in_epochs(unique, drawn, together)


def known(row: SourceBudget) -> bool:
    """Whether the passes of a source follow."""
    return isinstance(row.passes, Figure)
