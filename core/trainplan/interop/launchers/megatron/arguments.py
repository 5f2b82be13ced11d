"""Options of Megatron with their types: which one holds where several say the same, and what is wrong with a value.

As argparse does, the last of several holds, and a whole number may have underscores. A value that is not known, or stands under
a condition, says nothing: neither itself nor the program's default is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from trainplan.interop.launchers.megatron.names import silent
from trainplan.interop.launchers.options import Option, Token
from trainplan.interop.launchers.telling import Telling

_WHOLE: Final = re.compile(r"[+-]?\d+(?:_\d+)*")
MOST: Final = 10**15

RENAMED: Final = {
    "fp8_format": "fp8",
    "fp4_format": "fp4",
    "use_custom_fsdp": "use_megatron_fsdp",
    "use_flash_attn_v1": "use_flash_attn",
    "use_flash_attn_v2": "use_flash_attn",
    "use_flash_attn_triton": "use_flash_attn",
    "use_flash_attn_builder": "use_flash_attn",
    "model_parallel_size": "tensor_model_parallel_size",
}
"""Options whose argument has another name, or that older releases spelled otherwise: arguments.py of both programs."""

NEGATED: Final = {
    "disable_bias_linear": "add_bias_linear",
    "no_position_embedding": "add_position_embedding",
    "torch_fsdp2_no_reshard_after_forward": "torch_fsdp2_reshard_after_forward",
}
"""Flags that turn something off, by the argument that they set: Megatron-LM training/arguments.py."""


def _alike(one: Option, other: Option) -> bool:
    """Whether two options have the same values: 1 is 1.0, and words are theirs in any case."""
    pairs = zip(one.values, other.values, strict=False)
    return len(one.values) == len(other.values) and all(_same(first.text, second.text) for first, second in pairs)


def _same(one: str, other: str) -> bool:
    if one.casefold() == other.casefold():
        return True
    try:
        return float(one) == float(other)
    except ValueError:
        return False


class Arguments:
    """Options by the name of the parsed argument. `listing` are values as a log prints them: None, True, False, lists."""

    def __init__(self, options: Iterable[Option], telling: Telling, *, listing: bool) -> None:
        self.telling, self.listing = telling, listing
        self.used: set[str] = set()
        self.flags: set[str] = set()
        self._by: dict[str, Option] = {}
        self._open: dict[str, None] = {}
        self._under: list[Option] = []
        self.agreed: dict[str, str] = {}
        for option in options:
            self._take(option)
        self._agree()

    def _take(self, option: Option) -> None:
        name = self.called(option)
        before = self._by.get(name)
        if option.maybe:
            self._open[name] = None
            self._under.append(option)
            return
        if before is not None and not _alike(before, option):
            self._twice(before, option)
        self._by[name] = option

    def _twice(self, before: Option, option: Option) -> None:
        """In one file the last of several holds, as argparse takes it; two files that differ are two sources."""
        if before.place.file == option.place.file:
            self.telling.notes.append(
                f"{option.place}: {option.words} comes after {before.words} of line {before.place.line}; the last one holds"
            )
            return
        if silent(self.called(option)):
            self.telling.notes.append(
                f"{option.place}: {option.words}, and {before.words} at {before.place}; no plan rests on it"
            )
            return
        self.telling.problems.append(
            f"{option.place}: {option.words}, and {before.words} at {before.place}. Both have to say the same"
        )

    def _agree(self) -> None:
        """An option that stands under several conditions with one value is taken, and said."""
        for name in [one for one in self._open if one not in self._by]:
            under = [option for option in self._under if self.called(option) == name]
            if len(under) > 1 and len({tuple(value.text for value in option.values) for option in under}) == 1:
                self._open.pop(name, None)
                self._by[name] = Option(under[0].name, under[0].spelled, under[0].values, under[0].place)
                self._under = [option for option in self._under if option not in under]
                lines = " and ".join(str(option.place.line) for option in under)
                self.agreed[name] = f"{under[0].place}: {under[0].words} stands under conditions, lines {lines}; taken"

    def called(self, option: Option) -> str:
        """The argument that an option sets."""
        return option.name if self.listing else NEGATED.get(option.name, RENAMED.get(option.name, option.name))

    @property
    def conditional(self) -> tuple[Option, ...]:
        """Options that stand under a condition, and of which nothing is taken."""
        return tuple(self._under)

    @property
    def names(self) -> dict[str, Option]:
        """Every option that holds, by the name of its argument."""
        return self._by

    def has(self, name: str) -> bool:
        """Whether an argument is said at all."""
        return self.option(name) is not None

    def option(self, name: str) -> Option | None:
        """The option of an argument; None where it is not said, or None in a listing."""
        self.used.add(name)
        found = self._by.get(name)
        if found is not None and self.listing and found.values and found.values[0].text == "None":
            return None
        return found

    def open(self, name: str) -> bool:
        """Whether an argument is said and its value not known, so that no default may stand for it."""
        self.used.add(name)
        found = self._by.get(name)
        return name in self._open or (found is not None and bool(found.values) and bool(found.values[0].unknown))

    def token(self, name: str, *, several: bool = False) -> Token | None:
        """The one value of an argument; None where it is not said or not known, and what is wrong is told.

        `several` is whether more values may stand behind the first.
        """
        option = self.option(name)
        if option is None or name in self._open:
            return None
        if not option.values:
            self.telling.problems.append(
                f"{option.place}: {option.spelled} has no value. {option.spelled} VALUE is right"
            )
            self._open[name] = None
            return None
        token = option.values[0]
        for more in () if several else option.values[1:]:
            self._stray(option, more)
        if token.unknown:
            self.telling.notes.append(f"{token.place}: {option.spelled}: {token.unknown}; left out")
            self._open[name] = None
            return None
        if token.fallback:
            self.telling.notes.append(
                f"{token.place}: {option.spelled} {token.text} is what the file takes where {_dollar(token.fallback)} is not set"
            )
        return token

    def _stray(self, option: Option, token: Token) -> None:
        if token.unknown:
            self.telling.notes.append(f"{token.place}: {token.unknown}: what it passes is not read")
        elif not self.listing and not token.dashed:
            self.telling.problems.append(
                f"{token.place}: {token.text[:40]!r} stands behind {option.words.rsplit(' ', 1)[0]}, which does not take it"
            )

    def count(self, name: str, least: int = 1) -> int | None:
        """A whole number from `least`."""
        token = self.token(name)
        if token is None:
            return None
        if not _WHOLE.fullmatch(token.text) or not least <= int(token.text.replace("_", "")[:30]) <= MOST:
            return self._wrong(name, token, f"A whole number from {least} is right")
        return int(token.text.replace("_", ""))

    def _wrong(self, name: str, token: Token, right: str) -> None:
        spelled = self._by[name].spelled
        self.telling.problems.append(f"{token.place}: {spelled} is {token.text[:60]!r}. {right}")
        self._open[name] = None

    def real(self, name: str, most: float) -> float | None:
        """A number from 0 to `most`."""
        token = self.token(name)
        if token is None:
            return None
        try:
            value = float(token.text)
        except ValueError:
            value = -1.0
        if not 0.0 <= value <= most:
            return self._wrong(name, token, f"A number from 0 to {most:g} is right")
        return value

    def word(self, name: str, words: Iterable[str]) -> str | None:
        """One of some words."""
        token = self.token(name)
        if token is None:
            return None
        text = token.text.rpartition(".")[2] if self.listing else token.text
        known = tuple(words)
        if text not in known:
            return self._wrong(name, token, f"One of {', '.join(known)} is right")
        return text

    def flag(self, name: str, *, default: bool = False) -> bool | None:
        """Whether a flag is set, by itself or by one that turns it off; `default` where nothing sets it, None where it is open."""
        option = self.option(name)
        self.flags.add(name)
        if name in self._open:
            return None
        if option is None:
            return default
        if self.listing:
            text = option.values[0].text if option.values else ""
            if text not in ("True", "False"):
                self._wrong(name, option.values[0], "True or False is right")
                return None
            return text == "True"
        for token in option.values:
            self._stray(option, token)
        return option.name not in NEGATED


def _dollar(name: str) -> str:
    return f"${name.lstrip('$')}"
