"""`new`: a plan file from a few answers, with what is left open said."""

from __future__ import annotations

from pathlib import Path

from trainplan.catalogue import names
from trainplan.files.save import SaveError, save
from trainplan.newplan import Answers, new_plan_text
from trainplan.plan.faults import nearest_name
from trainplan.plan.read import plan_of_text
from trainplan_tui.cli.running import Options, Refused, say


def run(options: Options) -> int:
    """Write a new file; an existing one is never overwritten."""
    _known("models", "model", options.model)
    _known("accelerators", "accelerator", options.accelerator)
    output = Path(options.output)
    text = new_plan_text(Answers(output.stem, options.model, options.accelerator, options.nodes, options.tokens))
    plan_of_text(text, str(output))
    write_new(output, text)
    say(f"wrote {output}. Next: trainplan-tui {output}")
    return 0


def _known(kind: str, word: str, name: str | None) -> None:
    if name is None or name in names(kind):
        return
    nearest = nearest_name(name, names(kind))
    raise Refused(f'no {word} "{name}" in the catalogue' + (f". Nearest: {nearest}" if nearest else ""))


def write_new(output: Path, text: str) -> None:
    """Write a file that must not exist. Raises Refused."""
    if output.exists() or output.is_symlink():
        raise Refused(f"{output} exists. Another name, or trainplan-tui set to change it")
    try:
        save(output, text, expected_sha256=None)
    except SaveError as error:
        raise Refused(str(error)) from None
