"""`completion SHELL`: a script that completes commands, options and plan files."""

from __future__ import annotations

from trainplan.catalogue import KINDS
from trainplan.rows.ledgers import TABLES
from trainplan_tui.cli.arguments import COMMANDS
from trainplan_tui.cli.running import Options, say

_OPTIONS = "--set --json --plain --ascii --budget --depth --top --by --nodes --forks --csv --output --help"

_BASH = """_trainplan_tui() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  case $before in
    trainplan-tui) COMPREPLY=($(compgen -W "%(commands)s" -- "$word") $(compgen -f -X '!*.toml' -- "$word")); return ;;
    catalog) COMPREPLY=($(compgen -W "%(kinds)s" -- "$word")); return ;;
    --by) COMPREPLY=($(compgen -W "time memory cost" -- "$word")); return ;;
    --budget) COMPREPLY=($(compgen -W "%(budgets)s" -- "$word")); return ;;
    completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")); return ;;
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "%(options)s" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _trainplan_tui trainplan-tui"""

_ZSH = """#compdef trainplan-tui
autoload -U +X bashcompinit && bashcompinit
%(bash)s"""

_FISH = """complete -c trainplan-tui -n __fish_use_subcommand -a "%(commands)s"
complete -c trainplan-tui -n "__fish_seen_subcommand_from catalog" -a "%(kinds)s"
complete -c trainplan-tui -n "__fish_seen_subcommand_from completion" -a "bash zsh fish"
complete -c trainplan-tui -l set -x
complete -c trainplan-tui -l json
complete -c trainplan-tui -l plain
complete -c trainplan-tui -n "__fish_seen_subcommand_from search" -l by -x -a "time memory cost"
complete -c trainplan-tui -n "__fish_seen_subcommand_from search" -l top -x
complete -c trainplan-tui -n "__fish_seen_subcommand_from search" -l nodes
complete -c trainplan-tui -n "__fish_seen_subcommand_from search" -l forks
complete -c trainplan-tui -n "__fish_seen_subcommand_from report" -l csv
complete -c trainplan-tui -n "__fish_seen_subcommand_from report new import" -s o -l output -r
complete -c trainplan-tui -l ascii
complete -c trainplan-tui -l budget -x -a "%(budgets)s\""""


def run(options: Options) -> int:
    """Print the script of one shell."""
    words = {"commands": " ".join(COMMANDS), "kinds": " ".join(KINDS), "budgets": " ".join(TABLES), "options": _OPTIONS}
    scripts = {"bash": _BASH % words, "zsh": _ZSH % {"bash": _BASH % words}, "fish": _FISH % words}
    for line in scripts[options.shell].splitlines():
        say(line)
    return 0
