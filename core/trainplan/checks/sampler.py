"""Findings on what the chosen sampler does with this plan: D4, D6 to D10.

Only what the plan itself gives cause for. What depends on files or launch settings is in the contract's sentences.
"""

from __future__ import annotations

from typing import Final

from trainplan.budgets.mixture import known
from trainplan.checks.amounts import listed, share
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.labels.series import series
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import whole

UNEQUAL: Final = 1.5
"""Ratio of mean document lengths above which shares of documents mislead about tokens."""


def unequal_lengths(estimate: Estimate) -> list[Finding]:
    """D4: documents are drawn by weight and their lengths differ, so that token shares are not the weights."""
    rule = estimate.mixture.contract
    if rule is None or not rule.draws_documents:
        return []
    drawn = [row for row in estimate.mixture.rows if isinstance(row.share, Figure) and row.share > 0]
    rows = [row for row in drawn if isinstance(row.length, Figure)]
    if not rows or max(row.length for row in rows) <= UNEQUAL * min(row.length for row in rows):
        return []
    far = max(rows, key=lambda row: abs(row.shares[0] - row.weights[0]))
    shares = series(f"{row.name} {share(row.share)}" for row in rows[:4])
    message = f"{rule.name} draws documents, and their mean lengths differ: token shares are {shares}"
    rates = {row.name: row.weights[0] / row.length for row in rows}
    weights = [f"{name} {share(rate / sum(rates.values()))}" for name, rate in rates.items()]
    fix = f"weights {series(weights[:4])} bring the shares that were meant"
    return [Finding("D4", "warning", "tokens", message, fix, (f"data.sources.{far.name}.weight", "data.sampler"), 50)]


def same_order_again(estimate: Estimate) -> list[Finding]:
    """D6: Levanter restarts a source in the order of its first pass."""
    names = _repeated(estimate, "levanter")
    if not names:
        return []
    message = f"every pass over {listed(names)} comes in the same order: the index wraps"
    fix = "randomize_epochs, in versions that have it"
    return [Finding("D6", "warning", "tokens", message, fix, ("data.sampler", f"data.sources.{names[0]}.weight"), 35)]


def _repeated(estimate: Estimate, sampler: str) -> list[str]:
    rule = estimate.mixture.contract
    if rule is None or rule.name != sampler:
        return []
    rows = [row for row in estimate.mixture.rows if known(row) and row.passes > 1]
    return [row.name for row in sorted(rows, key=lambda row: -row.passes)]


def shuffled_epochs(estimate: Estimate) -> list[Finding]:
    """D7: Megatron shuffles the epochs of a source together, so repeats come before its first pass ends."""
    mixed = [(row.name, row.together) for row in estimate.mixture.rows if isinstance(row.together, Figure)]
    mixed = sorted(((name, count) for name, count in mixed if count > 1), key=lambda one: -one[1])
    if not mixed:
        return []
    many = listed([f"{whole(count)} epochs of {name}" for name, count in mixed])
    message = f"Megatron shuffles {many} together: repeats come before the first pass ends"
    paths = ("data.sampler", f"data.sources.{mixed[0][0]}.unique_tokens")
    return [Finding("D7", "info", "tokens", message, "", paths)]


def rebuilt_index(estimate: Estimate) -> list[Finding]:
    """D8: a stage with other weights is another blend, and Megatron's position is only a counter."""
    rule, phases = estimate.mixture.contract, estimate.mixture.phases
    if rule is None or rule.name != "megatron-blended":
        return []
    places = [i for i in range(1, len(phases)) if tuple(phases[i].weights) != tuple(phases[i - 1].weights)]
    if not places:
        return []
    names = listed([phases[i].name for i in places])
    message = f"{names}: other weights build another Megatron index, and the position in it is only a counter"
    fix = "start the stage as a run of its own, consumed samples set back"
    return [Finding("D8", "info", "tokens", message, fix, (f"{phases[places[0]].path}weights", "data.sampler"))]


def per_rank_position(estimate: Estimate) -> list[Finding]:
    """D9: the position is kept for each data-parallel rank, so a resume needs as many."""
    rule, data = estimate.mixture.contract, estimate.mesh.data
    if rule is None or not rule.per_rank or rule.seen == "replacement" or not isinstance(data, Figure) or data <= 1:
        return []
    message = f"{rule.name} keeps its position in each rank: a resume needs {whole(data)} replicas again"
    return [Finding("D9", "info", "tokens", message, "the same number of nodes", ("data.sampler", "cluster.nodes"))]


def unseeded(estimate: Estimate) -> list[Finding]:
    """D10: WebDataset's resampled shards are seeded from process and clock; no order comes back."""
    if estimate.plan.data.sampler != "webdataset":
        return []
    message = "webdataset draws shards with replacement, seeded from process, clock and system: no resume brings the order back"
    return [
        Finding(
            "D10",
            "warning",
            "tokens",
            message,
            "resampling set to deterministic, or another sampler",
            ("data.sampler",),
            52,
        )
    ]


SAMPLER_CHECKS: Final = (
    unequal_lengths,
    same_order_again,
    shuffled_epochs,
    rebuilt_index,
    per_rank_position,
    unseeded,
)
