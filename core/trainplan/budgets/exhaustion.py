"""When a source runs out: the tokens at which the first one reaches a limit, its step, its time and its day.

Which source is first is found on plain numbers; only its own story is kept as figures.
"""

from __future__ import annotations

import datetime as dt

from trainplan.budgets.mixture import MixtureBudget, SourceBudget, known
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import TokenBudget
from trainplan.budgets.weights import Phase
from trainplan.formulas import mixture as f
from trainplan.frozen import record
from trainplan.quantity.figure import Blocked, Choice, Figure, Quantity, blocked, first_blocked, given, total, total_of

ONE_PASS = given("one pass", 1.0, "1", "definition", kind="file")
NOTHING = given("nothing before", 0.0, "1", "definition", kind="file")


@record
class Exhaustion:
    """First source at its pass limit and first at one pass, with step, time (s from the start, failures in) and day.

    `first_exhausted_at` goes on with the last stage's weights and may lie past the end; the first repeat is inside the run.
    What is interleaved is what Hugging Face gives under first_exhausted, and None under other samplers.
    """

    first_exhausted_at: Figure
    first_exhausted: Choice | Blocked
    exhaustion_headroom: Figure
    first_exhausted_step: Figure
    first_repeat_at: Figure
    first_repeat: Choice | Blocked
    first_repeat_step: Figure
    first_repeat_time: Figure
    first_repeat_date: Choice | Blocked
    interleaved_items: Figure | None
    interleaved_tokens: Figure | None


def exhaustion(
    s: Situation, tokens: TokenBudget, mixture: MixtureBudget, times: tuple[Figure, ...], slowdown: Figure
) -> Exhaustion:
    """Limits of a mixture over the run; `times` are the stretches' times (s) without failures, `slowdown` adds those."""
    train = tokens.train_tokens
    place, at = first_reach(mixture, [row.limit for row in mixture.rows])
    again, repeat = first_reach(mixture, [ONE_PASS] * len(mixture.rows))
    if isinstance(repeat, Figure) and isinstance(train, Figure) and repeat >= train:
        again, repeat = None, blocked("none", "tokens")
    inside = at
    if isinstance(at, Figure) and isinstance(train, Figure) and at > train:
        inside = blocked("none", "tokens")
    time = _time(tokens, repeat, times, slowdown)
    items, reach = interleaved(mixture)
    return Exhaustion(
        first_exhausted_at=at,
        first_exhausted=_named(mixture, place, at),
        exhaustion_headroom=f.headroom(at, train),
        first_exhausted_step=_step(tokens, inside),
        first_repeat_at=repeat,
        first_repeat=_named(mixture, again, repeat),
        first_repeat_step=_step(tokens, repeat),
        first_repeat_time=time,
        first_repeat_date=_date(s, time),
        interleaved_items=items,
        interleaved_tokens=reach,
    )


def first_reach(mixture: MixtureBudget, limits: list[Figure]) -> tuple[int | None, Figure]:
    """The source that first reaches its limit of passes, one for each source, and the train tokens at which it does."""
    if not mixture.rows:
        return None, blocked("missing:data.sources", "tokens")
    parts = (*[row.passes for row in mixture.rows], *[phase.begin for phase in mixture.phases])
    stopped = first_blocked(parts)
    if stopped is not None:
        return None, blocked(stopped.code, "tokens")
    begins = [float(phase.begin) for phase in mixture.phases]
    reaches = [_reach(row, limit, begins) for row, limit in zip(mixture.rows, limits, strict=True)]
    found = [(*reach, i) for i, reach in enumerate(reaches) if reach]
    if not found:
        return None, blocked("none", "tokens")
    _, stage, place = min(found)
    return place, _reached(mixture.rows[place], limits[place], mixture.phases, stage)


def _reach(row: SourceBudget, limit: float, begins: list[float]) -> tuple[float, int] | None:
    """Train tokens at which one source reaches its limit, and the stage; None where it is not drawn to the end."""
    left, last = row.unique * limit, len(begins) - 1
    for stage, part in enumerate(row.stage_drawn):
        if part >= left or stage == last:
            share = row.shares[stage]
            if share > 0:
                return begins[stage] + left / share, stage
        left -= part
    return None


def _reached(row: SourceBudget, limit: Figure, phases: tuple[Phase, ...], stage: int) -> Figure:
    full, share = f.capacity(row.unique, limit), row.shares[stage]
    if stage == 0:
        return f.reached_at(full, share)
    parts = row.stage_drawn[:stage]
    before = parts[0] if stage == 1 else total(**{phases[i].name or f"{i}": one for i, one in enumerate(parts)})
    return f.reached_later(phases[stage].begin, full, before, share)


def interleaved(mixture: MixtureBudget) -> tuple[Figure | None, Figure | None]:
    """Items and tokens that interleave_datasets gives until its first source ends, by the weights of the first stage."""
    if mixture.contract is None or mixture.contract.name != "hf-interleave":
        return None, None
    rows = [row for row in mixture.rows if known(row) and row.weights[0] > 0]
    if not rows or len(rows) < sum(not known(row) or row.weights[0] > 0 for row in mixture.rows):
        return None, None
    first = min(rows, key=lambda row: row.unique / row.length / row.weights[0])
    items = f.interleaved_items(f.documents(first.unique, first.length), first.weights[0])
    mean = total_of({row.name: f.weighted_length(row.weights[0], row.length) for row in rows})
    return items, f.interleaved_tokens(items, mean)


def _named(mixture: MixtureBudget, place: int | None, at: Figure) -> Choice | Blocked:
    if place is None or not isinstance(at, Figure):
        return Blocked(at.code if isinstance(at, Blocked) else "none")
    name = mixture.rows[place].name
    return Choice.following(name, "the source that comes first", at)


def _place(tokens: TokenBudget, at: Figure) -> int:
    """The stretch of the run in which a number of train tokens lies."""
    ends = [one.begin + one.tokens for one in tokens.stretches]
    return next((i for i, end in enumerate(ends) if at <= end), len(ends) - 1)


def _stretches_known(tokens: TokenBudget) -> bool:
    return all(isinstance(one.begin, Figure) and isinstance(one.steps, Figure) for one in tokens.stretches)


def _before(parts: tuple[Figure, ...]) -> Figure:
    if not parts:
        return NOTHING
    return parts[0] if len(parts) == 1 else total_of({f"stretch {i + 1}": one for i, one in enumerate(parts)})


def _step(tokens: TokenBudget, at: Figure) -> Figure:
    if not isinstance(at, Figure) or not _stretches_known(tokens):
        return blocked(at.code) if isinstance(at, Blocked) else tokens.steps
    place = _place(tokens, at)
    one = tokens.stretches[place]
    before = _before(tuple(item.steps for item in tokens.stretches[:place]))
    return f.step_at(before, at, one.begin, one.step_tokens)


def _time(tokens: TokenBudget, at: Figure, times: tuple[Figure, ...], slowdown: Figure) -> Figure:
    if not isinstance(at, Figure) or not _stretches_known(tokens):
        stop: Quantity = at if isinstance(at, Blocked) else tokens.steps
        return blocked(stop.code if isinstance(stop, Blocked) else "none", "s")
    place = _place(tokens, at)
    one = tokens.stretches[place]
    return f.time_at(_before(times[:place]), at, one.begin, one.tokens, times[place], slowdown)


def _date(s: Situation, time: Figure) -> Choice | Blocked:
    start = s.plan.schedule.start
    if start is None or not isinstance(time, Figure):
        return Blocked("none" if start is None else time.code if isinstance(time, Blocked) else "none")
    try:
        day = start + dt.timedelta(seconds=float(time))
    except OverflowError:
        return Blocked("undefined:date", "text", (time,))
    return Choice.following(day.isoformat(), "schedule.start and the time from there", time)
