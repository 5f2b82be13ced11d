"""The command line: parse the words, call the core, print. The app is imported only when it opens.

Exit status: 0 done; 1 from `check` with errors and from `review` while not ready; 2 the file or the arguments could not be
used; 130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from trainplan_tui.cli.arguments import COMMANDS, app_parser, parser


def main(words: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    arguments = list(sys.argv[1:] if words is None else words)
    _widen()
    try:
        status = _run(arguments)
        _flush()
        return status
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if error.filename is not None:
            raise  # a file's own error, which its command has to tell
        _close()
        sys.stderr.write(f"stdout: not written: {(error.strerror or str(error)).lower()}\n")
        return 2


def _widen() -> None:
    """Where the locale cannot carry a letter of a plan, its number is printed: `\\xe9` for é."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(errors="backslashreplace")


def _flush() -> None:
    """Write what is left in the buffer; where nobody reads on, as behind `head`, it goes nowhere and the exit status stays."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _close()


def _close() -> None:
    """Let nothing that is left in the buffer be written when the program ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    first = next((word for word in arguments if not word.startswith("-")), None)
    if first not in COMMANDS and not {"-h", "--help", "--version"} & set(arguments):
        from trainplan_tui.cli.opening import misread, open_app

        options, more = app_parser().parse_known_args(arguments)
        if misread(options.plan, more):
            return 2
        if more:
            app_parser().read(arguments)
        status = open_app(options)
        if status is not None:
            return status
        arguments = ["show", options.plan, *(word for item in options.set for word in ("--set", item))]
    options = parser().read(arguments)
    from trainplan_tui.cli.running import run

    return run(options)
