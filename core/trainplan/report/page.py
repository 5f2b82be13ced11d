"""The whole report, in the order in which a person who has to sign reads it: the answer first, what it rests on last.

Pure and the same for the same facts, so that two reports can be laid side by side. It refuses numbers of its own: every one is
written where the app and `show` write it.
"""

from __future__ import annotations

from typing import Final

from trainplan.report.answer import answer, head
from trainplan.report.budgets import figures
from trainplan.report.decisions import decisions
from trainplan.report.facts import Facts
from trainplan.report.found import findings_told
from trainplan.report.grounds import grounds
from trainplan.report.markdown import Code, Inline, Markdown
from trainplan.report.standing import pilot, readiness

READING: Final[tuple[Inline, ...]] = (
    (
        Code("rests on"),
        ": the weakest of all that a figure is made of. From strong to weak: measured; file, the plan's own; preset, of the model "
        "that it names; catalogue, of the parts and tasks that it names; published; default, of the program; assumed; missing.",
    ),
    (
        Code("?"),
        " behind it: a value or formula in it was not read again in its source. The end of this report names them.",
    ),
    (
        Code("?"),
        " as a value: the figure cannot follow, and what blocks it stands beside it. ",
        Code("-"),
        ": there is none.",
    ),
    (Code("P10"), ", ", Code("P50"), ", ", Code("P90"), ": 10, 50 and 90 of 100 simulated histories are at most this."),
    (
        Code("key"),
        ": the name of a figure, by which ",
        Code("trainplan-tui explain PLAN KEY"),
        " tells how it is made.",
    ),
)
"""What a reader without the program has to know."""


def report(facts: Facts, pen: Markdown) -> str:
    """The report as Markdown, with one line end behind its last line."""
    reading = [*pen.heading(2, "How to read the tables"), *pen.bullets(READING)]
    parts = (head, answer, findings_told)
    lines = [line for part in parts for line in part(facts, pen)] + reading
    lines += [line for part in (decisions, figures, pilot, readiness, grounds) for line in part(facts, pen)]
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines) + "\n"
