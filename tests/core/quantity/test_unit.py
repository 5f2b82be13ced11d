"""Texts with a suffix are the numbers that they say, to the last bit."""

from __future__ import annotations

import pytest

from trainplan.quantity.unit import DIMENSIONS, amount, amounts, parse, time_said

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


@pytest.mark.parametrize("suffix", POWERS)
def test_bits_a_second_are_an_eighth_of_what_the_point_says(suffix: str) -> None:
    """4.1 Gb/s is 512.5 MB/s, where 4.1 times 125e6 in floats is less."""
    if suffix == "B":
        return
    for tenths in range(1, 1000):
        assert parse(f"{tenths / 10}{suffix}b/s", "bytes/s") == tenths * 10 ** (POWERS[suffix] - 1) / 8


@pytest.mark.parametrize(("sign", "value"), [("", float("inf")), ("+", float("inf")), ("-", 0.0)])
def test_an_exponent_of_any_length_is_read(sign: str, value: float) -> None:
    """Python reads no whole number of more than 4,300 digits."""
    assert parse(f"1e{sign}{'9' * 5000}T", "tokens") == value


@pytest.mark.parametrize(
    ("seconds", "said"), [(900.0, "15min"), (683.0, "11min 23s"), (3.5, "3.500 s"), (0.0, "0 s"), (172800.0, "2.000 d")]
)
def test_a_time_says_no_seconds_that_are_none(seconds: float, said: str) -> None:
    assert time_said(seconds) == said


@pytest.mark.parametrize(
    ("tokens", "said"),
    [(15.6e12, "15.6T"), (820e9, "820B"), (12_345_678, "12.35M"), (123_456, "123.5k"), (8192, "8,192"), (0.2, "<1")],
)
def test_an_amount_is_as_people_type_it(tokens: float, said: str) -> None:
    assert amount(tokens) == said


def test_amounts_that_differ_never_look_the_same() -> None:
    assert amounts(2e9, 1_048_576_000) == ["2B", "1.049B"]
    assert amounts(2e9, 2_000_000_001) == ["2,000,000,000", "2,000,000,001"]
