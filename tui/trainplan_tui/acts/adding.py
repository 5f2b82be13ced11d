"""The first entry of each list of a plan, and every later one: sources, stages and their weights, batches, tasks, checks, rungs.

`a` adds what the row under the cursor is one of; each list has a command of its own beside it, from any pane.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from trainplan.labels.series import series
from trainplan.plan.edit import Edited
from trainplan.plan.entries import weights_of, with_batch, with_mixture, with_source, with_stage, with_task
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Figure
from trainplan_tui.acts.listing_edits import BATCHES, SOURCES, STAGES, TASKS, committed
from trainplan_tui.sheets.asking import LineSheet
from trainplan_tui.sheets.sheet import Host

if TYPE_CHECKING:
    from trainplan_tui.panes.rows import BodyRow

Words = Callable[[str, Plan, str, str], Edited]


def add(host: Host) -> None:
    """Ask in one line for what the row or the pane holds: a stage, an entry of the batch schedule, a source, a task."""
    row, budget = host.row(), host.cursor.shown_pane.table.budget
    if budget == "evaluation":
        add_task(host)
    elif budget != "tokens":
        host.message = "nothing to add here; `:` add names what can be added"
    elif row is not None and f"{row.id}.".startswith(STAGES):
        add_stage(host)
    elif row is not None and f"{row.id}.".startswith(BATCHES):
        add_batch(host)
    else:
        add_source(host)


def add_source(host: Host) -> None:
    """One more source of the mixture."""
    _ask(host, "add a source", "name, unique tokens, weight: books 250B 0.05", with_source, SOURCES)


def add_stage(host: Host) -> None:
    """One more stage of the run."""
    _ask(host, "add a stage", "name and the tokens at which it ends: anneal 15T", with_stage, STAGES)


def add_batch(host: Host) -> None:
    """One more entry of the batch schedule."""
    note = "tokens from which it holds, and sequences in a step: 250B 1024"
    _ask(host, "add an entry to the batch schedule", note, with_batch, BATCHES)


def add_task(host: Host) -> None:
    """One more evaluation task."""
    _ask(host, "add a task", "a task of the catalogue and its shots: mmlu 5", with_task, TASKS)


def _ask(host: Host, title: str, note: str, edit: Words, of: str) -> None:
    host.open_sheet(LineSheet(host, "add", title, note, lambda words: _grow(host, edit, words, of)))


def _grow(host: Host, edit: Words, words: str, of: str) -> bool:
    now, file, name = host.session.history.now, host.session.path.name, words.split(maxsplit=1)[0]
    told = f"batch from {name}" if of == BATCHES else name
    if not committed(host, lambda: edit(now.text, now.plan, words, file), f"added {told}"):
        return False
    said = host.message
    if of == BATCHES:
        before = [one.from_tokens for one in now.plan.batch.schedule]
        places = [i for i, one in enumerate(host.session.shown.plan.batch.schedule) if one.from_tokens not in before]
        name = str(places[-1] if places else 0)
    host.jump(f"{of}{name}.standard_error" if of == TASKS else f"{of}{name}")
    host.message = said
    return True


def add_mixture(host: Host) -> None:
    """Weights of its own for the stage under the cursor, those in force to begin with; from elsewhere the stage is asked for."""
    stages = host.session.shown.plan.data.stages
    names = [stage.name or str(place) for place, stage in enumerate(stages)]
    row: BodyRow | None = host.row()
    here = row.id.removeprefix(STAGES) if row is not None and row.id.startswith(STAGES) else ""
    if not stages:
        host.message = "no stages: one mixture for the whole run. `:` add a stage makes the first"
    elif here in names:
        _mix(host, here)
    else:
        note = f"one of {series(names)}; it begins with the weights in force"
        host.open_sheet(
            LineSheet(host, "add", "give which stage weights of its own", note, lambda name: _mix(host, name))
        )


def _mix(host: Host, name: str) -> bool:
    session, plan = host.session, host.session.shown.plan
    names = [stage.name or str(place) for place, stage in enumerate(plan.data.stages)]
    if name not in names:
        host.message = f"no stage {name}. One of {series(names)}"
        return False
    place = names.index(name)
    if plan.data.stages[place].weights is not None:
        host.message = f"stage {name} has weights of its own"
        return True
    drawn = {
        one.name: one.weights[place] if place < len(one.weights) else None
        for one in session.shown.estimate.mixture.rows
    }
    weights = weights_of(plan, place) or {
        source: float(weight) for source, weight in drawn.items() if isinstance(weight, Figure)
    }
    if not weights:
        host.message = "no source has a weight yet: unique tokens or weights of the sources come first"
        return False
    now, file = session.history.now, session.path.name
    if not committed(
        host, lambda: with_mixture(now.text, now.plan, place, weights, file), f"stage {name} has its own weights"
    ):
        return False
    said = host.message
    host.jump(f"{STAGES}{name}.weights.{next(iter(weights))}")
    host.message = said
    return True


def add_check(host: Host) -> None:
    """One more check of a rung, the one under the cursor to begin with."""
    from trainplan_tui.acts.piloting import add as add_to
    from trainplan_tui.acts.piloting import ask_check, rung_under

    add_to(host) if rung_under(host) else ask_check(host, "")


def add_rung(host: Host) -> None:
    """A rung of the team's own, with its first check."""
    from trainplan.review.measuring import with_rung
    from trainplan_tui.acts.piloting import attempt, rung_under
    from trainplan_tui.sheets.form import Asked, FormSheet

    def take(told: dict[str, str]) -> str:
        now, rung, file = host.session.history.now, told["rung"], host.session.path.name
        check = (told["metric"], told["pass_if"])
        wrong = attempt(
            host,
            lambda: with_rung(now.text, now.plan, rung, told["after"], told["question"], check, file),
            f"pilot.{rung}",
        )
        if not wrong:
            host.close_sheet()
            host.jump(f"pilot.{rung}.checks.{told['metric']}")
            host.message = f"the pilot has a rung {rung} after {told['after']}; u takes it back"
        return wrong

    asked = (
        Asked("rung", "rung", "", "a name of one's own, such as data-loader"),
        Asked("after", "after", rung_under(host) or "one-device", "one of the seven rungs"),
        Asked("question", "question", "", "what it asks; may be empty"),
        Asked("metric", "first check", "", "a name, such as loader_stalls"),
        Asked("pass_if", "passes at", "", "such as <= 0.10"),
    )
    host.open_sheet(FormSheet(host, "rung", "add a rung to the pilot", asked, take))


def add_evidence(host: Host) -> None:
    """A file as evidence of the readiness item under the cursor; from elsewhere the item is asked for."""
    from trainplan.review.items import BY_NAME
    from trainplan_tui.acts.reviewing import attach, attach_to, item_under

    def take(name: str) -> bool:
        if name not in BY_NAME:
            host.message = f"no item {name}. One of {', '.join(BY_NAME)}"
            return False
        attach_to(host, name, BY_NAME[name].evidence)
        return True

    if item_under(host) is not None:
        attach(host)
    else:
        host.open_sheet(LineSheet(host, "evidence", "attach evidence to which item", ", ".join(BY_NAME), take))


ADDS: dict[str, Callable[[Host], None]] = {
    "sources.add": add_source,
    "stages.add": add_stage,
    "stages.weights": add_mixture,
    "batches.add": add_batch,
    "tasks.add": add_task,
    "checks.add": add_check,
    "rungs.add": add_rung,
    "evidence.add": add_evidence,
}
"""What each command of the key table that adds does."""
