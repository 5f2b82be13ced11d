"""Where one rung or one readiness item stands, in sentences: for the inspector, the right side and the walk."""

from __future__ import annotations

from typing import Final

from trainplan.labels.series import series
from trainplan.review.items import ITEMS
from trainplan.review.ladder import CheckState
from trainplan.review.record import Act
from trainplan.review.state import ItemState, RungReview
from trainplan_tui.panes.rows import BodyRow
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line, Role

SHORT: Final = {
    "one-batch": "batch",
    "one-device": "device",
    "one-node": "node",
    "few-nodes": "few",
    "short-scaled": "scaled",
}
"""Names under the ladder's pieces, where they are shorter."""
RUNG_ROLES: Final[dict[str, Role]] = {"failed": "error", "stale": "warn", "waiting": "warn"}
LADDER: Final = 72
"""Columns from which a piece of the ladder has three cells."""
HISTORY = 6
"""Acts that the right side shows."""


def item_of(id_: str, shown: Shown) -> ItemState:
    """The item of a row `readiness.NAME`. LookupError where there is none."""
    name = id_.split(".")[1]
    return next(one for one in shown.reviewed.now.items if one.item.name == name)


def rung_of(id_: str, shown: Shown) -> RungReview:
    """The rung of a row `pilot.NAME.checks.METRIC`."""
    name = id_.split(".")[1]
    return next(one for one in shown.reviewed.now.rungs if one.rung.name == name)


def check_of(id_: str, shown: Shown) -> CheckState:
    """The check of a row `pilot.NAME.checks.METRIC`."""
    return next(check for check in rung_of(id_, shown).rung.checks if check.metric == id_.split(".")[3])


def told(row: BodyRow, shown: Shown) -> tuple[str, list[str]]:
    """The key of a row for the rule, and its sentences, the most needed first."""
    if row.id.startswith("readiness."):
        one = item_of(row.id, shown)
        return row.id, [one.item.question, *item_sentences(one)]
    return ".".join(row.id.split(".")[:2]), check_sentences(rung_of(row.id, shown), check_of(row.id, shown))


def item_sentences(one: ItemState) -> list[str]:
    """Who acted last on what; what moved since; what may be done."""
    found = [acted(one.last)] if one.last else []
    found += [f"stale: {change}" for change in one.changed[:3]]
    found += [f"and {len(one.changed) - 3} more"] if len(one.changed) > 3 else []
    found += [one.broken] if one.broken else []
    found.append(f"signed by the {one.item.signer}; {_waivable(one)}")
    return [f"{sentence}." for sentence in found]


def _waivable(one: ItemState) -> str:
    return "blocking: no waiver" if one.item.blocking else f"may be waived for {one.item.waivable} days"


def acted(act: Act) -> str:
    """`2026-11-24 18:02 roth signed over 3f9c02: "1.61M incl. spares"`."""
    words = {
        "sign": "signed",
        "waive": "waived",
        "fail": "failed it",
        "reopen": "opened it again",
        "attach": "attached",
    }
    if act.kind == "loosen":
        metric, old = next(iter(act.covers.items()))
        return f"{act.at:%Y-%m-%d %H:%M} {act.signer} loosened {metric} from {old} to {act.verdict}: {act.reason}"
    said = ": ".join(filter(None, (act.note, act.reason))) or series(file.path for file in act.evidence)
    over = f" over plan {act.plan[:6]}" if act.plan and act.kind in ("sign", "waive") else ""
    return f"{act.at:%Y-%m-%d %H:%M} {act.signer} {words.get(act.kind, act.kind)}{over}" + (
        f': "{said}"' if said else ""
    )


def check_sentences(one: RungReview, check: CheckState) -> list[str]:
    """What a check measures and where its threshold comes from; what is stale; what it waits for and feeds."""
    origin = f"default {check.default}, from {check.origin}" if check.default else "a check of this plan's own"
    found = [f"{check.meaning or check.metric.replace('_', ' ')}; {origin}"]
    if check.taken:
        found.append("the plan gives no threshold, so the default holds")
    if check.loosened:
        found.append(f"loosened to {check.pass_if}")
    if one.state == "stale":
        found.append(f"stale: {'; '.join(str(change) for change in one.changed[:2])}")
    if one.rung.waits_for:
        found.append(f"waits for {one.rung.waits_for}")
    if check.evidence:
        found.append(f"shown by {check.evidence}")
    found.append(f"feeds {one.rung.feeds}")
    return [f"{sentence}." for sentence in found]


def side(row: BodyRow, shown: Shown, glyphs: Glyphs) -> list[str]:
    """The lines of the right side: the item or rung in full, with what it covers and its history."""
    key, sentences = told(row, shown)
    lines = [key, *sentences]
    if row.id.startswith("readiness."):
        one = item_of(row.id, shown)
        lines += [f"item {ITEMS.index(one.item) + 1} of {len(ITEMS)}", "", "checked by the program"]
        lines += [
            _checked(each.verdict, each.check, each.found, glyphs) for each in shown.reviewed.checks_of(one.item.name)
        ]
        lines += ["", "asked of a person", *(f"  {point}" for point in one.item.attested)]
        lines += ["", "evidence", f"  {one.item.evidence}"]
        subject = one.item.name
    else:
        subject = rung_of(row.id, shown).rung.name
        lines += ["", f"stale when these move: {', '.join(rung_of(row.id, shown).rung.covers)}"]
    acts = [act for act in shown.reviewed.now.record.acts if act.subject == subject]
    lines += ["", "history", *(f"  {acted(act)}" for act in acts[-HISTORY:])] if acts else []
    return lines


def _checked(verdict: str, check: str, found: str, glyphs: Glyphs) -> str:
    mark = {"passed": glyphs.ticked, "failed": glyphs.crossed}.get(verdict, "?")
    return f"  {mark} {check}: {found}"


def ladder_line(rungs: tuple[RungReview, ...], width: int, glyphs: Glyphs) -> Line:
    """Seven pieces, each with its name: passed, stale, open."""
    pieces = {"passed": glyphs.solid, "stale": glyphs.stale, "waived": glyphs.stale}
    canvas, column, long = Canvas(width, glyphs), 4, 3 if width >= LADDER else 1
    for one in rungs:
        column = canvas.put(column, pieces.get(one.state, glyphs.open) * long, RUNG_ROLES.get(one.state, "text")) + 1
        column = canvas.put(column, SHORT.get(one.rung.name, one.rung.name)) + 1
    return canvas.line()


def attesting(signature: Act | None, *, held: bool) -> tuple[str, str]:
    """The title over the points that a person answers for, and what a new signature needs; `held` where they are a signature's."""
    asked, anew = "asked of a person: space answers for it", "a new signature needs each point answered again"
    if signature is None:
        return asked, ""
    by = f"{signature.signer} on {signature.at:%Y-%m-%d}"
    if held:
        return f"attested with the signature of {by}", f"{anew}: space answers for it"
    return asked, f"attested by {by}; {anew}"
