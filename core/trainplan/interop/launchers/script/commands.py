"""Which command of a script trains, and what it is passed: its launcher's options, its own, and here-documents beside it.

A script that only assigns options to variables, or holds them one a line, is read for what it says. Nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from trainplan.frozen import frozen
from trainplan.interop.launchers.options import Option, Token, may_be_options, options_of, tokens_of
from trainplan.interop.launchers.places import Page, Place
from trainplan.interop.launchers.script.conditions import Branches
from trainplan.interop.launchers.script.expansion import Pieces, Scope, TooLong
from trainplan.interop.launchers.script.shell import Assignment, Command, Document, Mark, Script, plain_of
from trainplan.interop.launchers.script.shellwords import Segment, ShellError, Word, quoted_segments

_CORE: Final = (
    "num_layers hidden_size num_attention_heads seq_length micro_batch_size global_batch_size train_iters train_samples "
    "tensor_model_parallel_size pipeline_model_parallel_size ffn_hidden_size encoder_num_layers train_tokens"
)
CORE: Final = frozenset(_CORE.split())
"""Options of which a command that trains with Megatron has some."""

_LAUNCHER: Final = (
    "nnodes nproc_per_node node_rank master_addr master_port rdzv_id rdzv_backend rdzv_endpoint max_restarts num_gpus num_nodes "
    "hostfile no_ssh no_local_rank launcher launcher_args num_machines num_processes tee standalone"
)
LAUNCHER: Final = frozenset(_LAUNCHER.split())
"""Options of torchrun, the DeepSpeed launcher and accelerate, by which a launcher is told where no program is seen."""

_LAUNCHES: Final = ("torchrun", "deepspeed", "srun", "accelerate", "mpirun")
_SAYS: Final = ("echo", "printf", "sbatch", "mkdir", "rm", "grep", "sed", "awk", "unset", "test", "[", "[[")
_READS: Final = ("source", ".")
_PROGRAM: Final = re.compile(r"(?:.*/)?[\w.-]+\.py$|.*\bpretrain_\w+(?:\.py)?$")
_SBATCH: Final = re.compile(r"^#SBATCH[ \t]+(.*)$", re.MULTILINE)
_OPERATOR: Final = re.compile(r"\d?(?:&>>?|>>?|<)(?:&\d)?|\|\|?|&&?|;")
_PAIRS: Final = re.compile(r"(?:^|\s)(--[\w-]+|-[A-Za-z])(?:=|[ \t]+)?([^\s#-][^\s#]*)?")


class ScriptError(ValueError):
    """What of a script cannot be read, with its place."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(f"{place}: {message}")


@frozen
class Launch:
    """What scripts pass to the program that trains: options of the launcher, of the program, of the scheduler, and documents.

    `program` is the program's file as it stands, empty where none does; `notes` are sentences for people.
    """

    launcher: tuple[Option, ...]
    options: tuple[Option, ...]
    scheduler: tuple[Option, ...]
    documents: tuple[tuple[str, Place], ...]
    program: str
    notes: tuple[str, ...]
    problems: tuple[str, ...]


def launch_of(pages: Iterable[Page]) -> Launch:
    """What scripts, read one after the other as one, launch. Raises ScriptError for what is no shell script."""
    found = _Reading()
    for page in pages:
        try:
            found.script(page)
        except ShellError as error:
            raise ScriptError(page.place(error.offset), f"{error}. Import reads it as a shell would") from None
        except TooLong:
            raise ScriptError(
                page.place(0), "a variable grows without end. A script with its options in full"
            ) from None
    return found.launch()


class _Reading:
    """Items of scripts in their order, with the variables that they have by then."""

    def __init__(self) -> None:
        self.scope = Scope()
        self.scheduler: list[Option] = []
        self.trains: list[tuple[tuple[Token, ...], Place]] = []
        self.launches: list[tuple[tuple[Token, ...], Place]] = []
        self.stray: list[tuple[Token, ...]] = []
        self.documents: list[tuple[str, Place]] = []
        self.notes: list[str] = []
        self._inside = False

    def script(self, page: Page) -> None:
        """Read one script."""
        self._scheduler(page)
        branches = Branches(lambda one: [self.scope.expand(word, page, one.branch) for word in one.words])
        for item in Script(page).items:
            if isinstance(item, Mark):
                branches.mark(item)
            elif isinstance(item, Document):
                self._document(item, page)
            elif branches.runs(item.branch):
                self._item(item, page, branches)

    def _document(self, item: Document, page: Page) -> None:
        """A script inside a script is read where it stands; any other document is kept with its values."""
        body, place = page.text[item.offset : item.end], page.place(item.offset)
        if "#SBATCH" in body and not self._inside:
            self._inside = True
            self.script(Page(page.file, "\n" * (place.line - 1) + body))
            self._inside = False
            return
        self.documents.append((self._text_of(self.scope.expand(item.word, page)), place))

    def _text_of(self, pieces: Pieces) -> str:
        """A document's text; a value that is not known is null where JSON has a value, and said."""
        text = ""
        for piece in pieces:
            bare = bool(piece.unknown) and text.count('"') % 2 == 0 and text.rstrip().endswith(":")
            if bare:
                self.notes.append(f"{piece.place}: {piece.unknown}; left out")
            text += "null" if bare else piece.text
        return text

    def _item(self, item: Assignment | Command, page: Page, branches: Branches) -> None:
        """An assignment or a command; branches that surely run do not count as such."""
        branch = branches.open_of(item.branch)
        if isinstance(item, Assignment):
            self.scope.assign(Assignment(item.name, item.adds, item.value, item.array, item.offset, branch), page)
            return
        known = Command(item.words, item.offset, branch)
        branches.test(known)
        self._command(known, page)

    def _command(self, item: Command, page: Page) -> None:
        first = plain_of(item.words[0])
        if first in _READS and len(item.words) > 1:
            what = "".join(piece.text for piece in self.scope.expand(item.words[1], page, item.branch))[:100]
            self.notes.append(
                f"{page.place(item.offset)}: {what} is read there, and not here. Import it as a file more"
            )
        if first in (*_SAYS, *_READS):
            return
        words = [
            _inner(word, page) if index and _is_inner(item.words[index - 1]) else word
            for index, word in enumerate(item.words)
        ]
        expanded = [self.scope.expand(word, page, item.branch) for word in words]
        if not any(may_be_options(piece.text) for pieces in expanded for piece in pieces):
            return
        tokens = tuple(token for pieces in expanded for token in tokens_of(pieces))
        if tokens and (tokens[0].text.startswith("--") or tokens[0].dashed):
            self.stray.append(tokens)
        elif _trains(tokens):
            self.trains.append((tokens, page.place(item.offset)))
        elif any(token.text.rpartition("/")[2] in _LAUNCHES or "torch.distributed" in token.text for token in tokens):
            self.launches.append((tokens, page.place(item.offset)))

    def _scheduler(self, page: Page) -> None:
        """#SBATCH lines, and the variables that Slurm sets from them: its manual, sbatch, output environment variables."""
        for line in _SBATCH.finditer(page.text):
            for pair in _PAIRS.finditer(line[1]):
                place = page.place(line.start(1) + pair.start(1))
                name = _SHORT.get(pair[1], pair[1].lstrip("-").replace("-", "_"))
                values = (Token(pair[2], page.place(line.start(1) + pair.start(2))),) if pair[2] else ()
                self.scheduler.append(Option(name, f"#SBATCH {pair[1]}", values, place))
                if pair[2] and pair[2].isdigit():
                    for variable in _SETS.get(name, ()):
                        self.scope.give(variable, pair[2], page, line.start(1) + pair.start(2))

    def launch(self) -> Launch:
        """The command that trains; where none does, the options of variables, or those that stand by themselves."""
        commands = self.trains or [(tokens, tokens[0].place) for tokens in self._loose()] or self.launches
        launcher, options, program = list[Option](), list[Option](), ""
        for tokens, place in commands:
            before, after, name = _parted(tokens)
            program = program or name
            if self.trains and options:
                self.notes.append(f"{place}: a second command trains; its options are read too")
            launcher += options_of(before)[0]
            passed, words = options_of(_up_to_an_operator(after))
            options += passed
            for word in words:
                if word.unknown:
                    self.notes.append(f"{word.place}: {word.unknown}: what it passes is not read")
        if self.trains:
            self._left_over()
        problems = [_dashes(token) for tokens, _ in commands for token in tokens if token.dashed]
        return Launch(
            tuple(launcher),
            tuple(options),
            tuple(self.scheduler),
            tuple(self.documents),
            program,
            tuple(self.notes),
            tuple(problems),
        )

    def _loose(self) -> list[tuple[Token, ...]]:
        found: list[tuple[Token, ...]] = []
        for name in self.scope.names():
            tokens = tuple(token for word in self.scope.words_of(name) for token in tokens_of(word))
            if any(token.is_option or token.dashed for token in tokens) and name not in self.scope.read:
                found.append(tokens)
        return [*found, *self.stray]

    def _left_over(self) -> None:
        """Options that no command gets: variables that nothing reads, and lines that nothing continues."""
        for name in self.scope.names():
            tokens = [token for word in self.scope.words_of(name) for token in tokens_of(word)]
            if name not in self.scope.read and any(token.is_option for token in tokens):
                self.notes.append(f"{tokens[0].place}: {name} is not passed to the command that trains; not read")
        for tokens in self.stray:
            self.notes.append(
                f"{tokens[0].place}: {tokens[0].text} begins a command of its own; not read. "
                "The line before ends with a backslash where it goes on"
            )


_SHORT: Final = {"-N": "nodes", "-n": "ntasks", "-t": "time", "-c": "cpus_per_task", "-J": "job_name", "-G": "gpus"}
_SETS: Final = {
    "nodes": ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    "ntasks": ("SLURM_NTASKS", "SLURM_NPROCS"),
    "ntasks_per_node": ("SLURM_NTASKS_PER_NODE",),
    "gpus_per_node": ("SLURM_GPUS_PER_NODE",),
    "cpus_per_task": ("SLURM_CPUS_PER_TASK",),
}


def _is_inner(before: Word) -> bool:
    return plain_of(before) in ("-c", "-lc", "-xc")


def _inner(word: Word, page: Page) -> Word:
    """The words of `bash -c '...'`, whose variables the inner shell has where they are exported."""
    found: list[Segment] = []
    for one in word:
        end = one.offset + len(one.text)
        whole = one.kind == "text" and "$" in one.text and page.text[one.offset : end] == one.text
        found.extend(quoted_segments(page.text, one.offset, end) if whole else (one,))
    return tuple(found)


def _trains(tokens: tuple[Token, ...]) -> bool:
    names = {token.text.partition("=")[0] for token in tokens if token.is_option or token.dashed}
    return bool({re.sub(r"^[^A-Za-z]+", "", name).replace("-", "_") for name in names} & CORE)


def _parted(tokens: tuple[Token, ...]) -> tuple[tuple[Token, ...], tuple[Token, ...], str]:
    """The launcher's words, the program's, and the program; without one all words are the program's."""
    for index, token in enumerate(tokens):
        if not token.is_option and _PROGRAM.match(token.text) and "torch.distributed" not in token.text:
            return tokens[:index], tokens[index + 1 :], token.text.rpartition("/")[2]
    options, _ = options_of(tokens)
    last = next((option.place for option in reversed(options) if option.name in LAUNCHER), None)
    cut = next((index for index, token in enumerate(tokens) if token.is_option and token.place == last), -1) + 1
    while 0 < cut < len(tokens) and not tokens[cut].is_option:
        cut += 1
    return tokens[:cut], tokens[cut:], ""


def _up_to_an_operator(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The words before a redirection or a second command, which stand in a text that a shell reads once more."""
    end = next((index for index, token in enumerate(tokens) if _OPERATOR.fullmatch(token.text)), len(tokens))
    return tokens[:end]


def _dashes(token: Token) -> str:
    right = re.sub(r"^[^A-Za-z]+", "--", token.text.partition("=")[0])
    sign = next(one for one in token.text if ord(one) > 127)
    return f"{token.place}: {token.text[:40]} begins with U+{ord(sign):04X}, which is no hyphen. {right} is right"
