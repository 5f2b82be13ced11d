"""The door: files of any kind that import reads, by what is in them, and the plan that they make together.

Each format's reader is imported only when a file of its kind is there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from trainplan.frozen import frozen
from trainplan.interop.launchers.facts import plan_paths, settle
from trainplan.interop.launchers.kinds import json_kind, kind_of
from trainplan.interop.launchers.places import Page, Place
from trainplan.interop.launchers.telling import Said, Telling, together
from trainplan.interop.launchers.written import plan_text
from trainplan.interop.otherfiles import READS


class ImportRefused(ValueError):
    """Files that cannot be used, each reason in one sentence with its place."""


@frozen
class Made:
    """A plan's name and text, and everything that a person has to know of how it came about.

    `findings` are what is inconsistent in the plan, at the places of the files.
    """

    name: str
    text: str
    notes: tuple[str, ...]
    silent: tuple[str, ...]
    fieldless: tuple[str, ...]
    unknown: tuple[str, ...]
    idle: tuple[str, ...]
    findings: tuple[str, ...]


@dataclass(slots=True)
class _Sorted:
    """Pages by their kind, in the order in which they were given."""

    scripts: list[Page]
    listings: list[Page]
    lines: list[Page]
    deep: list[Page]
    titan: list[Page]
    models: list[Page]


def plan_of_files(files: Sequence[tuple[str, str]]) -> Made:
    """The plan that files make, as pairs of a name and a text. Raises ImportRefused with every reason."""
    pages = [Page(name, text) for name, text in files]
    sorted_pages = _by_kind(pages)
    tellings = _tellings(sorted_pages)
    whole = together(tellings)
    if not whole.problems:
        settle(whole)
        _without_configuration(whole)
    if whole.problems:
        raise ImportRefused("\n".join(dict.fromkeys(whole.problems)))
    said = plan_paths(whole)
    if not said:
        told = f"nothing of a plan is said here. Import reads {READS}"
        raise ImportRefused(f"{pages[0].place(0)}: {_recognised(pages[0]) or told}")
    name = plan_name(files[0][0])
    text = plan_text(name, _spoken(said), [page.file for page in pages])
    findings = _findings(text, said)
    return Made(
        name,
        text,
        tuple(dict.fromkeys(whole.notes)),
        tuple(dict.fromkeys(whole.silent)),
        tuple(dict.fromkeys(whole.fieldless)),
        tuple(dict.fromkeys(whole.unknown)),
        tuple(dict.fromkeys(whole.idle)),
        findings,
    )


def _without_configuration(whole: Telling) -> None:
    """Say that a DeepSpeed run's stage is not known where no configuration says it: a default would stand for it in silence."""
    program = whole.said.get("training.framework")
    if program is not None and program.value == "deepspeed" and "parallelism.sharding" not in whole.said:
        told = "no file says the stage of ZeRO; parallelism.sharding is left out, which means zero-1"
        whole.notes.append(f"{program.place}: {told}")


def plan_name(file: str) -> str:
    """A plan's name from a file's: that of its folder where the file is called config."""
    folder = os.path.basename(os.path.dirname(os.path.realpath(file)))
    stem = os.path.splitext(os.path.basename(file))[0]
    return folder if stem == "config" and folder else stem


def _by_kind(pages: Sequence[Page]) -> _Sorted:
    found = _Sorted([], [], [], [], [], [])
    homes = {
        "script": found.scripts,
        "listing": found.listings,
        "lines": found.lines,
        "deepspeed": found.deep,
        "titan": found.titan,
        "model": found.models,
    }
    refused: list[str] = []
    for page in pages:
        kind = kind_of(page)
        if kind:
            homes[kind].append(page)
        else:
            refused.append(f"{page.place(0)}: {_other(page)}")
    if refused:
        raise ImportRefused("\n".join(refused))
    return found


def _other(page: Page) -> str:
    return _recognised(page) or f"import does not know it. It reads {READS}"


def _recognised(page: Page) -> str:
    from trainplan.interop.otherfiles import recognised

    return recognised(page.text)


def _tellings(pages: _Sorted) -> list[Telling]:
    found: list[Telling] = [_model(page) for page in pages.models]
    deep = list(pages.deep)
    programs: list[Telling] = []
    if pages.scripts:
        from trainplan.interop.launchers.megatron.reading import tellings_of_launch
        from trainplan.interop.launchers.script.commands import ScriptError, launch_of

        try:
            launch = launch_of(pages.scripts)
        except ScriptError as error:
            raise ImportRefused(str(error)) from None
        deep += _documents(launch.documents)
        programs = tellings_of_launch(launch, deep=bool(deep))
    for page in pages.listings:
        from trainplan.interop.launchers.megatron.reading import telling_of_listing

        programs.append(telling_of_listing(page, deep=bool(deep)))
    programs += [_lines(page, deep=bool(deep)) for page in pages.lines]
    for page in deep:
        from trainplan.interop.launchers.deepspeed import telling_of_deepspeed

        programs.append(telling_of_deepspeed(page))
    for page in pages.titan:
        from trainplan.interop.launchers.titan.reading import telling_of_titan

        programs.append(telling_of_titan(page))
    return [*found, *programs]


def _lines(page: Page, *, deep: bool) -> Telling:
    from trainplan.interop.launchers.megatron.lines import LineError
    from trainplan.interop.launchers.megatron.reading import telling_of_lines

    try:
        return telling_of_lines(page, deep=deep)
    except LineError as error:
        raise ImportRefused(str(error)) from None


def _documents(documents: Sequence[tuple[str, Place]]) -> list[Page]:
    """DeepSpeed configurations that a script writes, on pages whose lines are those of the script."""
    return [
        Page(place.file, "\n" * (place.line - 1) + text)
        for text, place in documents
        if text.lstrip().startswith("{") and json_kind(text) == "deepspeed"
    ]


def _model(page: Page) -> Telling:
    """What a config.json says, each field at its key where the file has one of that name."""
    from trainplan.interop.huggingface.config import FORMAT, SIZES, model_of_config

    t = Telling()
    try:
        config: Any = json.loads(page.text)
    except (ValueError, RecursionError) as error:
        raise ImportRefused(f"{page.place(getattr(error, 'pos', 0))}: not JSON that can be read. {READS}") from None
    if not isinstance(config, dict):
        raise ImportRefused(f"{page.place(0)}: not an object. The config.json of a Hugging Face model")
    try:
        imported = model_of_config(cast("dict[str, Any]", config))
    except ValueError as error:
        raise ImportRefused(f"{page.place(0)}: {error}") from None
    other = _recognised(page) if imported.problems else ""
    if other:
        raise ImportRefused(f"{page.place(0)}: {other}")
    t.notes.extend(f"{page.place(0)}: {note}" for note in imported.notes)
    t.problems.extend(f"{page.place(0)}: {problem}" for problem in imported.problems)
    t.unknown.extend(imported.unknown)
    fields = dict(_flat(imported.model, "model"))
    for path, value in fields.items():
        field = path.rpartition(".")[2]
        offset = next((at for key in SIZES.get(field, (field,)) if (at := page.text.find(f'"{key}"')) >= 0), 0)
        t.say(path, value, page.place(offset), f"{field} of {os.path.basename(page.file)}")
    for path, value in FORMAT.items():
        if path not in fields:
            t.say(path, value, page.place(0), f"its architecture in {os.path.basename(page.file)}")
    return t


def _flat(table: Mapping[str, Any], path: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        if isinstance(value, dict):
            found.extend(_flat(cast("dict[str, Any]", value), f"{path}.{key}"))
        else:
            found.append((f"{path}.{key}", value))
    return found


def _spoken(said: Mapping[str, Said]) -> dict[str, Said]:
    """What is written: an absent field of a model means the same as its default, and is left out as it is of a config.json."""
    from trainplan.interop.huggingface.config import speaks

    kept = {path: one for path, one in said.items() if _kept(path, one.value, speaks)}
    groups, heads = kept.get("model.num_key_value_heads"), kept.get("model.num_attention_heads")
    if groups is not None and heads is not None and groups.value == heads.value:
        del kept["model.num_key_value_heads"]
    return kept


def _kept(path: str, value: Any, speaks: Callable[[str, Any], bool]) -> bool:
    return not path.startswith("model.") or path.count(".") > 1 or speaks(path.partition(".")[2], value)


def _findings(text: str, said: Mapping[str, Said]) -> tuple[str, ...]:
    """What the plan's own checks find wrong in what the files say, at the lines that say it. Raises ImportRefused."""
    from trainplan.checks import findings_at_once
    from trainplan.estimation import estimate
    from trainplan.plan.read import Unusable, plan_of_text

    try:
        plan = plan_of_text(text, "plan")
    except Unusable as error:
        told = [f"{said[one.path].place}: {one.message}" if one.path in said else str(one) for one in error.errors]
        raise ImportRefused("\n".join(told)) from None
    found: dict[tuple[Place, str], list[str]] = {}
    for one in findings_at_once(estimate(plan)):
        place = next((said[path].place for path in one.paths if path in said), None)
        if one.severity == "error" and ":" not in one.code and place is not None:
            told = f"{place}: {one.coded(one.message)}" + (f". {one.fix}" if one.fix else "")
            found.setdefault((place, one.code), []).append(told)
    return tuple(told[0] + (f" (and {len(told) - 1} more)" if len(told) > 1 else "") for told in found.values())
