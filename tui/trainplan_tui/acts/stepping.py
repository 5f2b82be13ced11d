"""`+` and `-`: the next larger or smaller value of a field; `=`: the saved one; `n` and `N`: the next row that matches."""

from __future__ import annotations

from trainplan.plan.describe import annotation_of
from trainplan.plan.fields import Count, CountOrZero
from trainplan_tui.panes.rows import Box
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.state.session import Session

LAYOUT = ("parallelism.", "batch.")
"""Of them, those whose values the layout's rules decide; more nodes than the batch can feed is a question people ask."""

MOST_STEPS = 12
"""Doublings that are tried before there is no larger legal value."""

POWERS = ("parallelism.", "batch.", "cluster.nodes")
"""Fields that people double and halve; other whole numbers move by one, others by 5 %."""


def next_value(session: Session, box: Box, direction: int) -> str | None:
    """The text of the next value, or None where there is none. A choice moves along its list."""
    if box.path.startswith("pilot."):
        return None
    if box.choices:
        at = box.choices.index(box.text) if box.text in box.choices else -1 if direction > 0 else len(box.choices)
        place = at + direction
        return box.choices[place] if 0 <= place < len(box.choices) else None
    value = session.shown.estimate.situation.value(box.path)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    kind = annotation_of(box.path)
    whole = kind in (Count, CountOrZero) or (float(value).is_integer() and box.path.startswith(POWERS))
    if not whole:
        return _scaled(box.text, float(value), direction)
    if box.path.startswith(LAYOUT) and box.path.count(".") == 1:
        return _legal(session, float(value), box.path, direction)
    return _whole(float(value), box.path, direction)


def _legal(session: Session, value: float, path: str, direction: int) -> str | None:
    """The next doubling or halving that breaks no rule of the layout but those that are broken already."""
    from trainplan.alternatives.reverse import tried

    plan, text = session.shown.plan, _whole(value, path, direction)
    known = tried(plan).broken
    for _ in range(MOST_STEPS):
        if text is None or not tried(plan, {path: int(text)}).broken - known:
            return text
        text = _whole(float(text), path, direction)
    return None


def _whole(value: float, path: str, direction: int) -> str | None:
    doubled = value * 2 if direction > 0 else value / 2
    after = doubled if path.startswith(POWERS) else value + direction
    return f"{int(after)}" if after >= 1 and after == int(after) else None


def _scaled(text: str, value: float, direction: int) -> str | None:
    """5 % more or less, in the spelling that the person chose."""
    import re

    factor = 1.05 if direction > 0 else 1 / 1.05
    found = re.match(r"\d[\d_]*\.?\d*", text)
    number = float(found[0].replace("_", "")) if found else value
    after = float(f"{number * factor:.3g}")
    suffix = text[found.end() :] if found else ""
    shown = f"{after:.12g}"
    return None if "e" in shown and suffix else f"{shown}{suffix}"


def to_match(host: Host, step: int) -> None:
    """The next or previous row of this pane that has what is searched for; past the end it goes on at the other."""
    needle, rows = host.cursor.needle.lower(), host.rows()
    hits = [row for row in rows if row.id and needle in "".join(span.text for span in row.line).lower()]
    if not hits:
        host.message = f"no row here has {host.cursor.needle}"
        return
    at = host.cursor.position(rows)
    places = [rows.index(row) for row in hits]
    later = [i for i in places if i > at] if step > 0 else [i for i in reversed(places) if i < at]
    host.cursor.put_at(rows, later[0] if later else places[0 if step > 0 else -1])


def take_saved(host: Host) -> None:
    """Take the saved value of the field under the cursor back."""
    from trainplan.plan.leaves import typed_at

    box, session = host.box(), host.session
    if box is None:
        host.message = "no field under the cursor"
    elif box.path.startswith("pilot."):
        from trainplan_tui.acts.piloting import saved_value

        host.apply(box.path, saved_value(session, box.path))
    else:
        host.apply(box.path, typed_at(session.saved.plan, box.path))
