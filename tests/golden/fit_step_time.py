"""Fits the step-time model on the published rows and prints what it reaches: run by hand, with `--write` into the catalogue.

Cauchy loss on the log of predicted over measured, since rows that are far off are slow ones, each with a fault of its own;
a row weighs by its source's size to the power -0.35; priors are log-normal.
Dense numbers first, then those of experts on rows of models with experts, gpt-oss left out. Leaving a source out refits
everything without it; containers of Megatron-Bridge count as sources. Nothing is fitted for a row or a model.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "core"), str(ROOT / "tests" / "golden")]

import numpy as np
from throughput_plans import Case, case, left_out, predicted, rows

from trainplan.budgets.kernels import Numbers, family_of, fitted
from trainplan.interop.calibration import TRUST
from trainplan.quantity.figure import given

SCALE, CROWD, STEPS = 0.08, 0.35, 6
CATALOGUE: Final = ROOT / "core" / "trainplan" / "catalogue" / "steptime"


@dataclass(frozen=True)
class Number:
    """One fitted number: the entries that share it, its key, and its prior with the width of its logarithm."""

    families: tuple[str, ...]
    key: str
    prior: float
    width: float
    experts: bool = False

    @property
    def name(self) -> str:
        """As printed."""
        return f"{'+'.join(self.families)} {self.key}"


BOTH: Final = ("blackwell", "blackwell-ultra")
NUMBERS: Final = (
    Number(("common",), "streaming", 1.3, 0.3),
    Number(("common",), "host_floor.eager", 2e-3, 0.5),
    Number(("common",), "tensor_latency", 5e-6, 0.5),
    Number(("common",), "attention.megatron", 0.7, 0.3),
    Number(("common",), "attention.torch", 0.6, 0.5),
    Number(("common",), "attention.xla", 0.7, 0.3),
    Number(("common",), "site", 0.7, 0.7),
    Number(("v100",), "efficiency", 0.8, 0.15),
    Number(("a100",), "efficiency", 0.8, 0.15),
    Number(("hopper",), "efficiency", 0.7, 0.15),
    Number(("blackwell",), "efficiency", 0.7, 0.25),
    Number(("blackwell-ultra",), "efficiency", 0.7, 0.25),
    Number(("tpu-v5p",), "efficiency", 0.8, 0.25),
    Number(("tpu-v6e",), "efficiency", 0.65, 0.25),
    Number(("tpu-v7x",), "efficiency", 0.65, 0.25),
    Number(("hopper",), "fp8", 1.75, 0.15),
    Number(BOTH, "fp8", 1.9, 0.15),
    Number(BOTH, "fp4", 3.0, 0.2),
    Number(("hopper",), "variant.h100-96-hbm2e", 0.85, 0.15),
    Number(("hopper",), "early_software", 0.9, 0.15),
    Number(("common",), "grouped_most", 0.8, 0.2, experts=True),
    Number(("common",), "expert_exposed", 0.6, 0.3, experts=True),
)
"""22 numbers: nine that hold for all parts, four at most for a family."""

Vector = np.ndarray
Residuals = Callable[[Vector, Sequence[int]], Vector]


def group_of(one: Case) -> str:
    """What is left out together: a source, or a container of Megatron-Bridge."""
    return f"mbridge {one.row['table'].split()[0]}" if one.source == "mbridge" else one.source


def numbers_of(values: Vector, family: str) -> Numbers:
    """The catalogue's numbers of a family with the fitted ones replaced."""
    own = dict(fitted(_part(family)))
    for number, value in zip(NUMBERS, values, strict=True):
        if family in number.families or "common" in number.families:
            own[number.key] = given(number.key, float(np.exp(value)), "1", "fit", kind="published")
    return own


_PARTS: dict[str, str] = {}


def _part(family: str) -> str:
    return _PARTS[family]


class Rows:
    """The rows of the fit, with what they measured and how they weigh."""

    def __init__(self) -> None:
        self.cases = [case(source, row) for source, row in rows() if left_out(row) is None]
        self.families = [family_of(one.row["accelerator"]) for one in self.cases]
        _PARTS.update({family: one.row["accelerator"] for family, one in zip(self.families, self.cases, strict=True)})
        self.groups = [group_of(one) for one in self.cases]
        sizes = Counter(one.source for one in self.cases)
        self.weights = np.array([sizes[one.source] ** -CROWD for one in self.cases])
        self.sparse = np.array([one.sparse for one in self.cases])
        self.odd = np.array(["oss" in one.row["model"].lower() for one in self.cases])

    def residuals(self, values: Vector, which: Sequence[int]) -> Vector:
        """Log of predicted over measured step time."""
        numbers = {family: numbers_of(values, family) for family in set(self.families)}
        found = [
            math.log(float(predicted(self.cases[i], numbers[self.families[i]])[0].predicted_step_time))
            - math.log(self.cases[i].row["step_time"])
            for i in which
        ]
        return np.array(found)

    def touched(self, number: Number, which: Sequence[int]) -> list[int]:
        """Places in `which` of rows that a number can move."""
        common = number.families == ("common",)
        return [place for place, i in enumerate(which) if common or self.families[i] in number.families]


def slopes(data: Rows, values: Vector, which: Sequence[int], free: Sequence[int], base: Vector) -> Vector:
    """Change of the residuals with the logarithm of each free number."""
    found = np.zeros((len(which), len(free)))
    for column, k in enumerate(free):
        places = data.touched(NUMBERS[k], which)
        moved = values.copy()
        moved[k] += 0.01
        found[places, column] = (data.residuals(moved, [which[place] for place in places]) - base[places]) / 0.01
    return found


def weighed(data: Rows, which: Sequence[int], residuals: Vector) -> Vector:
    """Weights of one round: the source's, and the Cauchy loss's."""
    return data.weights[list(which)] / (1.0 + (residuals / SCALE) ** 2) / SCALE**2


def step(
    slope: Vector, residuals: Vector, weights: Vector, values: Vector, free: Sequence[int]
) -> tuple[Vector, Vector]:
    """One Gauss-Newton step with the priors, and the covariance there."""
    priors = np.array([math.log(NUMBERS[k].prior) for k in free])
    trust = np.array([NUMBERS[k].width ** -2 for k in free])
    curve = slope.T @ (weights[:, None] * slope) + np.diag(trust)
    pull = slope.T @ (weights * residuals) + trust * (values[list(free)] - priors)
    return -np.linalg.solve(curve, pull), np.linalg.inv(curve)


def fit(
    data: Rows, values: Vector, which: Sequence[int], free: Sequence[int], known: Vector | None = None
) -> tuple[Vector, Vector, Vector]:
    """Fitted logarithms, their covariance, and the slopes at the end; `known` slopes are used instead of new ones."""
    values = values.copy()
    slope, spread = known, np.zeros((len(free), len(free)))
    for round_ in range(STEPS if known is None else 4):
        base = data.residuals(values, which)
        if known is None and round_ % 2 == 0:
            slope = slopes(data, values, which, free, base)
        assert slope is not None
        change, spread = step(slope, base, weighed(data, which, base), values, free)
        values[list(free)] += np.clip(change, -0.3, 0.3)
        if np.max(np.abs(change)) < 1e-3:
            break
    assert slope is not None
    return values, spread, slope


def summary(errors: Sequence[float]) -> str:
    """median of the absolute error / 90th percentile / signed median, in percent, and how many."""
    if not errors:
        return "-"
    sizes = sorted(abs(error) for error in errors)
    tail = sizes[math.ceil(0.9 * len(sizes)) - 1]
    return f"{100 * median(sizes):5.1f} / {100 * tail:5.1f} / {100 * median(errors):+5.1f}   {len(errors)} rows"


def relative(residuals: Vector) -> list[float]:
    """Predicted over measured, less one."""
    return [float(value) for value in np.expm1(residuals)]


@dataclass(frozen=True)
class Outcome:
    """Logarithms of all numbers and their errors, the residuals of rows left out with their source, the numbers of each fold."""

    data: Rows
    values: Vector
    errors: Vector
    held: Vector
    folds: Vector


def outcome() -> Outcome:
    """Fit on every row, then on every row but those of each source."""
    data = Rows()
    dense = [i for i in range(len(data.cases)) if not data.sparse[i]]
    experts = [i for i in range(len(data.cases)) if data.sparse[i] and not data.odd[i]]
    plain = [k for k, number in enumerate(NUMBERS) if not number.experts]
    routed = [k for k, number in enumerate(NUMBERS) if number.experts]
    start = np.array([math.log(number.prior) for number in NUMBERS])
    values, spread, slope = fit(data, start, dense, plain)
    values, spread_e, slope_e = fit(data, values, experts, routed)
    errors = np.zeros(len(NUMBERS))
    errors[plain], errors[routed] = np.sqrt(np.diag(spread)), np.sqrt(np.diag(spread_e))
    held, folds = leave_out(data, values, dense, experts, plain, routed, slope, slope_e)
    return Outcome(data, values, errors, held, folds)


def main() -> None:
    """Fit, print, and write where asked."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--write", action="store_true", help="write the numbers into the catalogue")
    write = words.parse_args().write
    found = outcome()
    print_residuals(found.data, found.data.residuals(found.values, range(len(found.data.cases))), "in sample")
    print_residuals(found.data, found.held, "its source left out")
    print_coverage(found.data, found.held)
    print_pilots(found.data, found.held)
    for k, number in enumerate(NUMBERS):
        value, error = math.exp(found.values[k]), float(found.errors[k])
        low, high = float(np.exp(found.folds[:, k].min())), float(np.exp(found.folds[:, k].max()))
        print(f"{number.name:<40}{value:>12.4g}  +- {error:5.1%}   {low:.3g} to {high:.3g}")
        if write:
            put(number, value, error, low, high)


def leave_out(
    data: Rows,
    values: Vector,
    dense: list[int],
    experts: list[int],
    plain: list[int],
    routed: list[int],
    slope: Vector,
    slope_e: Vector,
) -> tuple[Vector, Vector]:
    """Residuals of every row with all numbers refitted without its source, and the numbers of every fold."""
    held, folds = np.zeros(len(data.cases)), []
    for group in sorted(set(data.groups)):
        kept = [place for place, i in enumerate(dense) if data.groups[i] != group]
        fold, _, _ = fit(data, values, [dense[place] for place in kept], plain, slope[kept])
        kept = [place for place, i in enumerate(experts) if data.groups[i] != group]
        fold, _, _ = fit(data, fold, [experts[place] for place in kept], routed, slope_e[kept])
        out = [i for i, name in enumerate(data.groups) if name == group]
        held[out] = data.residuals(fold, out)
        folds.append(fold)
    return held, np.array(folds)


def print_residuals(data: Rows, residuals: Vector, title: str) -> None:
    """Errors by source, dense and with experts apart, then of all."""
    print(f"\n{title}: median of |error| / 90th percentile / signed median, %")
    for sparse in (False, True):
        chosen = [i for i in range(len(data.cases)) if data.sparse[i] == sparse]
        for source in [*sorted({data.cases[i].source for i in chosen}), ""]:
            those = [i for i in chosen if not source or data.cases[i].source == source]
            kind = "experts" if sparse else "dense"
            print(f"  {kind:<8}{source or 'all':<22}{summary(relative(residuals[those]))}")
    those = [i for i in range(len(data.cases)) if data.sparse[i] and not data.odd[i]]
    print(f"  {'experts':<8}{'all but gpt-oss':<22}{summary(relative(residuals[those]))}")


def print_coverage(data: Rows, held: Vector) -> None:
    """The range that holds 80 % of the rows left out, and what the catalogue's range holds."""
    for sparse, key in ((False, "range.dense"), (True, "range.sparse")):
        sizes = np.sort(np.abs(held[data.sparse == sparse]))
        wide = float(np.exp(sizes[math.ceil(0.8 * len(sizes)) - 1]))
        stated = float(fitted("a100-sxm-80")[key])
        share = float(np.mean(sizes <= math.log(stated)))
        print(f"{key}: a factor of {wide:.3f} holds 80 %; {stated:.3f} holds {share:.0%}")


def print_pilots(data: Rows, held: Vector) -> None:
    """Errors of the rest of a source, part and model, before and after one of its rows moved the estimate by the stated trust."""
    for sparse, trust in TRUST.items():
        pairs = pilots(data, held, sparse=sparse)
        for share in (0.0, trust):
            moved = [math.expm1(rest - share * pilot) for pilot, rest in pairs]
            print(f"  pilot {'experts' if sparse else 'dense'}, trust {share}: {summary(moved)}")


def pilots(data: Rows, held: Vector, *, sparse: bool) -> list[tuple[float, float]]:
    """Residuals of a pilot and of another row of its source, part and model, of groups of three at least."""
    groups: dict[tuple[object, ...], list[float]] = {}
    for one, value in zip(data.cases, held, strict=True):
        if one.sparse is sparse:
            key = (one.source, one.row["accelerator"], one.row["model"], one.row.get("hidden"))
            groups.setdefault(key, []).append(float(value))
    whole = [group for group in groups.values() if len(group) > 2]
    return [(a, b) for group in whole for i, a in enumerate(group) for b in group[:i] + group[i + 1 :]]


def put(number: Number, value: float, spread: float, low: float, high: float) -> None:
    """Write one number with its uncertainty into the entries that share it."""
    for family in number.families:
        path = CATALOGUE / f"{family}.toml"
        text = path.read_text(encoding="utf-8")
        pattern = rf"(?m)^({re.escape(number.key)} = {{ value = )[^,}}]+(.*?uncertainty = )[^,]+(, folds = )\[[^\]]*\]"
        after, count = re.subn(pattern, rf"\g<1>{value:.4g}\g<2>{spread:.2g}\g<3>[{low:.3g}, {high:.3g}]", text)
        assert count == 1, f"{path.name} has no line for {number.key}"
        path.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
