"""How a figure is written for people: its scale, its digits, its unit, and how it moved. Base units come in, text goes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from trainplan.frozen import frozen
from trainplan.quantity.unit import BILLION, duration, significant, time_said, without_zeros


@frozen
class Scale:
    """Divide by `factor`, write `decimals` digits after the point, call it `unit`."""

    factor: float
    decimals: int
    unit: str

    def text(self, value: float) -> str:
        """The value on this scale, with thousands commas; a value that rounds to nothing but is not nothing is `<0.01`."""
        shown = f"{value / self.factor:,.{self.decimals}f}"
        if value != 0 and float(shown.replace(",", "")) == 0:
            return (
                f"<{10**-self.decimals:.{self.decimals}f}" if value > 0 else f"-<{10**-self.decimals:.{self.decimals}f}"
            )
        return "0" if value == 0 else shown

    def moved(self, before: float, after: float) -> str:
        """The movement on this scale, always signed; empty where nothing moved."""
        if before == after:
            return ""
        shown = f"{(after - before) / self.factor:+,.{self.decimals}f}"
        if float(shown.replace(",", "")) == 0:
            least = f"{10**-self.decimals:.{self.decimals}f}"
            return f"{'+' if after > before else '-'}<{least}"
        return shown


Style = Callable[[float], Scale]

COLUMN: Final = 12
"""Characters that a column of numbers holds; longer ones take a prefix."""


def common(style: Style, *values: float) -> Scale:
    """One scale for several values, that of the largest; digits after the point where a smaller one needs them."""
    largest = max(values, key=abs)
    scale = style(largest)
    if scale.decimals == 0 and any(_finer(style(value), scale) for value in values):
        return replace(scale, decimals=_digits(largest, scale.factor, 4, "").decimals)
    return scale


def _finer(one: Scale, other: Scale) -> bool:
    return one.decimals > 0 and one.factor == other.factor


def _digits(value: float, factor: float, digits: int, unit: str) -> Scale:
    text = significant(abs(value) / factor, digits)
    return Scale(factor, len(text.partition(".")[2]), unit)


_PREFIXES: Final = (
    (1e24, "Y"),
    (1e21, "Z"),
    (1e18, "E"),
    (1e15, "P"),
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
)


def _prefix(value: float) -> tuple[float, str]:
    for factor, prefix in _PREFIXES:
        if abs(value) >= factor * 0.99995:
            return factor, prefix
    return 1.0, ""


def count(value: float) -> Scale:
    """A whole number, or one with the digits that it needs."""
    return Scale(1, 0, "") if value == int(value) else _digits(value, 1, 4, "")


def plain(value: float) -> Scale:
    """A number as a person would type it: whole with commas, else with the digits that it has."""
    if value == int(value):
        return Scale(1, 0, "")
    return Scale(1, len(f"{value:.12f}".rstrip("0").partition(".")[2]), "")


def prefixed(value: float) -> Scale:
    """A large number with its prefix behind it, as a person would type it."""
    factor, prefix = _prefix(value)
    digits = len(f"{value / factor:.6f}".rstrip("0").partition(".")[2])
    return _Suffixed(factor, digits, "", prefix)


@frozen
class _Suffixed(Scale):
    """With the prefix behind the number, as people type it: 820B, 15.6T. Zeros at its end say nothing there."""

    prefix: str = ""

    def text(self, value: float) -> str:
        told = without_zeros(Scale(self.factor, self.decimals, "").text(value))
        return f"{told}{self.prefix}" if value else told

    def moved(self, before: float, after: float) -> str:
        told = Scale(self.factor, self.decimals, "").moved(before, after)
        return f"{told}{self.prefix}" if told else ""


def _counted(value: float, unit: str) -> Scale:
    factor, prefix = _prefix(value)
    return _Suffixed(factor, _digits(value, factor, 4, "").decimals, unit, BILLION.get(prefix, prefix))


def short(style: Style) -> Style:
    """A style for columns: whole numbers that are longer than one take a prefix behind four digits, 1.904B."""

    def styled(value: float) -> Scale:
        scale = style(value)
        if scale.factor != 1 or _prefix(value)[0] == 1 or len(scale.text(value)) <= COLUMN:
            return scale
        return _counted(value, scale.unit)

    return styled


def bare(value: float) -> Scale:
    """A number inside a formula: commas below 1e9 and five digits where it is not whole, a prefix from there."""
    if abs(value) >= 1e9:
        return _counted(value, "")
    if value == int(value):
        return Scale(1, 0, "")
    return Scale(1, len(significant(abs(value), 5).rstrip("0").partition(".")[2]), "")


def tokens(value: float) -> Scale:
    """A whole number of tokens."""
    return Scale(1, 0, "tokens")


def big_tokens(value: float) -> Scale:
    """Tokens with a prefix, four digits: 15.6T."""
    return _counted(value, "tokens") if _prefix(value)[0] > 1 else Scale(1, 0, "tokens")


def big_count(value: float) -> Scale:
    """A large count with a prefix, four digits."""
    return _counted(value, "")


def flop(value: float) -> Scale:
    """FLOP with a prefix, four digits."""
    factor, prefix = _prefix(value)
    return _digits(value, factor, 4, f"{prefix}FLOP")


def flop_rate(value: float) -> Scale:
    """FLOP/s with a prefix, four digits."""
    factor, prefix = _prefix(value)
    return _digits(value, factor, 4, f"{prefix}FLOP/s")


def token_rate(value: float) -> Scale:
    """Tokens a second, four digits."""
    return _digits(value, 1, 4, "tok/s")


@frozen
class _Clock(Scale):
    """Minutes and seconds as people say them: 11min 23s."""

    def text(self, value: float) -> str:
        return duration(value)[0].removesuffix(" 0s")

    def moved(self, before: float, after: float) -> str:
        if before == after:
            return ""
        return f"{'+' if after > before else '-'}{time_said(abs(after - before))}"


def time(value: float) -> Scale:
    """A time in ms, s, minutes with seconds, h or d, four digits: 11min 23s, 1.250 h."""
    if 120 <= abs(value) < 3600:
        return _Clock(1, 0, "")
    for least, factor, unit in ((2 * 86400.0, 86400.0, "d"), (3600.0, 3600.0, "h"), (1.0, 1.0, "s")):
        if abs(value) >= least:
            return _digits(value, factor, 4, unit)
    return _digits(value, 1e-3, 4, "ms") if value else Scale(1, 0, "s")


def hours(value: float) -> Scale:
    """Accelerator hours, whole above 100."""
    return Scale(1, 0, "h") if abs(value) >= 100 else _digits(value, 1, 3, "h")


def share(value: float) -> Scale:
    """A share with three decimals."""
    return Scale(1, 3, "")


def price(value: float) -> Scale:
    """A price with at least two decimals."""
    return Scale(1, max(2, plain(value).decimals), "")


def percent(value: float) -> Scale:
    """A share in percent with one decimal."""
    return Scale(0.01, 1, "%")


def small_percent(value: float) -> Scale:
    """A share in percent with the digits that it needs, two significant at least."""
    return _digits(value, 0.01, 2, "%") if 0 < abs(value) < 0.01 else percent(value)


def ratio(value: float) -> Scale:
    """A ratio with four digits."""
    return _digits(value, 1, 4, "")


def money(currency: str) -> Style:
    """An amount with a prefix for millions, four digits, in a currency."""

    def style(value: float) -> Scale:
        for factor, prefix in ((1e9, "B "), (1e6, "M ")):
            if abs(value) >= factor * 0.99995:
                return _digits(value, factor, 4, prefix + currency)
        return Scale(1, 0, currency) if abs(value) >= 1000 else Scale(1, 2, currency)

    return style


def disk_bytes(value: float) -> Scale:
    """Bytes on disks and links, decimal prefixes, four digits."""
    for factor, unit in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if abs(value) >= factor * 0.99995:
            return _digits(value, factor, 4, unit)
    return Scale(1, 0 if value == round(value) else 3, "B")


def byte_rate(value: float) -> Scale:
    """Bytes a second on links, decimal prefixes, four digits."""
    scale = disk_bytes(value)
    return Scale(scale.factor, scale.decimals, f"{scale.unit}/s")


def device_bytes(value: float) -> Scale:
    """Device and host memory in GiB, two decimals."""
    return Scale(2.0**30, 2, "GiB")


def memory_bytes(value: float) -> Scale:
    """Parts of device memory: GiB, MiB below a hundredth of one, bytes below a MiB; never decimal prefixes."""
    for factor, unit in ((2.0**30, "GiB"), (2.0**20, "MiB")):
        if abs(value) >= factor / 100:
            return Scale(factor, 2, unit)
    return Scale(1, 0 if value == int(value) else 2, "B")


def energy(value: float) -> Scale:
    """Energy in kWh, MWh or GWh, four digits."""
    for factor, unit in ((3.6e12, "GWh"), (3.6e9, "MWh")):
        if abs(value) >= factor * 0.99995:
            return _digits(value, factor, 4, unit)
    return _digits(value, 3.6e6, 4, "kWh")


BY_UNIT: Final[dict[str, Style]] = {
    "1": count,
    "tokens": tokens,
    "FLOP": flop,
    "FLOP/s": flop_rate,
    "tokens/s": token_rate,
    "s": time,
    "h": hours,
    "bytes": disk_bytes,
    "bytes/s": byte_rate,
    "J": energy,
}
"""How a figure is written where its row asks for nothing else."""
