"""Launch scripts and argument listings of Megatron-LM and Megatron-DeepSpeed as what they say of a plan.

Every option is used, or listed: as without a bearing on a plan, as one that a plan has no field for, or as not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from trainplan.interop.launchers.devices import devices
from trainplan.interop.launchers.megatron.arguments import Arguments
from trainplan.interop.launchers.megatron.batch import batch
from trainplan.interop.launchers.megatron.layout import layout
from trainplan.interop.launchers.megatron.lines import options_of_lines
from trainplan.interop.launchers.megatron.listing import options_of_listing
from trainplan.interop.launchers.megatron.model import SHAPE, shape
from trainplan.interop.launchers.megatron.saying import Saying
from trainplan.interop.launchers.megatron.training import training
from trainplan.interop.launchers.options import Option
from trainplan.interop.launchers.places import Page, Place
from trainplan.interop.launchers.script.commands import CORE, Launch
from trainplan.interop.launchers.telling import Telling, unheard

_OTHERS: Final = {
    "pretrain_bert": "an encoder",
    "pretrain_t5": "an encoder beside a decoder",
    "pretrain_ict": "encoders",
    "pretrain_vision": "a model of images",
    "pretrain_retro": "a model that attends to documents beside it",
    "pretrain_mamba": "layers that are not attention",
    "pretrain_hybrid": "layers that are not attention",
    "pretrain_vlm": "a model of images beside the text",
    "pretrain_mimo": "models of other inputs beside the text",
}
"""Programs of Megatron whose model a plan cannot say."""


def tellings_of_launch(launch: Launch, *, deep: bool) -> list[Telling]:
    """What a launch says; `deep` is whether a DeepSpeed configuration stands beside it."""
    found = [devices(launch.launcher, scheduler=False), devices(launch.scheduler, scheduler=True)]
    if launch.options and not any(option.name in CORE for option in launch.options):
        found[0].unknown.extend(f"{option.spelled} of line {option.place.line}" for option in launch.options)
    elif launch.options:
        found.append(_telling(launch.options, listing=False, deep=deep, program=launch.program))
    found[0].notes.extend(launch.notes)
    found[0].problems.extend(launch.problems)
    return found


def telling_of_listing(page: Page, *, deep: bool) -> Telling:
    """What the argument listing of a log says."""
    options, times = options_of_listing(page)
    t = _telling(options, listing=True, deep=deep, program="")
    if times > 1:
        t.notes.insert(0, f"{options[0].place}: the log has {times} listings of arguments; the last one holds")
    return t


def telling_of_lines(page: Page, *, deep: bool) -> Telling:
    """What lines of `--option: value` say. Raises LineError."""
    return _telling(options_of_lines(page), listing=False, deep=deep, program="")


def is_deep(options: Iterable[Option]) -> bool:
    """Whether options are those of Megatron-DeepSpeed."""
    names = {option.name: option for option in options}
    flag = names.get("deepspeed")
    off = flag is not None and flag.values and flag.values[0].text == "False"
    return (flag is not None and not off) or any(_said(names.get(name)) for name in ("deepspeed_config", "ds_config"))


def _said(option: Option | None) -> bool:
    return option is not None and not (option.values and option.values[0].text == "None")


def _telling(options: tuple[Option, ...], *, listing: bool, deep: bool, program: str) -> Telling:
    t = Telling()
    a = Arguments(options, t, listing=listing)
    place = next((a.names[name].place for name in SHAPE if name in a.names), options[0].place)
    s = Saying(a, t, place, deep or is_deep(options))
    a.used.update(("deepspeed", "deepspeed_config", "ds_config"))
    other = next((what for name, what in _OTHERS.items() if program.startswith(name)), "")
    if other:
        t.problems.append(f"{place}: {program} trains {other}. A plan is of a decoder of text")
    shape(s)
    layout(s)
    training(s)
    batch(s)
    _inconsistent(s, place)
    _others(a, t)
    return t


def _inconsistent(s: Saying, place: Place) -> None:
    """What Megatron's own `validate_args` refuses of a model and its sequence."""
    longest, length = s.telling.value("model.max_position_embeddings"), s.telling.value("data.sequence_length")
    learned = s.telling.value("model.position_embedding") == "learned"
    if longest and length and longest < length and learned:
        s.problem(
            "max_position_embeddings",
            f"--max-position-embeddings is {longest:,}, a sequence is {length:,} tokens. As many at least are right",
        )


def _others(a: Arguments, t: Telling) -> None:
    """Options that nothing asked for, sorted by whether they are known."""
    from trainplan.interop.launchers.megatron.names import FIELDLESS, FLAGS, silent

    for name, told in a.agreed.items():
        if name in a.used or not silent(a.names[name].name):
            t.notes.append(told)
    for option in a.conditional:
        if silent(option.name) and a.called(option) not in a.used:
            t.silent.append(option.spelled)
        else:
            t.notes.append(f"{option.place}: {option.words}: {option.maybe}; not read")
    for name, option in a.names.items():
        if name in a.used or (a.listing and option.values and option.values[0].text in ("None", "False", "[]", "")):
            continue
        spelled = option.spelled
        if name in FIELDLESS and not (a.listing and option.values[0].text in ("0", "1", "0.0", "1.0")):
            t.fieldless.append(f"{spelled} ({FIELDLESS[name]})")
        elif silent(name) or name in FIELDLESS:
            t.silent.append(spelled)
        elif not a.listing:
            t.unknown.append(f"{spelled} of line {option.place.line}")
        else:
            t.unknown.append(spelled)
        kept = 0 if name in FLAGS else 1
        for token in option.values[kept:]:
            if token.unknown:
                t.notes.append(f"{token.place}: {token.unknown}: what it passes is not read")
    if not a.listing:
        read = (option.spelled for name, option in a.names.items() if name in a.used and name != "deepspeed")
        t.idle.extend(unheard(t, read))
