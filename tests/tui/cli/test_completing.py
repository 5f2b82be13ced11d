"""Completion scripts run in their shells: every option of every command, the words that it takes, and files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from trainplan.catalogue import names
from trainplan_tui.cli import main
from trainplan_tui.cli.arguments import COMMANDS
from trainplan_tui.cli.completing import _parsers

TYPED = [
    ("show p.toml --bu", ["--budget"]),
    ("show p.toml --budget me", ["memory"]),
    ("show --set cluster.no", ["cluster.nodes", "cluster.nodes_per_failure_domain"]),
    ("export p.toml --to tor", ["torchtitan", "torchtitan-toml"]),
    ("export p.toml --rung sh", ["short-scaled"]),
    ("calibrate p.toml x.log --wr", ["--write"]),
    ("calibrate p.toml x.log --rung f", ["few-nodes", "full"]),
    ("search p.toml --by c", ["cost"]),
    ("search p.toml --fo", ["--forks"]),
    ("forecast p.toml --dr", ["--draws"]),
    ("new --accelerator h100-s", ["h100-sxm"]),
    ("catalog acc", ["accelerators"]),
    ("catalog optimizers l", ["lion"]),
    ("completion f", ["fish"]),
    ("report p.toml -o p.", ["p.toml"]),
    ("comp", ["completion"]),
    ("show p", ["p.toml"]),
    ("p", ["p.toml"]),
]
BASH = """source ./script
COMP_WORDS=(trainplan-tui "$@"); COMP_CWORD=$#
_trainplan_tui trainplan-tui "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(shell: str, folder: Path, line: str) -> list[str]:
    """What a shell offers behind a half-typed line."""
    if shell == "bash":
        words = [shell, "--norc", "-c", BASH, shell, *line.split(" ")]
    else:
        words = [shell, "--no-config", "-c", f"source ./script; complete -C 'trainplan-tui {line}'"]
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return sorted(offer.partition("\t")[0] for offer in done.stdout.splitlines() if offer)


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_half_typed_line_is_completed(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert main(["completion", shell]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out, encoding="utf-8")
    (tmp_path / "p.toml").touch()
    assert [(line, completed(shell, tmp_path, line)) for line, _ in TYPED] == TYPED


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_option_of_every_command_is_in_the_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--to`, `--rung`, `--write` and the words that they take were not offered."""
    main(["completion", shell])
    script = capsys.readouterr().out
    parsers = _parsers()
    assert set(parsers) == {"", *COMMANDS}
    for command, sub in parsers.items():
        for action in sub._actions:
            for option in action.option_strings:
                told = (
                    f"{command} -"
                    if shell != "fish"
                    else f"-l {option[2:]}"
                    if option[1] == "-"
                    else f"-s {option[1:]}"
                )
                assert told in script, (command, option)
                assert option.strip("-") in script, (command, option)
            assert all(str(word) in script for word in action.choices or ())
    assert all(name in script for kind in ("models", "accelerators", "tasks") for name in names(kind))
