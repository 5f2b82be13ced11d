"""Editing in place: what is typed into a box, tried on at each key, taken by `enter`, put back by `esc`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainplan.plan.read import UnknownPath, Unusable
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import numbered
from trainplan_tui.keys import ELSEWHERE
from trainplan_tui.panes.rows import Box
from trainplan_tui.screens.drawing import Typing
from trainplan_tui.screens.words import finish
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.state.session import Session
from trainplan_tui.widgets.line import LineEdit

if TYPE_CHECKING:
    from trainplan.plan.edit import Edited


class Typist:
    """One edit at a time. The plan changes at `enter`; until then figures are tried on and can be taken back."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.now: Typing | None = None
        self._attempt: Edited | None = None
        self._began = ""
        self._valid = ""
        self._keep_sum = True

    def begin(self, box: Box) -> None:
        """Open the line editor in a box, all of its text selected."""
        self.now, self._began = Typing(box.path, LineEdit.opened(box.text)), box.text
        self._attempt, self._keep_sum, self._valid = None, True, box.text

    def take(self, key: str, character: str | None) -> None:
        """A key while editing."""
        if key.startswith("ctrl+") and (action := self.host.keymap.action(key, ())) in ELSEWHERE:
            if self.commit():
                self.host.do(action)
        elif key in ("esc", "ctrl+g", "ctrl+c"):
            self.put_back()
        elif key == "enter":
            self.commit()
        elif key in ("tab", "shift+tab", "down", "up"):
            self._commit_and_move(key)
        elif self.now is not None:
            self._type(self.now.line.take(key, character) or self.now.line)

    def paste(self, text: str) -> None:
        """Pasted text goes into the line."""
        if self.now is not None:
            self._type(self.now.line.paste(text))

    def _type(self, line: LineEdit) -> None:
        before = self.now
        if before is None:
            return
        self.now = Typing(before.path, line, before.error)
        if line.text != before.line.text:
            self._try(line.text)

    def _try(self, typed: str) -> None:
        session = self.host.session
        assert self.now is not None
        try:
            self._attempt = session.attempt(self.now.path, typed, keep_sum=self._keep_sum)
        except (Unusable, UnknownPath) as error:
            self._attempt = None
            session.doubt()
            self.now = Typing(self.now.path, self.now.line, _refusal(error, self._valid))
            return
        self._valid = typed
        session.try_on(self._attempt)
        self.now = Typing(self.now.path, self.now.line)

    def commit(self) -> bool:
        """Take what is typed; false where it is no value, and the text stays in its box."""
        if self.now is None:
            return True
        path, typed = self.now.path, self.now.line.text
        if typed == self._began:
            self.put_back()
            return True
        if self._attempt is None:
            self._try(typed)
        if self._attempt is None:
            return False
        if self._attempt.text == self.host.session.history.now.text:
            self.put_back()
            self.host.message = unchanged(path)
            return True
        from trainplan.plan.entries import rebalanced

        other = rebalanced(self.host.session.history.now.plan, path, typed) if self._keep_sum else None
        moved = self.host.session.commit(self._attempt, path)
        tail = (
            f"; {other[0].removesuffix('.weight').rsplit('.', 1)[-1]} {other[1]:.6g}"
            if other
            else self._unbalanced(path)
        )
        self.host.message = outcome(self.host.session, path, typed, moved) + tail
        self.now = self._attempt = None
        if path.startswith("pilot.") and path.endswith(".pass_if"):
            from trainplan_tui.acts.piloting import why_loosened

            why_loosened(self.host, path)
        return True

    def _unbalanced(self, path: str) -> str:
        """What a weight leaves over where no other source took the difference."""
        from trainplan.plan.entries import TOLERANCE, is_weight, stage_of, weights_of

        if not is_weight(path):
            return ""
        plan = self.host.session.history.now.plan
        whole = sum(weights_of(plan, stage_of(path, plan)).values())
        return "" if abs(whole - 1) <= TOLERANCE else f"; no other source has room for it, the sum is {whole:.6g}"

    def put_back(self) -> None:
        """Leave the field as it was before the edit."""
        tried = self._attempt is not None or (self.now is not None and bool(self.now.error))
        self.now = self._attempt = None
        if tried:
            self.host.session.settle()

    def _commit_and_move(self, key: str) -> None:
        """Take the value and open the next box: `tab` the next field, arrows leave the field.

        With `tab` several weights are set before their sum is looked at.
        """
        from trainplan.plan.entries import is_weight

        self._keep_sum = key not in ("tab", "shift+tab")
        if self._attempt is not None and not self._keep_sum and self.now is not None and is_weight(self.now.path):
            self._try(self.now.line.text)
        if not self.commit():
            return
        forward = key in ("tab", "down")
        rows = self.host.rows()
        boxes = rows[self.host.cursor.position(rows)].boxes
        if key in ("tab", "shift+tab") and 0 <= self.host.cursor.cell + (1 if forward else -1) < len(boxes):
            self.host.cursor.move_cell(rows, 1 if forward else -1)
        else:
            self.host.cursor.move(rows, 1 if forward else -1)
        box = self.host.box()
        if key in ("tab", "shift+tab") and box is not None and not box.choices:
            self.begin(box)


LEAST = 78
"""Cells that a sentence has in the narrowest window that is drawn for."""


def _refusal(error: Unusable | UnknownPath, valid: str) -> tuple[str, ...]:
    """What is wrong and what would be right, and whose figures stay on screen."""
    stay = f"  Figures stay those of {valid or 'the empty field'}"
    message = str(error) if isinstance(error, UnknownPath) else error.errors[0].message
    head, _, rest = message.partition(". ")
    if rest and len(message) > 74:
        both = f"  {rest}.{stay[1:]}"
        return (f"E {head}.", both if len(both) <= LEAST else f"  {rest}")
    return (f"E {message}", stay)


def applied(host: Host, path: str, typed: str) -> bool:
    """Edit a field without a box; the footer says what it moved, or why it was refused."""
    session = host.session
    try:
        attempt = session.attempt(path, typed)
    except (Unusable, UnknownPath) as error:
        host.message = error.errors[0].message if isinstance(error, Unusable) else str(error)
        return False
    same = attempt.text == session.history.now.text
    host.message = unchanged(path) if same else outcome(session, path, typed, session.commit(attempt, path))
    return True


def unchanged(path: str) -> str:
    """What an edit did that leaves the file as it is."""
    from trainplan.labels.names import field_label

    return f"{field_label(path)} is in the file as it was: nothing changed"


def outcome(session: Session, path: str, typed: str, moved: int) -> str:
    """What an edit did, in one line: the field, how many numbers moved, the date, findings that are new."""
    from trainplan.labels.names import field_label

    wall = session.shown.estimate.money.wall_time
    day = f", {finish(session.shown.estimate).short}" if isinstance(wall, Figure) else ""
    errors = sum(item.severity == "error" for item in session.shown.findings)
    tail = f", {errors} error{'' if errors == 1 else 's'}" if errors else ""
    value = typed if typed.strip() else "left out"
    label = " ".join(path.split(".")[1::2]) if path.startswith("pilot.") else field_label(path)
    return f"{label} {value}: {numbered(moved, 'number')} moved{day}{tail}"
