"""What README says of how right the numbers are, so that the tests that find the figures hold it to them."""

from __future__ import annotations

from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def row_of(what: str) -> str:
    """The row of README's table that begins with these words."""
    (row,) = (line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {what} |"))
    return row
