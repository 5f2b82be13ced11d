"""Words that several parts of a report share: why a figure is blocked, what a field is called, how a listing becomes a table."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan.labels.names import field_label
from trainplan.quantity.figure import Blocked
from trainplan.report.markdown import Code, Inline, Markdown
from trainplan.rows.table import blocked_by
from trainplan.views.listings import Listing


def because(value: Blocked) -> Inline:
    """By what a figure is blocked: `global batch missing (batch.global_batch_sequences)`, `see M1`, what is not defined."""
    kind, _, path = value.code.partition(":")
    if kind == "none":
        return "does not apply"
    if kind == "missing":
        return (f"{field_label(path)} missing (", Code(path), ")")
    return (f"{blocked_by(value.code)} (", Code(path), ")") if path else blocked_by(value.code)


def paths_of(paths: tuple[str, ...]) -> Inline:
    """Fields in a row."""
    pieces = [piece for path in paths for piece in (", ", Code(path))]
    return tuple(pieces[1:])


def listed(found: Listing, pen: Markdown, level: int) -> list[str]:
    """A listing under a heading of its own; nothing where it has no rows."""
    if not found.rows:
        return []
    return [
        *pen.heading(level, capital(found.title)),
        *pen.table(found.heads, found.rows, numeric(found.heads, found.rows)),
    ]


def numeric(heads: Sequence[str], rows: Sequence[Sequence[Inline]]) -> list[str]:
    """Heads of the columns in which every text is a number, or stands for one."""
    return [head for head, *texts in zip(heads, *rows, strict=False) if all(map(_is_number, texts)) and any(texts)]


def _is_number(text: Inline) -> bool:
    return isinstance(text, str) and (
        text[:1].isdigit() or text in ("", "-", "?") or (text[:1] in "+-<" and text[1:2].isdigit())
    )


def capital(title: str) -> str:
    """A title with a large first letter."""
    return title[:1].upper() + title[1:]
