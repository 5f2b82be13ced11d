"""Edits of lists and mixtures that touch more than one field and are one edit: adding, removing and moving sources and stages,
and weights that keep their stage's sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trainplan.plan.edit import Edited, PathOf, literal_of_typed, resolve
from trainplan.plan.literals import literal_of
from trainplan.plan.plan import Plan
from trainplan.plan.read import PlanError, Unusable, plan_of_text
from trainplan.plan.splice import append_entry, move_entry, remove_entry, remove_value, set_value
from trainplan.plan.tree import SpliceError
from trainplan.quantity.unit import UnitError, parse

TOLERANCE = 1e-6
"""How far from 1 a sum of weights may be and still count as 1."""


def weights_of(plan: Plan, stage: int | None) -> dict[str, float]:
    """Weights by source: of a stage that names its own, else the sources' own."""
    if stage is not None and plan.data.stages[stage].weights is not None:
        return {name: float(weight) for name, weight in (plan.data.stages[stage].weights or {}).items()}
    return {
        source.name: float(source.weight) for source in plan.data.sources if source.name and source.weight is not None
    }


def weight_path(plan: Plan, stage: int | None, name: str) -> str:
    """The plan path of a source's weight in a stage."""
    if stage is not None and plan.data.stages[stage].weights is not None:
        return f"data.stages.{plan.data.stages[stage].name or stage}.weights.{name}"
    return f"data.sources.{name}.weight"


def stage_of(path: str, plan: Plan) -> int | None:
    """The stage whose weights a path is in; None for a source's own weight."""
    parts = path.split(".")
    if parts[:2] != ["data", "stages"]:
        return None
    found = resolve(".".join(parts[:3]), plan)[2]
    return found if isinstance(found, int) else None


def is_weight(path: str) -> bool:
    """Whether a path is a weight of the mixture."""
    parts = path.split(".")
    return (parts[:2] == ["data", "sources"] and parts[-1] == "weight") or (
        parts[:2] == ["data", "stages"] and "weights" in parts
    )


def rebalanced(plan: Plan, path: str, typed: str) -> tuple[str, float] | None:
    """The other weight that changes when this one is typed, so that the stage's sum stays 1; None where nothing else moves.

    The difference goes to the largest other source. Nothing moves where the sum was not 1, or where there is no room.
    """
    if not is_weight(path):
        return None
    try:
        after = parse(typed, "share")
    except UnitError:
        return None
    stage, name = stage_of(path, plan), path.split(".")[2] if path.endswith(".weight") else path.rsplit(".", 1)[-1]
    weights = weights_of(plan, stage)
    if abs(sum(weights.values()) - 1) > TOLERANCE or (name not in weights and stage is None):
        return None
    others = {other: weight for other, weight in weights.items() if other != name}
    if not others:
        return None
    largest = max(others, key=lambda other: others[other])
    rest = round(others[largest] + weights.get(name, 0.0) - after, 12)
    return None if rest < 0 or rest == others[largest] else (weight_path(plan, stage, largest), rest)


def normalised(text: str, plan: Plan, stage: int | None, file: str) -> Edited:
    """The weights of a stage divided by their sum. Raises Unusable."""
    weights = weights_of(plan, stage)
    whole = sum(weights.values())
    edits = {weight_path(plan, stage, name): f"{weight / whole:.12g}" for name, weight in weights.items() if whole}
    return with_fields(text, plan, edits, file)


def with_fields(text: str, plan: Plan, literals: Mapping[str, str], file: str, left_out: Sequence[str] = ()) -> Edited:
    """Several fields set to TOML source, and some left out, as one edit. Raises Unusable."""
    for path in left_out:
        text = _without(text, resolve(path, plan))
    return _edited(text, [(resolve(path, plan), literal) for path, literal in literals.items()], file)


def _without(text: str, path: PathOf) -> str:
    """The text without a field; the same text where it is not written."""
    try:
        return remove_value(text, path)
    except SpliceError:
        return text


def _edited(text: str, edits: Sequence[tuple[PathOf, str]], file: str) -> Edited:
    try:
        for path, literal in edits:
            text = set_value(text, path, literal)
    except SpliceError as error:
        raise _unusable(file, error) from None
    return Edited(text, plan_of_text(text, file))


def _unusable(file: str, error: SpliceError) -> Unusable:
    return Unusable((PlanError(file, 1, 1, "", str(error), ""),))


def with_source(text: str, plan: Plan, words: str, file: str) -> Edited:
    """One more source from `NAME UNIQUE_TOKENS [WEIGHT]`. Raises Unusable."""
    parts = words.split()
    if len(parts) not in (2, 3):
        raise Unusable(
            (PlanError(file, 1, 1, "data.sources", "name, unique tokens and perhaps a weight: books 250B 0.05", ""),)
        )
    items = {"name": literal_of(parts[0]), "unique_tokens": literal_of(parts[1])}
    own = any(source.weight is not None for source in plan.data.sources)
    if len(parts) == 3 or own:
        items["weight"] = parts[2] if len(parts) == 3 else "0"
    return _appended(text, ("data", "sources"), items, file)


def with_stage(text: str, plan: Plan, words: str, file: str) -> Edited:
    """One more stage from `NAME [UNTIL_TOKENS]`. Raises Unusable."""
    parts = words.split()
    if len(parts) not in (1, 2):
        raise Unusable(
            (PlanError(file, 1, 1, "data.stages", "a name and perhaps the tokens at which it ends: anneal 15T", ""),)
        )
    items = {"name": literal_of(parts[0])}
    if len(parts) == 2:
        items["until_tokens"] = literal_of(parts[1])
    return _appended(text, ("data", "stages"), items, file)


def with_task(text: str, plan: Plan, words: str, file: str) -> Edited:
    """One more evaluation task from `TASK [SHOTS]`; the task is a catalogue entry. Raises Unusable."""
    parts = words.split()
    if len(parts) not in (1, 2):
        raise Unusable((PlanError(file, 1, 1, "evaluation.tasks", "a task and perhaps its shots: mmlu 5", ""),))
    items = {"task": literal_of(parts[0])}
    if len(parts) == 2:
        items["shots"] = parts[1]
    return _appended(text, ("evaluation", "tasks"), items, file)


def with_batch(text: str, plan: Plan, words: str, file: str) -> Edited:
    """One more entry of the batch schedule from `FROM_TOKENS SEQUENCES`, in its place by tokens. Raises Unusable.

    A first entry that does not begin at 0 gets one before it, with the batch that the plan has.
    """
    parts = words.split()
    try:
        begin = parse(parts[0], "tokens") if len(parts) == 2 else None
    except UnitError:
        begin = None
    if begin is None:
        wanted = "the tokens from which it holds, and sequences in a step: 250B 1024"
        raise Unusable((PlanError(file, 1, 1, "batch.schedule", wanted, ""),))
    schedule, now = plan.batch.schedule, plan.batch.global_batch_sequences
    items = {"from_tokens": literal_of_typed(parts[0]), "global_batch_sequences": literal_of_typed(parts[1])}
    if not schedule:
        first = [f"{{ from_tokens = 0, global_batch_sequences = {int(now)} }}"] if begin > 0 and now else []
        entry = f"{{ {', '.join(f'{key} = {value}' for key, value in items.items())} }}"
        return _edited(text, [(("batch", "schedule"), f"[{', '.join([*first, entry])}]")], file)
    after = _appended(text, ("batch", "schedule"), items, file)
    place = sum(one.from_tokens is None or one.from_tokens <= begin for one in schedule)
    if place == len(schedule):
        return after
    try:
        moved = move_entry(after.text, ("batch", "schedule", len(schedule)), place)
    except SpliceError as error:
        raise _unusable(file, error) from None
    return Edited(moved, plan_of_text(moved, file))


def with_mixture(text: str, plan: Plan, stage: int, weights: Mapping[str, float], file: str) -> Edited:
    """Weights of its own for a stage. Raises Unusable."""
    literal = literal_of({name: float(f"{weight:.12g}") for name, weight in weights.items()})
    return _edited(text, [(("data", "stages", stage, "weights"), literal)], file)


def _appended(text: str, path: PathOf, items: Mapping[str, str], file: str) -> Edited:
    try:
        after = append_entry(text, path, items)
    except SpliceError as error:
        raise _unusable(file, error) from None
    return Edited(after, plan_of_text(after, file))


def without_entry(text: str, plan: Plan, path: str, file: str) -> Edited:
    """The entry at a path taken out; a source goes out of every stage's weights too. Raises Unusable."""
    keys = resolve(path, plan)
    try:
        if keys[:2] == ("data", "sources"):
            text = _without_weights(text, plan, str(plan.data.sources[int(keys[2])].name))
        after = remove_entry(text, keys)
    except SpliceError as error:
        raise _unusable(file, error) from None
    return Edited(after, plan_of_text(after, file))


def _without_weights(text: str, plan: Plan, name: str) -> str:
    for index, stage in enumerate(plan.data.stages):
        if name in (stage.weights or {}):
            text = remove_value(text, ("data", "stages", index, "weights", name))
    return text


def moved_entry(text: str, plan: Plan, path: str, step: int, file: str) -> Edited | None:
    """The entry at a path moved by one place; None at the end of its list. Raises Unusable."""
    keys = resolve(path, plan)
    entries = plan.data.sources if keys[1] == "sources" else plan.data.stages
    place = int(keys[2]) + step
    if not 0 <= place < len(entries):
        return None
    try:
        after = move_entry(text, keys, place)
    except SpliceError as error:
        raise _unusable(file, error) from None
    return Edited(after, plan_of_text(after, file))
