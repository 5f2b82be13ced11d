"""Compute-optimal marks: how many tokens a model size asks for, by each published fit and by its replication.

The fits disagree by a factor of several, which is why they stand beside each other and none is used for a verdict.
"""

from __future__ import annotations

from typing import Final

from trainplan.quantity.figure import Figure, given
from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import power

LAW = "L = E + A / N^alpha + B / D^beta at its least for C = 6 N D: Hoffmann et al. 2022, arXiv 2203.15556"


@formula("tokens", source=LAW)
def optimal_tokens(parameters: float, a: float, b: float, alpha: float, beta: float) -> float:
    """Tokens for which this many parameters are compute-optimal, by the constants of one fit."""
    return power(beta * b / (alpha * a) * power(parameters, alpha), 1.0 / beta)


@formula("tokens", source="Hoffmann et al. 2022, arXiv 2203.15556: 70B parameters on 1.4T tokens")
def rule_tokens(parameters: float, ratio: float) -> float:
    """Tokens by the rule of thumb of a fixed number for each parameter."""
    return parameters * ratio


def _fit(name: str, source: str, verified: bool, **constants: float) -> dict[str, Figure]:
    return {
        key: given(f"{name} {key}", value, "1", source, kind="published", verified=verified)
        for key, value in constants.items()
    }


RATIO: Final = given("rule of thumb", 20.0, "1", "Hoffmann et al. 2022, arXiv 2203.15556", kind="published")

FITS: Final = {
    "hoffmann_rounded": _fit(
        "Hoffmann 2022, rounded",
        "constants in the epoch-research/analyzing-chinchilla notebook",
        True,
        a=406.4,
        b=410.7,
        alpha=0.34,
        beta=0.28,
    ),
    "hoffmann_unrounded": _fit(
        "Hoffmann 2022, unrounded",
        "exponents of the paper's TeX source, from memory",
        False,
        a=406.4,
        b=410.7,
        alpha=0.3392,
        beta=0.2849,
    ),
    "besiroglu": _fit(
        "Besiroglu 2024, replication",
        "epoch-research/analyzing-chinchilla data_analysis.ipynb: A 482.01 +- 124.5, B 2085.43 +- 1293.3",
        True,
        a=482.00572,
        b=2085.4342,
        alpha=0.34781,
        beta=0.36585,
    ),
}
"""The published fit, as rounded in the paper and as in its source, and the replication."""
