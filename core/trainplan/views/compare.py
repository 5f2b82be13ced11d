"""What differs between two estimates: fields, numbers, findings. Unmoved numbers are counted, not listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from trainplan.checks import findings_at_once
from trainplan.estimation import Estimate, Value
from trainplan.labels.names import quantity_label
from trainplan.plan.leaves import field_differences, values
from trainplan.quantity import numbers
from trainplan.quantity.figure import Blocked, Figure, given
from trainplan.rows.table import movement, style_of, written
from trainplan.views import asjson


def passes(_: float) -> numbers.Scale:
    """Passes of a source: two digits behind the point."""
    return numbers.Scale(1, 2, "")


@dataclass(frozen=True, slots=True)
class Move:
    """One number that moved, in words and as plain values."""

    key: str
    label: str
    before: str
    after: str
    moved: str
    share: str
    unit: str
    before_value: Any
    after_value: Any
    weight: float


@dataclass(frozen=True, slots=True)
class Difference:
    """Fields as (path, before, after), numbers that moved with the largest share first, and findings that came or went.

    `same` are fields that are written otherwise and mean what they meant, as (path, before, after, in words).
    """

    fields: tuple[tuple[str, str, str], ...]
    same: tuple[tuple[str, str, str, str], ...]
    moves: tuple[Move, ...]
    counted: int
    new_findings: tuple[str, ...]
    gone_findings: tuple[str, ...]


def _grown(share: float) -> str:
    """A change in percent, or from ten times on how many times as much."""
    if share >= 9.0:
        return f"x {1.0 + share:,.0f}"
    return f"{share:+.1%}".replace("%", " %") if share else ""


ROUNDING: Final = 1e-14
"""What is left of a difference of sums beside its siblings, where the sums are equal: some fifty roundings of a float."""


def differences(before: Estimate, after: Estimate) -> Difference:
    """Everything that differs."""
    keys = dict.fromkeys((*before.quantities, *after.quantities))
    least = _least(before, after)
    moves = [move for key in keys if (move := _move(key, before, after, least)) is not None]
    old = {(item.code, item.message) for item in findings_at_once(before)}
    new = {(item.code, item.message) for item in findings_at_once(after)}
    fields = list(field_differences(before.plan, after.plan))
    meant = _meant_the_same(before, after, [path for path, _, _ in fields])
    return Difference(
        fields=tuple(one for one in fields if one[0] not in meant),
        same=tuple((*one, _how_written(*one)) for one in fields if one[0] in meant),
        moves=tuple(sorted(moves, key=lambda move: -move.weight)),
        counted=len(keys),
        new_findings=tuple(f"{code}  {message}" for code, message in sorted(new - old)),
        gone_findings=tuple(f"{code}  {message}" for code, message in sorted(old - new)),
    )


def _meant_the_same(before: Estimate, after: Estimate, paths: list[str]) -> set[str]:
    """Those fields whose value is the same: spelled otherwise, or a default that one of the files writes out."""
    old, new = dict(values(before.plan, "")), dict(values(after.plan, ""))
    return {
        path
        for path in paths
        if (here := old.get(path, before.situation.value(path))) is not None
        and here == new.get(path, after.situation.value(path))
    }


def _how_written(path: str, before: str, after: str) -> str:
    if "-" not in (before, after):
        return "same value, other spelling"
    return "same value, now written out" if before == "-" else "same value, now the default"


def _kin(key: str, value: Figure) -> tuple[str, str]:
    """Whom a figure stands beside: those of its unit under its own table."""
    return key.rpartition(".")[0], value.unit


def _least(before: Estimate, after: Estimate) -> dict[tuple[str, str], float]:
    """Below what a fraction among its siblings is rounding: told against the largest of them."""
    found: dict[tuple[str, str], float] = {}
    for quantities in (before.quantities, after.quantities):
        for key, value in quantities.items():
            if isinstance(value, Figure):
                kin = _kin(key, value)
                found[kin] = max(found.get(kin, 0.0), ROUNDING * abs(float(value)))
    return found


def _rounded(key: str, value: Value | None, least: dict[tuple[str, str], float]) -> Value | None:
    """The value, 0 where it is what roundings left. A count of few among many is none: it is whole."""
    if not isinstance(value, Figure) or float(value).is_integer() or abs(float(value)) > least[_kin(key, value)]:
        return value
    return given(key, 0.0, value.unit, "0 to within the rounding of its sums")


def _move(key: str, before: Estimate, after: Estimate, least: dict[tuple[str, str], float]) -> Move | None:
    old, new = (_rounded(key, one.quantities.get(key), least) for one in (before, after))
    if old is None or new is None or _same(old, new):
        return None
    figures = [float(value) for value in (old, new) if isinstance(value, Figure)]
    wanted = _style(key, new if isinstance(new, Figure) else old, after)
    scale = numbers.common(wanted, *figures) if figures else wanted(0.0)

    def style(_: float) -> numbers.Scale:
        return scale

    old_text, new_text = written(old, style), written(new, style)
    share = float(new) / float(old) - 1 if isinstance(old, Figure) and isinstance(new, Figure) and old else 0.0
    from_zero = isinstance(old, Figure) and isinstance(new, Figure) and not old
    unit = new_text[1] or old_text[1]
    label = quantity_label(key) + (f", {unit}" if unit else "")
    return Move(
        key,
        label,
        old_text[0],
        new_text[0],
        movement(old, new, style),
        "from 0" if from_zero else _grown(share),
        getattr(new, "unit", "1"),
        _plain(old),
        _plain(new),
        1.0 if from_zero else abs(share),
    )


def _same(old: Value, new: Value) -> bool:
    if isinstance(old, Blocked) and isinstance(new, Blocked):
        return old.code == new.code
    return type(old) is type(new) and old == new


def _plain(value: Value) -> Any:
    return asjson.number(value) if isinstance(value, Figure) else None if isinstance(value, Blocked) else str(value)


def _style(key: str, value: Value, estimate: Estimate) -> numbers.Style:
    """As the pane writes it: by its ledger, a source's passes and share as its table does; else by its unit."""
    from trainplan.rows.fields import figure_styles

    if key.startswith("tokens.sources.") and key.endswith((".passes", ".share")):
        return numbers.percent if key.endswith(".share") else passes
    if (own := figure_styles().get(key)) is not None:
        return own
    unit = getattr(value, "unit", "1")
    if unit in ("tokens", "1") and isinstance(value, Figure) and abs(value) >= 1e11:
        return numbers.big_tokens if unit == "tokens" else numbers.big_count
    return numbers.short(style_of(key, value, estimate))
