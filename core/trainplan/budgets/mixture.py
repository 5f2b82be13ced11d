"""The mixture of a run: what is drawn from every source, how often, how much of it is seen, and what repeats are worth.

One stage or many, two sources or sixty. It knows no time; when a source runs out is in `exhaustion`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain, repeat
from operator import attrgetter
from typing import Final, TypeAlias

from trainplan.budgets.contract import Contract, contract
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import TokenBudget
from trainplan.budgets.weights import Figures, Phase, lengths, phases, uniques
from trainplan.formulas import mixture as f
from trainplan.formulas import scaling
from trainplan.frozen import record
from trainplan.quantity.figure import Blocked, Figure, blocked, given, summed, total_of

REPETITION = given("repetition constant R*", 15.387756, "1", f.MUENNIGHOFF + ", parametric fit, R_D*", kind="published")
"""How fast repeats lose their worth: past 16 passes little is left."""

NOTHING = given("a source that no stage draws from", 0.0, "tokens", "definition", kind="file")

SHOWN: Final = ("unique", "drawn", "share", "passes", "seen", "effective")
"""Figures of a source that every sampler has."""

Epochs: TypeAlias = "Iterable[Figure | None]"


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
    effective = _sum(rows, "effective")
    return MixtureBudget(
        unique=_sum(rows, "unique"),
        unique_seen=_sum(rows, "seen"),
        effective=effective,
        lost_to_repetition=f.lost_share(effective, tokens.train_tokens),
        sources=_keyed(rows),
        optimal={} if active_parameters is None else optimal_marks(active_parameters),
        rows=rows,
        phases=stages,
        contract=rule,
    )


def _sum(rows: tuple[SourceBudget, ...], field: str) -> Figure:
    if not rows:
        return blocked("missing:data.sources", "tokens")
    return summed(tuple([row.name for row in rows]), tuple(map(attrgetter(field), rows)))


def optimal_marks(parameters: Figure) -> dict[str, Figure]:
    """Tokens for which the model is compute-optimal: the rule of thumb, the published fit, its replication."""
    found = {"rule_of_thumb": scaling.rule_tokens(parameters, scaling.RATIO)}
    for name, fit in scaling.FITS.items():
        found[name] = scaling.optimal_tokens(parameters, fit["a"], fit["b"], fit["alpha"], fit["beta"])
    return found


def _keyed(rows: tuple[SourceBudget, ...]) -> dict[str, Figure]:
    built = any(row.epochs is not None for row in rows)
    read = attrgetter(*SHOWN, "epochs") if built else attrgetter(*SHOWN)
    keys = _row_keys(tuple([row.name for row in rows]), built)
    return dict(zip(keys, chain.from_iterable(map(read, rows)), strict=True))


@lru_cache(maxsize=10)
def _row_keys(names: tuple[str, ...], built: bool) -> tuple[str, ...]:
    """A key for every figure of every source; kept, because an edit seldom renames one."""
    figures = (*SHOWN, "epochs") if built else SHOWN
    return tuple([f"{name}.{figure}" for name in names for figure in figures])


def _rows(
    s: Situation, tokens: TokenBudget, rule: Contract | None, stages: tuple[Phase, ...]
) -> tuple[SourceBudget, ...]:
    """Every source's record. What one formula says of all of them is told column by column, as sixty sources are many."""
    unique = uniques(s)
    parts = [_stage_drawn(stage, len(stages) == 1) for stage in stages]
    drawn, share = (parts[0], stages[0].shares) if len(stages) == 1 else _whole(stages, parts, tokens)
    epochs, together, seen = _seen(unique, drawn, share, rule, stages[0], tokens)
    columns = zip(
        s.source_names(),
        unique,
        _limits(s),
        zip(*[stage.weights for stage in stages], strict=True),
        zip(*[stage.shares for stage in stages], strict=True),
        zip(*parts, strict=True),
        drawn,
        share,
        map(f.passes, drawn, unique),
        seen,
        map(f.effective_tokens, unique, drawn, repeat(REPETITION)),
        epochs,
        together,
        lengths(s),
        strict=False,  # epochs may go on without end
    )
    return tuple([SourceBudget(*column) for column in columns])


def _limits(s: Situation) -> Figures:
    """The pass limit of every source: its own, else the plan's."""
    every, sources = s["data.max_passes"], s.plan.data.sources
    if all(one.max_passes is None for one in sources):
        return (every,) * len(sources)
    return tuple([every if isinstance(one, Blocked) else one for one in s.of_sources("max_passes", "1")])


def _stage_drawn(stage: Phase, alone: bool) -> Figures:
    """Tokens that one stage draws from every source."""
    if alone or all(stage.shares):
        return tuple(map(f.drawn_tokens, stage.shares, repeat(stage.tokens)))
    return tuple([NOTHING if share == 0 else f.drawn_tokens(share, stage.tokens) for share in stage.shares])


def _whole(stages: tuple[Phase, ...], parts: list[Figures], tokens: TokenBudget) -> tuple[Figures, Figures]:
    """Tokens drawn from every source over all stages, and its share in the run."""
    names = stage_names(stages)
    drawn = tuple([_drawn(names, of_source) for of_source in zip(*parts, strict=True)])
    return drawn, tuple(map(f.drawn_share, drawn, repeat(tokens.train_tokens)))


def stage_names(stages: tuple[Phase, ...]) -> tuple[str, ...]:
    """Names that the parts of a sum can carry: those of the stages, or their numbers where two have one name."""
    names = tuple(stage.name for stage in stages)
    return names if len(set(names)) == len(names) else tuple(f"stage {i + 1}" for i in range(len(names)))


def _drawn(names: tuple[str, ...], parts: Figures) -> Figure:
    """Tokens of the stages that draw from a source, summed; stages that do not are no part of the sum."""
    if 0.0 not in parts:
        return summed(names, parts)
    found = {name: part for name, part in zip(names, parts, strict=True) if part != 0}
    return total_of(found) if found else NOTHING


def _seen(
    unique: Figures, drawn: Figures, share: Figures, rule: Contract | None, first: Phase, tokens: TokenBudget
) -> tuple[Epochs, Epochs, Iterable[Figure]]:
    """Epochs built and epochs shuffled together, where the sampler has them, and the unique tokens seen by its rule."""
    if rule is None or rule.seen == "once":
        return repeat(None), repeat(None), map(f.seen_once, drawn, unique)
    if rule.seen == "replacement":
        return repeat(None), repeat(None), map(f.seen_with_replacement, unique, drawn)
    length, apart = repeat(first.length), repeat(rule.numbers["kept_apart"])
    samples = tuple(map(f.samples_built, repeat(tokens.train_tokens), length, share, repeat(rule.numbers["surplus"])))
    built = tuple(map(f.epochs_built, samples, length, unique))
    together = tuple(map(f.epochs_together, built, samples, length, unique, apart))
    return built, together, map(f.seen_in_epochs, unique, drawn, together)


def known(row: SourceBudget) -> bool:
    """Whether the passes of a source follow."""
    return isinstance(row.passes, Figure)
