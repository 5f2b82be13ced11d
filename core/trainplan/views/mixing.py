"""Sources and stages of the mixture as listings, for `show --budget tokens` and the report: what the Tokens pane draws."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan.budgets.mixture import SourceBudget
from trainplan.budgets.weights import Phase
from trainplan.estimation import Estimate
from trainplan.quantity import numbers
from trainplan.quantity.figure import Figure
from trainplan.quantity.numbers import Style
from trainplan.views.listings import Listing


def mixture_of(budget: str, estimate: Estimate) -> Sequence[Listing]:
    """The listings of the mixture under the budget of tokens; none under others, and none without sources."""
    if budget != "tokens" or not estimate.mixture.rows:
        return ()
    return (_stages(estimate), _sources(estimate))


def _stages(estimate: Estimate) -> Listing:
    rows = tuple(_stage(place, phase) for place, phase in enumerate(estimate.mixture.phases, 1))
    return Listing("stages", ("stage", "from", "tokens", "sequence length"), rows)


def _stage(place: int, phase: Phase) -> tuple[str, ...]:
    return (
        phase.name or f"stage {place}",
        _tokens(phase.begin),
        _tokens(phase.tokens),
        _told(phase.length, numbers.count),
    )


def _sources(estimate: Estimate) -> Listing:
    stages = [phase.name or f"stage {place}" for place, phase in enumerate(estimate.mixture.phases, 1)]
    heads = (
        "source",
        "unique",
        *(f"weight {name}" for name in stages),
        "drawn",
        "share",
        "passes",
        "seen",
        "effective",
    )
    return Listing("sources", heads, tuple(_source(one) for one in estimate.mixture.rows))


def _source(one: SourceBudget) -> tuple[str, ...]:
    return (
        one.name,
        _tokens(one.unique),
        *(_told(weight, numbers.share) for weight in one.weights),
        _tokens(one.drawn),
        _told(one.share, numbers.share),
        _told(one.passes, numbers.ratio),
        _tokens(one.seen),
        _tokens(one.effective),
    )


def _tokens(value: Figure) -> str:
    """Tokens with the prefix behind the number: 13.50T."""
    return _told(value, numbers.big_tokens).removesuffix(" tokens")


def _told(value: Figure, style: Style) -> str:
    if not isinstance(value, Figure):
        return "?"
    scale = style(float(value))
    return f"{scale.text(float(value))} {scale.unit}".strip()
