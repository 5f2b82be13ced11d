"""One plan being edited: its history, its file, its estimate. The one owner of state; it draws nothing and asks nothing."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from trainplan.estimation import Estimate, estimate
from trainplan.plan.leaves import field_differences
from trainplan.plan.read import Opened, plan_of_text
from trainplan.review.items import record_name
from trainplan_tui.state.history import History, Kept, Step
from trainplan_tui.state.shown import Shown

if TYPE_CHECKING:
    from trainplan.evidence.published import Run
    from trainplan.files.save import Saved
    from trainplan.finding import Finding
    from trainplan.forecast.finish import Forecast
    from trainplan.plan.edit import Edited
    from trainplan.plan.plan import Plan
    from trainplan_tui.state.dossier import Dossier


class Refused(NamedTuple):
    """A text that an editor left and that was refused: the text it began from, its own, the line of the first error, its file."""

    before: str
    text: str
    line: int
    kept: str


class Session(Kept):
    """State of one open plan. `shown` is what panes draw; every edit makes exactly one estimate.

    A session that begins `pending` looks for findings at the first call of `judge`, or at the first edit.
    """

    def __init__(self, opened: Opened, today: dt.date, *, pending: bool = False) -> None:
        super().__init__()
        self.path = Path(opened.source.path)
        self.sha256: str | None = opened.source.sha256
        self.had_bom = opened.source.had_bom
        self.today = today
        self.history = History((Step(opened.source.text, opened.plan),))
        self.saved_text = opened.source.text
        self.dossier: Dossier | None = _beside(self.path, opened.plan)
        self.saved = self.estimated(opened.plan)
        self.forecasts: dict[int, Forecast] = {}
        self.runs: tuple[Run, ...] = ()
        self.reasons: dict[str, str] = {}
        self.person = self.author = ""
        self.refused: Refused | None = None
        self.shown = self._shown(self.history.now, self.saved, () if pending else None, pending=pending)

    @property
    def name(self) -> str:
        """The plan's name, or its file's."""
        return self.history.now.plan.name or self.path.stem

    def estimated(self, plan: Plan) -> Estimate:
        """What follows from a plan, items signed counted by the record where it was read."""
        figures = estimate(plan, self.today)
        return figures if self.dossier is None else self.dossier.recounted(figures)

    def judge(self) -> None:
        """Look for findings, where nobody has yet."""
        if self.shown.pending:
            self.shown = self._shown(self.history.now, self.shown.estimate)

    def _found(self, figures: Estimate) -> tuple[Finding, ...]:
        from trainplan.checks import findings_at_once  # some twenty modules, which the first figures do not wait for

        return findings_at_once(figures, self.runs)

    def _shown(
        self, step: Step, figures: Estimate, found: tuple[Finding, ...] | None = None, *, pending: bool = False
    ) -> Shown:
        """A step as it is shown, with findings that are known or else looked for."""
        edits = sum(1 for _ in field_differences(self.saved.plan, step.plan)) if step.text != self.saved_text else 0
        return Shown(
            step.plan.name or self.path.stem,
            self.path.name,
            step.text,
            step.plan,
            figures,
            self._found(figures) if found is None else found,
            self.saved,
            max(edits, step.text != self.saved_text),
            forecast=self.forecasts.get(id(figures)),
            saved_forecast=self.forecasts.get(id(self.saved)),
            dossier=self.dossier,
            runs=self.runs,
            pending=pending,
        )

    def take_runs(self, runs: tuple[Run, ...]) -> None:
        """Published runs to hold the plan against; they are read after the first screen stands."""
        if self.runs is not runs:
            self.runs = runs
            self.shown = replace(self.shown, findings=self._found(self.shown.estimate), runs=runs, pending=False)

    def try_fixes(self) -> None:
        """Try the fixes of what shows at once, for a person who asks before the thread has answered."""
        from trainplan.checks import tried_fixes

        shown = self.shown
        if any(finding.untried for finding in shown.findings):
            self.take_fixes(shown.findings, tried_fixes(shown.estimate, shown.findings, shown.runs))

    def take_fixes(self, found: tuple[Finding, ...], tried: tuple[Finding, ...]) -> bool:
        """Fixes tried on the plan that shows; whether these findings are still those that show."""
        if self.shown.findings is not found:
            return False
        self.shown = replace(self.shown, findings=tried)
        return True

    def take_dossier(self, dossier: Dossier) -> None:
        """What lies beside the plan, as it was read or checked just now."""
        self.dossier = dossier
        before, self.saved = self.saved, dossier.recounted(self.saved)
        now = self.saved if self.shown.estimate is before else dossier.recounted(self.shown.estimate)
        for old, new in ((before, self.saved), (self.shown.estimate, now)):
            if id(old) in self.forecasts:  # a forecast asks no one who signed
                self.forecasts[id(new)] = self.forecasts[id(old)]
        self.shown = replace(self.shown, dossier=dossier, estimate=now, saved=self.saved)

    def forecasted(self, figures: Estimate, found: Forecast) -> bool:
        """Take a forecast; whether it is of the plan that shows. Only those of the saved and the present plan are kept."""
        kept = {id(self.saved), id(self.shown.estimate)}
        self.forecasts = {key: one for key, one in self.forecasts.items() if key in kept}
        self.forecasts[id(figures)] = found
        if figures is self.shown.estimate:
            self.shown = replace(self.shown, forecast=found, saved_forecast=self.forecasts.get(id(self.saved)))
        return figures is self.shown.estimate

    def attempt(self, path: str, typed: str, *, keep_sum: bool = True) -> Edited:
        """The text and plan that a typed value would give. Raises UnknownPath or Unusable; nothing changes.

        A weight keeps its stage's sum at 1 unless `keep_sum` is false: the largest other weight takes the difference.
        """
        from trainplan.plan.edit import edited, literal_for, without
        from trainplan.plan.entries import is_weight, rebalanced, with_fields

        now = self.history.now
        if path.startswith("pilot."):
            from trainplan.review.measuring import edited_check, is_check

            if is_check(path):
                return edited_check(now.text, now.plan, path, typed, self.path.name)
        other = rebalanced(now.plan, path, typed) if keep_sum and is_weight(path) else None
        if other is not None:
            both = {path: literal_for(path, typed), other[0]: f"{other[1]:.12g}"}
            return with_fields(now.text, now.plan, both, self.path.name)
        return (
            without(now.text, now.plan, path)
            if not typed.strip()
            else edited(now.text, now.plan, path, typed, self.path.name)
        )

    def try_on(self, attempt: Edited) -> None:
        """Show what an attempt would give, findings and sign-offs as before; `settle` or `commit` ends it."""
        figures = self.estimated(attempt.plan)
        self.judge()
        self.shown = replace(self._shown(Step(attempt.text, attempt.plan), figures, self.shown.findings), trying=True)

    def doubt(self) -> None:
        """What is typed is no value: the figures stay those of the last valid text."""
        self.shown = replace(self.shown, valid=False, trying=True)

    def settle(self) -> None:
        """Show the present step again."""
        self.shown = self._shown(self.history.now, self.estimated(self.history.now.plan))

    def commit(self, attempt: Edited, what: str) -> int:
        """Make an attempt the present step; the number of quantities that moved."""
        before = self.shown.estimate if not self.shown.trying else self.estimated(self.history.now.plan)
        trying = self.shown.trying and self.shown.valid and self.shown.text == attempt.text
        after = self.shown.estimate if trying else self.estimated(attempt.plan)
        return self._moved_to(self.history.edit(Step(attempt.text, attempt.plan, what)), before, after)

    def take_text(self, text: str, what: str) -> int:
        """Make a whole text the present step, as an editor hands it back. Raises Unusable."""
        from trainplan.plan.edit import Edited

        return self.commit(Edited(text, plan_of_text(text, self.path.name)), what)

    def undo(self) -> str:
        """One step back; what was undone, empty where there is nothing."""
        what = self.history.now.what
        return what if self._step(self.history.undo()) else ""

    def redo(self) -> str:
        """One step on; what was redone, empty where there is nothing."""
        return self.history.now.what if self._step(self.history.redo()) else ""

    def _step(self, history: History) -> bool:
        if history.at == self.history.at:
            return False
        self._moved_to(history, self.shown.estimate, self.estimated(history.now.plan))
        return True

    def _moved_to(self, history: History, before: Estimate, after: Estimate) -> int:
        if history is not self.history:
            self._record(history.now)
        self.history = history
        self.shown = self._shown(history.now, after)
        return sum(1 for key, value in after.quantities.items() if differs(before.quantities.get(key), value))

    def begin_history(self) -> None:
        """Forget the steps before this one: an act of the record is not taken back by undo."""
        self.history = History((self.history.now,))

    def save(self, path: Path | None = None) -> Saved:
        """Write the text. Raises SaveError, or ChangedOnDisk where the file is not the one that was read.

        Under another name the plan begins unsigned: the record of its sign-offs stays beside the old one.
        """
        target = self.path if path is None else path
        moved = target != self.path
        history = self._unsigned() if moved else self.history
        expected = None if moved else self.sha256
        from trainplan.files.save import save

        saved = save(target, history.now.text, expected_sha256=expected, had_bom=self.had_bom)
        self.path, self.sha256, self.saved_text = target, saved.sha256, history.now.text
        self.saved = figures = self.shown.estimate
        if moved:
            self.history, self.dossier = history, _beside(target, history.now.plan)
            self.saved = self.estimated(history.now.plan)
            self.forecasts = {id(self.saved): found for key, found in self.forecasts.items() if key == id(figures)}
        self.shown = self._shown(history.now, self.saved)
        self._kept_anew() if moved else self._record(self.history.now)
        if self.ticks:
            self._keep_ticks()
        self._settled()
        return saved

    def _unsigned(self) -> History:
        """The history without what it mirrors of the record: none of its steps is signed under another name."""
        from trainplan.plan.tree import SpliceError
        from trainplan.review.mirror import mirrors, unsigned

        steps: list[Step] = []
        for step in self.history.steps:
            try:
                claims = any(map(mirrors, step.plan.readiness))
                after = unsigned(step.text, step.plan, self.path.name) if claims else step
            except SpliceError:
                after = step
            steps.append(Step(after.text, after.plan, step.what))
        return replace(self.history, steps=tuple(steps))

    def rebase(self, opened: Opened) -> None:
        """Take the file on disk as the one that edits are compared with; the present step stays."""
        self.sha256, self.had_bom = opened.source.sha256, opened.source.had_bom
        self.saved_text, self.saved = opened.source.text, self.estimated(opened.plan)
        self.settle()
        self._record(self.history.now)
        self._keep_ticks()


def _beside(path: Path, plan: Plan) -> Dossier | None:
    """The record beside a plan that has one, or that mirrors items; the rest of the dossier is looked for later."""
    if not plan.readiness and not os.path.lexists(path.with_name(record_name(path.name))):
        return None
    from trainplan_tui.state.dossier import NOTHING, read_dossier

    return read_dossier(path, NOTHING, dt.datetime.now(dt.UTC))


def differs(before: object, after: object) -> bool:
    """Whether a quantity moved: another value, or blocked by something else."""
    if type(before) is not type(after):
        return True
    return getattr(before, "code", None) != getattr(after, "code", None) if hasattr(after, "code") else before != after
