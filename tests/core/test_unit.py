"""Texts with a suffix are the numbers that they say, to the last bit."""

from __future__ import annotations

import pytest

from trainplan.unit import DIMENSIONS, parse

POWERS = {"k": 3, "M": 6, "B": 9, "G": 9, "T": 12, "P": 15}


@pytest.mark.parametrize(
    ("suffix", "dimension"),
    [
        (suffix, dimension)
        for suffix in POWERS
        for dimension in ("tokens", "1", "money", "FLOP/s")
        if suffix in DIMENSIONS[dimension].suffixes
    ],
)
def test_a_decimal_suffix_moves_the_point_and_rounds_nothing(suffix: str, dimension: str) -> None:
    """16.4T is 16 400 000 000 000, where 16.4 times 1e12 in floats is less: it was refused as no whole number of tokens."""
    for tenths in range(1, 1000):
        assert parse(f"{tenths / 10}{suffix}", dimension) == tenths * 10 ** (POWERS[suffix] - 1)
        assert parse(f"{tenths}_0e-2{suffix}", dimension) == tenths * 10 ** (POWERS[suffix] - 1)


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("2.3TB", "bytes", 2_300_000_000_000),
        ("1.1GB/s", "bytes/s", 1_100_000_000),
        ("1.5GiB", "bytes", 3 * 2**29),
        ("400Gb/s", "bytes/s", 50_000_000_000),
        ("7ms", "s", 0.007),
        ("3d 4h", "s", 273_600),
        ("-16.4k", "money", -16_400),
    ],
)
def test_other_suffixes(text: str, dimension: str, value: float) -> None:
    assert parse(text, dimension) == value
