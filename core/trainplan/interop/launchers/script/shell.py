"""A shell script as assignments, commands and here-documents in their order. Nothing is run, sourced or looked up.

It knows as much of the shell's grammar as launch scripts have: quotes, continued lines, comments, arrays, expansions, branches.
What it cannot know (`$(...)`, an operation on a value) becomes a segment that has no value, never a guess.
"""

from __future__ import annotations

import re
from typing import Final

from trainplan.frozen import frozen
from trainplan.interop.launchers.places import Page
from trainplan.interop.launchers.script.shellwords import NAME, Segment, ShellError, Word, quoted_segments, word_at

_ASSIGN: Final = re.compile(r"([A-Za-z_]\w*)(\+?=)")
_HEREDOC: Final = re.compile(r"<<(-?)[ \t]*(\\?)(['\"]?)([\w.!-]+)\3")
_REDIRECT: Final = re.compile(r"\d*(?:&>>?|[<>]&-?|>>|<<<|<>|>\||<|>)[ \t]*")
_OPENS: Final = ("if", "for", "while", "until", "case", "select")
_BRANCHES: Final = ("then", "elif", "else", "do")
_CLOSES: Final = ("fi", "done", "esac")
DECLARES: Final = ("export", "local", "declare", "readonly", "typeset")
MOST_DEPTH: Final = 40


@frozen
class Assignment:
    """`name=value`, `name+=value` or `name=(values)`; `branch` are the numbers of the branches it stands in."""

    name: str
    adds: bool
    value: Word | tuple[Word, ...]
    array: bool
    offset: int
    branch: tuple[int, ...]


@frozen
class Command:
    """The words of one command."""

    words: tuple[Word, ...]
    offset: int
    branch: tuple[int, ...]


@frozen
class Document:
    """A here-document as one word, expanded where its mark is not quoted."""

    word: Word
    offset: int
    end: int


@frozen
class Mark:
    """`if`, `elif`, `then`, `else` or `fi`, and the branch that begins there."""

    word: str
    branch: int


Item = Assignment | Command | Document | Mark


class Script:
    """The items of one script. Raises ShellError where a quote or a bracket is never closed."""

    def __init__(self, page: Page) -> None:
        self.text = page.text
        self.items: list[Item] = []
        self._at = 0
        self._branch: list[int] = []
        self._branches = 0
        self._waiting: list[tuple[str, bool, bool]] = []
        while self._at < len(self.text):
            self._statement()

    def _statement(self) -> None:
        """One command up to its end, or whatever stands before it."""
        self._blank()
        if self._at >= len(self.text):
            return
        one = self.text[self._at]
        if one == "\n":
            self._at += 1
            self._documents()
        elif one in ";&|(){}":
            self._at += 1
        else:
            self._command()

    def _blank(self) -> None:
        """Past blanks, continued lines and a comment."""
        text = self.text
        while self._at < len(text):
            if text[self._at] in " \t\r":
                self._at += 1
            elif text.startswith("\\\n", self._at):
                self._at += 2
            elif text[self._at] == "#":
                end = text.find("\n", self._at)
                self._at = len(text) if end < 0 else end
            else:
                return

    def _command(self) -> None:
        begin, words, named = self._at, list[Word](), False
        while True:
            self._blank()
            if self._at >= len(self.text) or self.text[self._at] in "\n;&|)":
                if self.text.startswith("&>", self._at):
                    self._redirect()
                    continue
                break
            if self.text[self._at] == "(":
                self._at += 1
                continue
            if self._redirect():
                continue
            if (not words or named) and self._assignment():
                continue
            start = self._at
            word = self.word()
            if self._at == start:
                raise ShellError(start, "this cannot be read as shell")
            plain = plain_of(word)
            if not words and self._keyword(plain, begin):
                return
            if not words and plain in DECLARES:
                named = True
            words.append(word)
        pattern = self.text.startswith(")", self._at) and len(words) == 1
        if words and not named and not pattern:
            self.items.append(Command(tuple(words), begin, tuple(self._branch)))

    def _keyword(self, plain: str, begin: int) -> bool:
        """Whether a command's first word is a word of the grammar; branches are counted."""
        if plain in _OPENS:
            self._branch.append(0)
            if len(self._branch) > MOST_DEPTH:
                raise ShellError(begin, f"branches are nested more than {MOST_DEPTH} deep")
        if plain in _OPENS or plain in _BRANCHES:
            self._branches += 1
            if self._branch:
                self._branch[-1] = self._branches
        if plain in ("if", "elif", "then", "else", "fi"):
            self.items.append(Mark(plain, self._branches))
        if plain in _CLOSES and self._branch:
            self._branch.pop()
        if plain in ("for", "select"):
            self._loop(begin)
        return plain in (*_OPENS, *_BRANCHES, *_CLOSES, "!", "time", "function", "in", "exec", "{", "}")

    def _loop(self, begin: int) -> None:
        """The variable of a loop has many values: none is known."""
        self._blank()
        found = NAME.match(self.text, self._at)
        if found:
            unknown = Segment("unknown", found[0], self._at, quoted=True)
            self.items.append(
                Assignment(
                    found[0], adds=False, value=(unknown,), array=False, offset=begin, branch=tuple(self._branch)
                )
            )

    def _assignment(self) -> bool:
        found = _ASSIGN.match(self.text, self._at)
        if not found:
            return False
        begin, self._at = self._at, found.end()
        array = self.text.startswith("(", self._at)
        value: Word | tuple[Word, ...] = self._array() if array else self.word()
        self.items.append(Assignment(found[1], found[2] == "+=", value, array, begin, tuple(self._branch)))
        return True

    def _array(self) -> tuple[Word, ...]:
        begin, found = self._at, list[Word]()
        self._at += 1
        while True:
            self._blank()
            if self._at >= len(self.text):
                raise ShellError(begin, "this bracket is never closed")
            if self.text[self._at] == ")":
                self._at += 1
                return tuple(found)
            if self.text[self._at] == "\n":
                self._at += 1
                continue
            if self.text[self._at] in ";&|(<>":
                raise ShellError(self._at, f"{self.text[self._at]!r} cannot stand in an array")
            found.append(self.word())

    def _redirect(self) -> bool:
        """Past a redirection and its file; a here-document is kept until its line ends."""
        found = _HEREDOC.match(self.text, self._at)
        if found and not self.text.startswith("<<<", self._at):
            self._waiting.append((found[4], bool(found[1]), bool(found[2] or found[3])))
            self._at = found.end()
            return True
        found = _REDIRECT.match(self.text, self._at)
        if not found:
            return False
        self._at = found.end()
        if (
            self._at < len(self.text)
            and self.text[self._at] not in "\n;&|) \t"
            and not found[0].rstrip().endswith("&-")
        ):
            self.word()
        return True

    def _documents(self) -> None:
        """The here-documents that were announced on the line before."""
        for mark, dashed, literal in self._waiting:
            begin = self._at
            end = re.compile(rf"^{'	*' if dashed else ''}{re.escape(mark)}[ \t\r]*$", re.MULTILINE).search(
                self.text, begin
            )
            if end is None:
                raise ShellError(begin, f"this here-document has no line {mark} that ends it")
            body = self.text[begin : end.start()]
            word = (
                (Segment("text", body, begin, quoted=True),)
                if literal
                else quoted_segments(self.text, begin, end.start())
            )
            self.items.append(Document(word, begin, end.start()))
            self._at = end.end()
        self._waiting.clear()

    def word(self) -> Word:
        """The word that begins here."""
        found, self._at = word_at(self.text, self._at)
        return found


def plain_of(word: Word) -> str:
    """The text of a word without expansions; empty where it has some."""
    return "".join(one.text for one in word) if all(one.kind == "text" for one in word) else ""
