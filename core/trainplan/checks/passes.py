"""Findings on how often sources are drawn: D1, D2, D20, and D24 to D26 where a sampler stops or refuses.

Each names the field that decides first: the weight of the stage in which a source passes its limit, where that stage has
its own; and what would hold.
"""

from __future__ import annotations

from typing import Final

from trainplan.budgets.mixture import SourceBudget, known
from trainplan.budgets.weights import Phase
from trainplan.checks.amounts import at_least, at_most, listed, passes, share
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Choice, Figure, total
from trainplan.quantity.unit import amount, whole

LITTLE_LEFT: Final = 16.0
"""Passes from which repeats teach next to nothing (Muennighoff et al. 2023, read second-hand)."""

MOST_TOKENS: Final = 1e17
"""The most tokens that a plan can say; a fix above it is none."""


def above_limit(estimate: Estimate) -> list[Finding]:
    """D1: a source is drawn more often than its limit; D2: more than 16 times, without a limit of its own that allows it."""
    rows = [row for row in estimate.mixture.rows if known(row)]
    return [_above(estimate, row) for row in rows if row.passes > row.limit or row.passes > LITTLE_LEFT]


def _above(estimate: Estimate, row: SourceBudget) -> Finding:
    many, allowed = row.passes > LITTLE_LEFT, row.passes <= row.limit
    code, severity = ("D2", "error") if many and not allowed else ("D1", "warning")
    if many and allowed:
        message = f"{row.name} is drawn {passes(row.passes)} times, as its limit allows; past 16 little is left"
        return Finding("D2", "warning", "tokens", message, "", (_limit_path(estimate, row),), 60)
    why = "past 16 little is left" if many else f"limit {row.limit:g}: past it repeats teach less"
    message = f"{row.name} is drawn {passes(row.passes)} times; {why}"
    path, fixes = _nearest(estimate, row)
    return Finding(code, severity, "tokens", message, ", or ".join(fixes), path, 60 + float(row.passes))


def _limit_path(estimate: Estimate, row: SourceBudget) -> str:
    own = any(source.name == row.name and source.max_passes is not None for source in estimate.plan.data.sources)
    return f"data.sources.{row.name}.max_passes" if own else "data.max_passes"


def _nearest(estimate: Estimate, row: SourceBudget) -> tuple[tuple[str, ...], list[str]]:
    """The paths that decide, first the nearest, and what would hold in each."""
    stage = _crossing(row, estimate.mixture.phases)
    phase = estimate.mixture.phases[stage]
    path = _weight_path(estimate, row, phase)
    fixes = _weight_fix(row, phase, stage) if path.endswith(("weight", f"weights.{row.name}")) else []
    if row.drawn / row.limit < MOST_TOKENS:
        fixes.append(f"{amount(at_least(row.drawn / row.limit, 3))} unique tokens of {row.name}")
    reach = _reach_of(row, estimate)
    if reach > 0:
        fixes.append(f"{amount(at_most(reach))} train tokens")
    return tuple(dict.fromkeys((path, f"data.sources.{row.name}.unique_tokens", "data.train_tokens"))), fixes


def _crossing(row: SourceBudget, phases: tuple[Phase, ...]) -> int:
    """The stage in which a source passes its limit."""
    left = row.unique * row.limit
    for stage, part in enumerate(row.stage_drawn):
        if part > left:
            return stage
        left -= part
    return len(phases) - 1


def _weight_path(estimate: Estimate, row: SourceBudget, phase: Phase) -> str:
    data = estimate.plan.data
    stage = next((one for i, one in enumerate(data.stages) if phase.path == f"data.stages.{one.name or i}."), None)
    if stage is not None and stage.weights is not None:
        return f"{phase.path}weights.{row.name}"
    if any(source.weight is not None for source in data.sources):
        return f"data.sources.{row.name}.weight"
    return "data.train_tokens"


def _weight_fix(row: SourceBudget, phase: Phase, stage: int) -> list[str]:
    """The weight that would hold, where a weight is a share of tokens; nothing where no weight of the stage would."""
    if abs(row.shares[stage] - row.weights[stage]) > 1e-9:
        return []
    room = row.unique * row.limit - (row.drawn - row.stage_drawn[stage])
    if room <= 0:
        return []
    name = f"{phase.name} weight" if phase.path else "weight"
    return [f"{name} <= {share(at_most(room / phase.tokens))} holds"]


def _reach_of(row: SourceBudget, estimate: Estimate) -> float:
    """Train tokens at which this source reaches its limit."""
    left = row.unique * row.limit
    for phase, part, one in zip(estimate.mixture.phases, row.stage_drawn, row.shares, strict=True):
        if not isinstance(phase.begin, Figure):
            return 0.0
        if one > 0 and part >= left:
            return phase.begin + left / one
        left -= part
    return 0.0


def repeats(estimate: Estimate) -> list[Finding]:
    """D20: the sources together have fewer unique tokens than the run trains on. A source that is never drawn has none for it."""
    rows = [row for row in estimate.mixture.rows if not isinstance(row.drawn, Figure) or row.drawn > 0.0]
    unique, train, at = (
        total(**{str(i): row.unique for i, row in enumerate(rows)}),
        estimate.tokens.train_tokens,
        estimate.exhaustion.first_repeat_at,
    )
    if not all(isinstance(one, Figure) for one in (unique, train, at)) or unique >= train:
        return []
    day, name = estimate.exhaustion.first_repeat_date, estimate.exhaustion.first_repeat
    when = f", {day}" if isinstance(day, Choice) else ""
    message = (
        f"{amount(unique)} unique tokens for {amount(train)}: {name} is the first to repeat, at {amount(at)}{when}"
    )
    paths = ("data.train_tokens", f"data.sources.{name}.unique_tokens")
    return [Finding("D20", "info", "tokens", message, f"{amount(at_most(unique))} train tokens", paths)]


def ends_early(estimate: Estimate) -> list[Finding]:
    """D24: the exhaustive blend ends after one pass, before the train tokens are reached."""
    rule, unique, train = estimate.mixture.contract, estimate.mixture.unique, estimate.tokens.train_tokens
    if rule is None or rule.weights != "unused" or not isinstance(unique, Figure) or not isinstance(train, Figure):
        return []
    if train <= unique:
        return []
    message = f"{rule.name} ends after one pass, at {amount(unique)}, {amount(train - unique)} before the run does"
    fix = f"{amount(at_most(unique))} train tokens, or megatron-blended"
    return [Finding("D24", "error", "tokens", message, fix, ("data.train_tokens", "data.sampler"), 1e4)]


def refused_repeats(estimate: Estimate) -> list[Finding]:
    """D25: OLMo-core refuses to build a mixture that needs more than a source has, unless told otherwise."""
    rule = estimate.mixture.contract
    if rule is None or "max_repetition_ratio" not in rule.numbers:
        return []
    most = rule.numbers["max_repetition_ratio"]
    over = [row for row in estimate.mixture.rows if known(row) and max(_stage_passes(row)) > most]
    if not over:
        return []
    worst = max(over, key=lambda row: max(_stage_passes(row)))
    most_often, names = max(_stage_passes(worst)), listed([row.name for row in over])
    ratio = at_least(most_often, 3)
    message = f"{rule.name} does not build this mixture: {names} would repeat, {worst.name} {passes(most_often)} times"
    fix = f"max_repetition_ratio of {ratio:g} for {worst.name}"
    return [Finding("D25", "warning", "tokens", message, fix, (_first_path(estimate, worst), "data.sampler"), 55)]


def _stage_passes(row: SourceBudget) -> list[float]:
    return [part / row.unique for part in row.stage_drawn]


def _first_path(estimate: Estimate, row: SourceBudget) -> str:
    return _weight_path(estimate, row, estimate.mixture.phases[_crossing(row, estimate.mixture.phases)])


def stops_first(estimate: Estimate) -> list[Finding]:
    """D26: interleave_datasets stops at the first source that ends, before the train tokens are reached."""
    end, train = estimate.exhaustion.interleaved_tokens, estimate.tokens.train_tokens
    if not isinstance(end, Figure) or not isinstance(train, Figure) or end >= train:
        return []
    items = estimate.exhaustion.interleaved_items or 0.0
    message = (
        f"first_exhausted, the default, stops near {whole(items)} items, {amount(end)} tokens, before the run does"
    )
    fix = f"all_exhausted, or {amount(at_most(end))} train tokens"
    return [Finding("D26", "warning", "tokens", message, fix, ("data.sampler", "data.train_tokens"), 58)]


PASS_CHECKS: Final = (above_limit, repeats, ends_early, refused_repeats, stops_first)
