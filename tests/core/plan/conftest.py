"""Random TOML documents in every style that people write, from one seed; for tests of places and splices.

They are plain text made here, not by a TOML writer, so that odd layouts come up. tomllib accepts each of them.
"""

from collections.abc import Callable
from random import Random

import pytest

NAMES = ["a", "b", "c", "d-e", "f_g", '"h i"', "'j.k'", '"l\\u00e9"', "1", "name", "weight"]
SCALARS = [
    "1", "-8_192", "0.25", "1e6", "inf", "nan", "true", '"15.6T"', "'raw # not a comment'", '"esc \\" ] } # é"', "0x1F",
    "2026-12-07", "2026-12-07 10:00:00Z", "10:00:00.5", '"""a "" b"""', "''", '""', '"""\nline = 1\n[no]\n"""',
    "'''x''y'''",
]  # fmt: skip


class Document:
    """One document: `text` after `written`."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []

    def written(self) -> str:
        self.comments()
        self.body("")
        tables = [f"t{number}" for number in range(self.random.randrange(5))]
        for name in tables:
            self.table(name, 0)
        for name in tables:
            if self.random.random() < 0.2:
                self.table(f"{name}.late", 2)
        text = "\n".join(self.lines) + self.random.choice(["\n", "\n", "\n\n", ""])
        return text.replace("\n", "\r\n") if self.random.random() < 0.2 else text

    def names(self, most: int) -> list[str]:
        return self.random.sample(NAMES, self.random.randrange(most + 1))

    def comments(self) -> None:
        for _ in range(self.random.choice([0, 0, 1, 2])):
            self.lines.append(self.random.choice(["# note", "", "  # [a] = 1", "#", ""]))

    def table(self, path: str, depth: int) -> None:
        entries = self.random.choice([0, 0, 1, 3])
        if not entries and self.random.random() < 0.2:
            path += self.random.choice([".deep", " . 'er'.\"est\""])
        for _ in range(entries or 1):
            self.comments()
            header = f"[[{path}]]" if entries else f"[{path}]"
            self.lines.append(self.random.choice(["", "", "  "]) + header + self.random.choice(["", " # of a header"]))
            self.body(self.random.choice(["", "  "]))
            if depth < 2 and self.random.random() < 0.5:
                for name in self.random.sample(["s0", "'s.1'", "s2"], 2):
                    self.table(f"{path}.{name}", depth + 1)

    def body(self, indent: str) -> None:
        for name in self.names(4):
            self.comments()
            if self.random.random() < 0.15:
                self.lines += [
                    f"{indent}{name}.p = {self.value(0)}",
                    f"{indent}{name} . q.r = {self.value(0)} # dotted",
                ]
                continue
            spaced = self.random.choice([" = ", "=", "   =  "])
            self.lines.append(f"{indent}{name}{spaced}{self.value(0)}{self.random.choice(['', '', '  # why', ' '])}")

    def value(self, depth: int) -> str:
        kind = self.random.random()
        if depth > 2 or kind < 0.6:
            return self.random.choice(SCALARS)
        return self.array(depth) if kind < 0.8 else self.inline(depth)

    def array(self, depth: int) -> str:
        items = [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        style = self.random.choice(["flat", "flat", "trailing", "lines", "comments", "first"])
        if not items or style == "flat":
            return self.random.choice(["[", "[ "]) + ", ".join(items) + "]"
        if style == "trailing":
            return "[" + ", ".join(items) + ", ]"
        if style == "first":
            return "[ " + "\n, ".join(items) + "\n]"
        if style == "lines":
            return "[\n" + ",\n".join(f"  {item}" for item in items) + self.random.choice([",", ""]) + "\n]"
        return (
            "[ # open\n" + "".join(f"  # above\n  {item}, # {n}, ]\n" for n, item in enumerate(items)) + "  # last\n]"
        )

    def inline(self, depth: int) -> str:
        pairs = [f"{name} = {self.value(depth + 1)}" for name in self.names(3)]
        if self.random.random() < 0.2:
            pairs += [f"zz.p = {self.value(3)}", f"zz.q = {self.value(3)}"]
        return self.random.choice(["{ ", "{"]) + ", ".join(pairs) + self.random.choice([" }", "}"])


@pytest.fixture(scope="session")
def toml_document() -> Callable[[int], str]:
    """The document of a seed."""
    return lambda seed: Document(seed).written()
