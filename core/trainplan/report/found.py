"""The findings in a report: by severity, each with its code, what would be right, and the fields that decide it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trainplan.finding import Finding, Severity
from trainplan.report.facts import Facts
from trainplan.report.markdown import Code, Inline, Markdown
from trainplan.report.words import paths_of

TITLES: Final[dict[Severity, str]] = {"error": "Errors", "warning": "Warnings", "info": "Notes"}


def findings_told(facts: Facts, pen: Markdown) -> list[str]:
    """Every finding of the plan, the worst first."""
    lines = pen.heading(2, "Findings")
    if not facts.findings:
        return [*lines, *pen.paragraph("None.")]
    for severity, title in TITLES.items():
        found = [one for one in facts.findings if one.severity == severity]
        lines += [*pen.heading(3, f"{title}, {len(found)}"), *bulleted(found, pen)] if found else []
    return lines


def bulleted(found: Sequence[Finding], pen: Markdown, *, with_severity: bool = False) -> list[str]:
    """Findings as a list."""
    return pen.bullets([_entry(one, with_severity=with_severity) for one in found])


def _entry(one: Finding, *, with_severity: bool) -> list[Inline]:
    word = f"{TITLES[one.severity].removesuffix('s').lower()}: " if with_severity else ""
    lines: list[Inline] = [(Code(one.code), f" {word}{one.message}")]
    lines += [f"fix: {one.fix}"] if one.fix else []
    lines += [(f"field{'' if len(one.paths) == 1 else 's'}: ", *paths_of(one.paths))] if one.paths else []
    return lines
