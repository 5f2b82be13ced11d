"""`completion SHELL`: a script that completes commands, each one's own options, the words that these take, and files.

All of it is read off the parser, so that an option cannot be left out. It refuses to start the program while somebody types.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final

from trainplan.catalogue import KINDS, names
from trainplan.plan.fields import RUNGS
from trainplan.rows.fields import field_paths
from trainplan.rows.ledgers import TABLES
from trainplan_tui.cli.arguments import app_parser, parser
from trainplan_tui.cli.running import Options, say

_FILES: Final = ("FILE", "PLAN", "MANIFEST", "LOG")
"""What an argument that is a file is called."""

_BASH: Final = """_trainplan_tui() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case ${COMP_WORDS[at]} in -*) ;; *) command=${COMP_WORDS[at]}; break ;; esac
  done
  case "$command $before" in
%(values)s
  esac
  case "$command $word" in
%(options)s
    " "*) COMPREPLY=($(compgen -W "%(commands)s" -- "$word") $(compgen -f -X '!*.toml' -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _trainplan_tui trainplan-tui"""

_ZSH: Final = """#compdef trainplan-tui
autoload -U +X bashcompinit && bashcompinit
%s"""


def run(options: Options) -> int:
    """Print the script of one shell."""
    scripts = {"bash": _bash, "zsh": lambda: _ZSH % _bash(), "fish": _fish}
    for line in scripts[options.shell]().splitlines():
        say(line)
    return 0


def _parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command; that of the app under an empty name."""
    inner = [one.choices for one in parser()._actions if isinstance(one, argparse._SubParsersAction)]
    return {"": app_parser(), **{str(name): sub for name, sub in inner[0].items()}}


def _words(command: str, action: argparse.Action) -> tuple[str, ...]:
    """The words that an argument takes, where they are known."""
    if action.choices is not None:
        return tuple(str(one) for one in action.choices)
    known: dict[str, tuple[str, ...]] = {
        "budget": tuple(TABLES),
        "rung": tuple(RUNGS),
        "set": field_paths(),
        "model": names("models"),
        "accelerator": names("accelerators"),
        "kind": KINDS,
    }
    return known.get(action.dest, ()) if command or action.dest == "set" else ()


def _arguments() -> Iterator[tuple[str, argparse.Action]]:
    """Every argument of every command with the command's name."""
    for command, sub in _parsers().items():
        for action in sub._actions:
            yield command, action


def _bash() -> str:
    values: list[str] = []
    for command, action in _arguments():
        words = _words(command, action)
        if action.option_strings and action.nargs != 0:
            named = "|".join(f'"{command} {one}"' for one in action.option_strings)
            reply = f'$(compgen -W "{" ".join(words)}" -- "$word")' if words else ""
            values.append(f"    {named}) COMPREPLY=({_file(action) or reply}); return ;;")
        elif words:
            values.append(
                f'    "{command} {command}") COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$word")); return ;;'
            )
    values += [
        f'    "catalog {kind}") COMPREPLY=($(compgen -W "{" ".join(names(kind))}" -- "$word")); return ;;'
        for kind in KINDS
    ]
    options = [
        f'    "{command} -"*) COMPREPLY=($(compgen -W "{" ".join(_options(sub))}" -- "$word")) ;;'
        for command, sub in _parsers().items()
    ]
    commands = " ".join(name for name in _parsers() if name)
    return _BASH % {"values": "\n".join(values), "options": "\n".join(options), "commands": commands}


def _options(sub: argparse.ArgumentParser) -> list[str]:
    return [one for action in sub._actions for one in action.option_strings]


def _file(action: argparse.Action) -> str:
    return '$(compgen -f -- "$word")' if action.metavar in _FILES else ""


def _fish() -> str:
    commands = [name for name in _parsers() if name]
    lines = [f'complete -c trainplan-tui -n __fish_use_subcommand -a "{" ".join(commands)}"']
    for command, action in _arguments():
        where = f"__fish_seen_subcommand_from {command}" if command else "__fish_use_subcommand"
        words = _words(command, action)
        told = f' -a "{" ".join(words)}"' if words else ""
        if action.option_strings:
            flags = " ".join(
                f"-l {one[2:]}" if one.startswith("--") else f"-s {one[1:]}" for one in action.option_strings
            )
            takes = "" if action.nargs == 0 else " -r -F" if _file(action) else " -x"
            lines.append(f'complete -c trainplan-tui -n "{where}" {flags}{takes}{told}')
        elif told:
            lines.append(f'complete -c trainplan-tui -n "{where}" -f{told}')
    lines += [
        f'complete -c trainplan-tui -n "__fish_seen_subcommand_from catalog; and __fish_seen_subcommand_from {kind}" '
        f'-f -a "{" ".join(names(kind))}"'
        for kind in KINDS
    ]
    return "\n".join(lines)
