"""The words of the command line, as argparse knows them. Each command's help says what it does and nothing else."""

from __future__ import annotations

import argparse
from typing import Any, Final, NoReturn

from trainplan import __version__

COMMANDS: Final = {
    "show": "print the tables of a plan",
    "set": "change fields in the file, comments and layout kept; all of them are one edit",
    "explain": "one number: formula, inputs, sources, as a tree",
    "check": "print the findings; exit status 1 with errors",
    "diff": "what differs between two plans, in fields and in numbers",
    "search": "legal layouts of the plan's cluster, ranked, and why others were rejected",
    "forecast": "finish and cost as P10, P50 and P90, from simulated histories",
    "review": "readiness and pilot state without the app; exit status 1 while not ready",
    "report": "a Markdown report to attach to a review, or the quantities as CSV",
    "export": "text for a real launcher; nothing is submitted",
    "new": "write a new plan",
    "import": "files of other programs as a plan: config.json, Megatron, DeepSpeed, torchtitan",
    "sources": "fill sources from manifests, beside what the plan says",
    "calibrate": "what logs measured, beside what the plan assumes",
    "catalog": "models, accelerators and more, as sourced data",
    "schema": "JSON Schema of the plan file, for editors",
    "completion": "completion script for a shell",
}

DESCRIPTION: Final = """Plans an LLM training run before anyone submits it.

trainplan-tui [PLAN] opens the app; with no PLAN, a start screen. Commands print and never open the app."""

STATUSES: Final = """exit status: 0 done, also where a search finds nothing that fits (`fitting` in its --json is the count);
1 from check with errors and from review while not ready; 2 a file or arguments that cannot be used; 130 interrupted"""


class Words(argparse.ArgumentParser):
    """A parser that refuses as this program does; the words for it are imported when there is something to refuse."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            from trainplan_tui.cli.refusing import choice

            raise argparse.ArgumentError(action, choice(str(value), action.choices))

    def read(self, words: list[str]) -> argparse.Namespace:
        """The words parsed; those that are left are refused by the command that was meant."""
        found, left = self.parse_known_args(words)
        if left:
            from trainplan_tui.cli.refusing import command, left_over

            meant = command(self, getattr(found, "command", None))
            meant.error(left_over(meant, left[0]))
        return found

    def error(self, message: str) -> NoReturn:
        """End with status 2 and one sentence."""
        from trainplan_tui.cli.refusing import end

        end(self, message)


def _whole(text: str) -> int:
    """A whole number, plain or as 1e4 and 10_000."""
    try:
        number = float(text.replace(",", ""))
        if number == int(number):
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise argparse.ArgumentTypeError(f'is "{text}". A whole number such as 10 is right')


def parser() -> Words:
    """The parser of all commands that print."""
    main = Words(
        "trainplan-tui",
        description=DESCRIPTION,
        epilog=STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    main.add_argument("--version", action="version", version=f"trainplan-tui {__version__}")
    _look(main)
    commands = main.add_subparsers(dest="command", metavar="COMMAND")
    for name, sentence in COMMANDS.items():
        sub = commands.add_parser(name, help=sentence, description=sentence[0].upper() + sentence[1:] + ".")
        _ADDERS[name](sub)
    return main


def app_parser() -> Words:
    """The parser of `trainplan-tui [PLAN]`."""
    main = Words("trainplan-tui", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    main.add_argument("plan", nargs="?", help="plan file to open")
    main.add_argument("--theme", choices=("terminal-dark", "terminal-light", "dark", "light"), default="dark")
    main.add_argument("--ascii", action="store_true", help="draw without Unicode")
    main.add_argument(
        "--set", action="append", default=[], metavar="PATH=VALUE", help="open with a field changed, unsaved"
    )
    return main


def _look(sub: Words) -> None:
    sub.add_argument("--ascii", action="store_true", help="print without Unicode")


def _plan(sub: Words) -> None:
    sub.add_argument("plan", metavar="PLAN", help="plan file")
    sub.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="a field changed for this call; may be repeated",
    )
    _look(sub)


def _json(sub: Words) -> None:
    sub.add_argument("--json", action="store_true", help="one JSON object on stdout and nothing else")


def _show(sub: Words) -> None:
    _plan(sub)
    sub.add_argument(
        "--budget",
        metavar="B",
        help="one budget: overview, tokens, compute, memory, parallelism, storage, reliability, evaluation, pilot, readiness",
    )
    sub.add_argument("--plain", action="store_true", help="one fact a line, for screen readers and pipes")
    sub.add_argument("--help-rows", action="store_true", help="what each row of the budget means")
    _json(sub)


def _set(sub: Words) -> None:
    sub.add_argument("plan", metavar="PLAN", help="plan file")
    sub.add_argument("assignments", nargs="+", metavar="PATH=VALUE", help="data.train_tokens=15.6T")
    _look(sub)


def _explain(sub: Words) -> None:
    _plan(sub)
    sub.add_argument("key", metavar="KEY", help="compute.cost")
    sub.add_argument("--depth", type=_whole, default=99, metavar="N", help="levels of the tree")
    sub.add_argument("--plain", action="store_true", help="one fact a line")
    _json(sub)


def _check(sub: Words) -> None:
    _plan(sub)
    _json(sub)


def _review(sub: Words) -> None:
    _plan(sub)
    _json(sub)


def _report(sub: Words) -> None:
    _plan(sub)
    sub.add_argument(
        "-o", "--output", metavar="FILE", help="file to write, which must not exist; stdout when absent or -"
    )
    sub.add_argument("--csv", action="store_true", help="all quantities in base units, exact, one row each")


def _export(sub: Words) -> None:
    _plan(sub)
    sub.add_argument(
        "--to",
        choices=("slurm", "megatron", "torchtitan", "torchtitan-toml", "deepspeed"),
        required=True,
        help="sbatch script; Megatron arguments; a torchtitan 0.3 module, or TOML for torchtitan to 0.2.2; DeepSpeed JSON",
    )
    sub.add_argument(
        "--rung",
        choices=("unit", "one-batch", "one-device", "one-node", "few-nodes", "short-scaled", "full"),
        help="a rung of the pilot with its few devices, layers and steps; the full run when absent",
    )


def _diff(sub: Words) -> None:
    sub.add_argument("plan", metavar="PLAN", help="plan file")
    sub.add_argument("other", metavar="PLAN", help="plan file to compare with")
    sub.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="a field of the second plan changed for this call",
    )
    _look(sub)
    _json(sub)


def _search(sub: Words) -> None:
    _plan(sub)
    sub.add_argument("--top", type=_whole, default=10, metavar="N", help="layouts shown")
    sub.add_argument("--by", choices=("time", "memory", "cost"), default="time", help="order of the layouts")
    sub.add_argument("--nodes", action="store_true", help="the best layout on other cluster sizes too")
    sub.add_argument(
        "--forks", action="store_true", help="also schedules and shardings that the framework's released code has not"
    )
    sub.add_argument("--plain", action="store_true", help="one fact a line, for screen readers and pipes")
    _json(sub)


def _forecast(sub: Words) -> None:
    _plan(sub)
    sub.add_argument("--draws", type=_whole, default=10_000, metavar="N", help="histories")
    sub.add_argument("--seed", type=_whole, default=1, metavar="N", help="the same seed gives the same numbers")
    _json(sub)


def _new(sub: Words) -> None:
    sub.add_argument("--model", metavar="M", help="catalogue model")
    sub.add_argument("--accelerator", metavar="A", help="catalogue accelerator")
    sub.add_argument("--nodes", metavar="N")
    sub.add_argument("--tokens", metavar="T", help="train tokens, such as 15T")
    sub.add_argument("-o", "--output", metavar="PLAN", required=True, help="file to write; it must not exist")
    _look(sub)


def _import(sub: Words) -> None:
    sub.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help=(
            "config.json of a Hugging Face model, script or log with Megatron arguments, DeepSpeed JSON, torchtitan TOML or JSON; "
            "several make one plan, and where two say different things neither is taken"
        ),
    )
    sub.add_argument("-o", "--output", metavar="PLAN", help="file to write; stdout when absent or -")
    _look(sub)


def _sources(sub: Words) -> None:
    _plan(sub)
    sub.add_argument(
        "manifests", nargs="+", metavar="MANIFEST", help="Megatron .idx, MosaicML index.json, CSV or TOML of tokens"
    )
    sub.add_argument("--write", action="store_true", help="write the counts into the plan")
    _json(sub)


def _calibrate(sub: Words) -> None:
    _plan(sub)
    sub.add_argument(
        "logs",
        nargs="+",
        metavar="LOG",
        help="log of Megatron, NeMo, torchtitan or OLMo-core, or gzip of one; CSV or JSON lines of metrics; sacct --parsable2",
    )
    sub.add_argument("--write", action="store_true", help="write what was measured into the plan")
    _json(sub)
    sub.add_argument("--rung", metavar="NAME", help="also the values of this rung's checks that a log can say")


def _catalog(sub: Words) -> None:
    sub.add_argument(
        "kind",
        nargs="?",
        metavar="KIND",
        help="models, accelerators, samplers, optimizers, tasks, evidence, steptime, rungs",
    )
    sub.add_argument("name", nargs="?", metavar="NAME", help="one entry with the source of every value")
    sub.add_argument("--unverified", action="store_true", help="only values that were not read again in their source")
    _look(sub)


def _schema(sub: Words) -> None:
    _look(sub)


def _completion(sub: Words) -> None:
    sub.add_argument("shell", choices=("bash", "zsh", "fish"))


_ADDERS: Final = {
    "show": _show,
    "set": _set,
    "explain": _explain,
    "check": _check,
    "diff": _diff,
    "search": _search,
    "forecast": _forecast,
    "review": _review,
    "report": _report,
    "export": _export,
    "new": _new,
    "import": _import,
    "sources": _sources,
    "calibrate": _calibrate,
    "catalog": _catalog,
    "schema": _schema,
    "completion": _completion,
}
