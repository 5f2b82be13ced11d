"""The walk: one readiness item as challenge and response. What the program found, what a person answers for, what can be done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from trainplan.labels.series import series
from trainplan.review.drills import OF_ITEM
from trainplan.review.items import ITEMS, Item
from trainplan.review.record import Kind
from trainplan.review.signing import evidence_now, signature_now
from trainplan.review.state import ItemState
from trainplan_tui.panes.ready import ROLES, counts, word
from trainplan_tui.panes.standing import acted, attesting
from trainplan_tui.sheets.listing import LETTERS, MOVES
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.state.dossier import NOTHING
from trainplan_tui.text.folding import folded
from trainplan_tui.text.spans import Canvas, Line, Role
from trainplan_tui.widgets.frame import Entry, rule, scrolled

NUMBERS: Final = 45
"""First cell of what a check found."""
SHOWN_ACTS: Final = 2


class Row(NamedTuple):
    """One line of the walk; an empty id cannot be reached."""

    id: str
    line: Line


@dataclass(frozen=True, slots=True)
class Acts:
    """What the answers of a walk do. `refusals` says why an item cannot be signed now."""

    refusals: Callable[[Host, Item], tuple[str, ...]]
    sign: Callable[[Host, Item], None]
    waive: Callable[[Host, Item], None]
    attach: Callable[[Host, str, str], None]
    open: Callable[[Host, Item], None]
    say: Callable[[Host, Kind, Item], None]
    summary: Callable[[Host], None]


class WalkSheet:
    """One item at a time; `n` and `N` go to the next and the previous."""

    word = "walk"
    page = True
    typing = asks = False
    lets_go = True  # what was ticked stays with the session

    def __init__(self, host: Host, at: int, acts: Acts) -> None:
        self.host, self.at, self.acts = host, at, acts
        self.on, self.first = "", 0

    @property
    def item(self) -> Item:
        """The item that shows."""
        return ITEMS[self.at]

    @property
    def state(self) -> ItemState:
        """Where it stands."""
        return self.host.session.shown.reviewed.now.items[self.at]

    def wanted(self, width: int) -> int:
        """The whole body."""
        return 1000

    def lines(self, width: int, height: int) -> Sequence[Line]:
        """The heading, the rows with one under the cursor, and what the cursor is on."""
        rows = self.rows(width)
        place = self._place(rows)
        room = max(3, height - 2)
        self.first = 0 if place < room else scrolled(self.first, room, place, len(rows))
        shown = rows[self.first : self.first + room]
        found = [self._heading(width)]
        found += [self._marked(row, width) if self.first + i == place else row.line for i, row in enumerate(shown)]
        found += [()] * (height - 1 - len(found))
        return [*found, rule(f"readiness.{self.item.name}", width, self._position(rows, place), self.host.glyphs)]

    def _position(self, rows: Sequence[Row], place: int) -> str:
        return f"row {place + 1} of {len(rows)}" if len(rows) > self.first else ""

    def _marked(self, row: Row, width: int) -> Line:
        canvas = Canvas(width, self.host.glyphs)
        canvas.spans(1, row.line)
        canvas.put(1, ">")
        canvas.cursor(3)
        return canvas.line()

    def _heading(self, width: int) -> Line:
        canvas, reviewed = Canvas(width, self.host.glyphs), self.host.session.shown.reviewed
        canvas.put(2, "Readiness", bold=True)
        canvas.put(13, f"item {self.at + 1} of {len(ITEMS)}")
        canvas.put(28, word(self.state, reviewed), ROLES[self.state.state], bold=True)
        canvas.right(width - 1, counts(reviewed.now), "dim")
        return canvas.line()

    def rows(self, width: int) -> list[Row]:
        """Everything about the item."""
        return [
            *self._challenge(width),
            *self._checked(width),
            *self._asked(width),
            *self._answers(width),
            *self._response(width),
            *self._cards(width),
        ]

    def _challenge(self, width: int) -> list[Row]:
        return [self._text(line, width, "text", column=3, bold=True) for line in folded(self.item.question, width - 4)]

    def _text(self, text: str, width: int, role: Role = "text", column: int = 4, *, bold: bool = False) -> Row:
        canvas = Canvas(width, self.host.glyphs)
        canvas.put(column, text, role, bold=bold)
        return Row("", canvas.line())

    def _rule(self, title: str, width: int) -> Row:
        return Row("", rule(title, width, "", self.host.glyphs))

    def _checked(self, width: int) -> list[Row]:
        session, glyphs = self.host.session, self.host.glyphs
        dossier = session.dossier or NOTHING
        when = f", {dossier.at:%Y-%m-%d %H:%M} UTC" if dossier.at else ": the disk is being looked at"
        found = [self._rule(f"checked by the program{when}", width)]
        marks: dict[str, tuple[str, Role]] = {"passed": (glyphs.ticked, "text"), "failed": (glyphs.crossed, "error")}
        for one in session.shown.reviewed.checks_of(self.item.name):
            canvas, (mark, role) = Canvas(width, glyphs), marks.get(one.verdict, ("?", "warn"))
            canvas.put(4, mark, role)
            canvas.put(6, one.check, role, end=NUMBERS - 2)
            canvas.put(NUMBERS, one.found if one.verdict != "unknown" else f"unknown: {one.found}", role, end=width)
            found.append(Row(f"check {one.check}: {one.found}", canvas.line()))
        nothing = self._text("nothing of this item can be checked by the program", width, "dim")
        return found if len(found) > 1 else [*found, nothing]

    def _asked(self, width: int) -> list[Row]:
        """The points that a person answers for; of an item that is signed those that were attested with its signature."""
        done, ticked = self._attested(), bool(self.host.session.ticks.get(self.item.name))
        signature = signature_now((self.host.session.dossier or NOTHING).record, self.item.name)
        title, note = attesting(signature, held=bool(done) and not ticked)
        found = [self._rule(title, width)]
        for point in self.item.attested:
            canvas = Canvas(width, self.host.glyphs)
            canvas.put(4, "[x]" if point in done else "[ ]", "edit" if ticked or not done else "dim")
            canvas.put(8, point)
            found.append(Row(f"tick {point}", canvas.line()))
        return [*found, *(self._text(line, width, "dim") for line in folded(note, width - 6) if line)]

    def _attested(self) -> frozenset[str]:
        """Points answered for in this session; where there is none, those of the signature that holds."""
        ticked, state = self.host.session.ticks.get(self.item.name), self.state
        held = state.last.attested if state.state == "signed" and state.last is not None else ()
        return frozenset(ticked or held)

    def _answers(self, width: int) -> list[Row]:
        record = (self.host.session.dossier or NOTHING).record
        acts = [act for act in record.acts if act.subject == self.item.name]
        found: list[Row] = []
        for act in acts[-SHOWN_ACTS:]:
            found += [self._text(line, width) for line in folded(acted(act), width - 6)]
        found += [self._text(f"stale   {change}", width, "warn") for change in self.state.changed[:3]]
        if self.state.state in ("open", "failed") and self.state.last is not None and self.state.why:
            found.append(self._text(self.state.why, width, "warn"))
        return [self._rule("last answers", width), *found] if found else []

    def _response(self, width: int) -> list[Row]:
        item, why = self.item, self.acts.refusals(self.host, self.item)
        record = (self.host.session.dossier or NOTHING).record
        files = evidence_now(record, item.name)
        waiver = (
            "blocking: cannot be waived" if item.blocking else f"reason, owner, approver, {item.waivable} days at most"
        )
        told = [
            ("sign", "S", f"not offered: {why[0]}" if why else f"by the {item.signer}"),
            ("waive", "W", waiver),
            ("attach evidence", "a", series(file.path for file in files) or f"none yet: {item.evidence}"),
            ("note", "", "a sentence in the record"),
            ("mark as failed", "", "with the reason"),
        ]
        if self.state.last is not None and self.state.state != "open":
            told.append(("open again", "", "takes the last answer back, which stays in the record"))
        found = [self._rule("response: enter does it", width)]
        for name, key, note in told:
            canvas = Canvas(width, self.host.glyphs)
            canvas.put(4, key, bold=True)
            canvas.put(6, name, end=21)
            canvas.put(23, note, "warn" if why and name == "sign" else "dim", end=width)
            found.append(Row(f"do {name}", canvas.line()))
        return found

    def _cards(self, width: int) -> list[Row]:
        found: list[Row] = []
        for drill in OF_ITEM.get(self.item.name, ()):
            found.append(self._rule(drill.title, width))
            for number, step in enumerate(drill.steps, 1):
                pieces = folded(step, width - 10)
                found += [
                    Row(
                        f"step {drill.title} {number}.{i}",
                        self._text(f"{number if i == 0 else '':>2} {piece}", width).line,
                    )
                    for i, piece in enumerate(pieces)
                ]
        return found

    def _place(self, rows: Sequence[Row]) -> int:
        """The row under the cursor: the one where it was, else the first point without an answer, else the signature."""
        ids = [row.id for row in rows]
        if not self.on or self.on not in ids:
            done = self._attested()
            self.on = next((f"tick {point}" for point in self.item.attested if point not in done), "do sign")
        return ids.index(self.on)

    def _move(self, step: int) -> None:
        """The cursor on another row that can be reached."""
        rows = self.rows(80)
        self._place(rows)
        ids = [row.id for row in rows if row.id]
        self.on = ids[min(max(ids.index(self.on) + step, 0), len(ids) - 1)]

    def cursor(self) -> tuple[int, int]:
        """The row under the cursor."""
        return 1 + self._place(self.rows(80)) - self.first, 3

    def take(self, key: str, character: str | None) -> None:
        """Move, tick, respond, go to another item, leave."""
        if key == "esc":
            self.host.close_sheet()
        elif key in MOVES or key in LETTERS:
            self._move(MOVES.get(key) or LETTERS.get(key, 0))
        elif key in ("n", "N"):
            self.at, self.on, self.first = (self.at + (1 if key == "n" else -1)) % len(ITEMS), "", 0
        elif key in ("enter", "space"):
            self._respond(self._id())
        elif key in _KEYS:
            self._respond(_KEYS[key])
        else:
            self._other(key)

    def _id(self) -> str:
        self._place(self.rows(80))
        return self.on

    def _respond(self, id_: str) -> None:
        kind, _, rest = id_.partition(" ")
        if kind == "tick":
            self.host.session.tick(self.item.name, rest)
        elif kind in ("check", "step"):
            self.host.message = rest
        elif rest == "sign":
            self.acts.sign(self.host, self.item)
        elif rest == "waive":
            self.acts.waive(self.host, self.item)
        elif rest == "attach evidence":
            self.acts.attach(self.host, self.item.name, self.item.evidence)
        else:
            self.acts.say(self.host, _KINDS[rest], self.item)

    def _other(self, key: str) -> None:
        """Keys of the pane that mean the same here."""
        if key == "y":
            self.acts.summary(self.host)
        elif key == "o":
            self.acts.open(self.host, self.item)
        elif key in ("w", "u"):
            self.host.do("file.save" if key == "w" else "edit.undo")
        elif len(key) == 1:
            self.host.message = f"{key} does nothing in the walk"

    def paste(self, text: str) -> None:
        """Pasted text is no answer."""

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        tick = self._id().startswith("tick ")
        return [
            Entry("enter" if not tick else "space", "tick" if tick else "do it"),
            Entry("n", "next item"),
            Entry("N", "previous"),
            *([] if self.acts.refusals(self.host, self.item) else [Entry("S", "sign")]),
            *([] if self.item.blocking else [Entry("W", "waive")]),
            Entry("a", "attach"),
            Entry("o", "open"),
            Entry("y", "copy all"),
            Entry("esc", "back"),
        ]


_KEYS: Final = {"S": "do sign", "W": "do waive", "a": "do attach evidence"}
_KINDS: Final[dict[str, Kind]] = {"note": "note", "mark as failed": "fail", "open again": "reopen"}
