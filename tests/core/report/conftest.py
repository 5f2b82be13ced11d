"""A report read back: the page through a reader of Markdown that did not write it, the quantities through the csv module."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from trainplan.estimation import Estimate, estimate
from trainplan.files.standing import standing_of
from trainplan.plan.read import plan_of_text
from trainplan.plan.remarks import standing_remarks
from trainplan.report.facts import Facts, facts_of
from trainplan.report.markdown import Markdown
from trainplan_tui.text.printable import cells, printable

NOW = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)
PEN = Markdown(printable, cells)
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
KNOWN = frozenset({"text", "code_inline"})


@dataclass
class Read:
    """What a reader sees: headings with their level, tables with the heading above, entries of lists, paragraphs.

    `markup` names everything else that it found, such as HTML, emphasis or a link.
    """

    headings: list[tuple[int, str]] = field(default_factory=list)
    tables: list[tuple[str, list[list[str]]]] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)
    paragraphs: list[str] = field(default_factory=list)
    markup: list[str] = field(default_factory=list)

    def table(self, heading: str) -> list[list[str]]:
        """The first table under a heading, its heads first."""
        return next(rows for above, rows in self.tables if above == heading)

    def cell(self, heading: str, row: str, column: int = 1) -> str:
        """A cell of the row that begins with a text."""
        return next(cells[column] for cells in self.table(heading) if cells[0] == row)


def inline(token: Token, found: Read) -> str:
    children = token.children or []
    found.markup += [f"{child.type}: {child.content}" for child in children if child.type not in KNOWN]
    return "".join(child.content for child in children)


def read(text: str) -> Read:
    """A page as a reader of Markdown sees it."""
    found, tokens = Read(), READER.parse(text)
    for place, token in enumerate(tokens):
        before = tokens[place - 1]
        if token.type == "table_open":
            found.tables.append((found.headings[-1][1] if found.headings else "", []))
        elif token.type == "tr_open":
            found.tables[-1][1].append([])
        elif token.type == "inline":
            told = inline(token, found)
            if before.type == "heading_open":
                found.headings.append((int(before.tag[1]), told))
            elif before.type in ("th_open", "td_open"):
                found.tables[-1][1][-1].append(told)
            else:
                (found.entries if token.level > 1 else found.paragraphs).append(told)
        elif token.type in ("html_block", "fence", "code_block", "hr", "blockquote_open"):
            found.markup.append(f"{token.type}: {token.content}")
    return found


@pytest.fixture
def facts(tmp_path: Path) -> Callable[..., Facts]:
    """The facts of a plan's text, or of an estimate, with nothing beside it."""

    def make(told: str | Estimate, changed: Sequence[str] = ()) -> Facts:
        if isinstance(told, Estimate):
            here, remarks = told, {}
        else:
            plan = plan_of_text(told, "plan.toml")
            here, remarks = estimate(plan, NOW.date()), standing_remarks(told, plan, plan)
        standing = standing_of(tmp_path / "plan.toml", here, NOW)
        return facts_of(here.plan.name or "plan", "plan.toml", here, standing, remarks, tuple(changed))

    return make
