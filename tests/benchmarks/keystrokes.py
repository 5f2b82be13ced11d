"""Bytes that one keystroke costs, and seconds until the last of them, at two sizes of the window. Goal: 1.5 KB at 80x24."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from terminal import Program

ROOT = Path(__file__).resolve().parents[2]
KEYS = (b"j", b"k", b"\r", b"1", b"6", b"T", b"\r", b"u", b"3", b"1", b"x", b"x", b":", b"s", b"\x07", b"d", b"d")


def main() -> None:
    """Type the keys and print what each cost."""
    code = (
        f"import sys; sys.path[:0] = [{str(ROOT / 'core')!r}, {str(ROOT / 'tui')!r}]\n"
        f"from trainplan_tui.cli import main; main([{str(ROOT / 'plans' / 'llama-3.1-8b.toml')!r}])"
    )
    for columns, rows in ((80, 24), (160, 45)):
        program = Program([sys.executable, "-c", code], columns, rows)
        program.until("wall time")
        program.settle()
        first = len(program.seen)
        print(f"{columns}x{rows}: first screen {first} bytes")
        for key in KEYS:
            count, seconds = program.type(key)
            print(f"  {key!r:<10} {count:>6} bytes {seconds * 1e3:>7.1f} ms")
        print(f"  {'idle 1 s':<10} {len(program.read(1.0)):>6} bytes")
        program.end()


if __name__ == "__main__":
    main()
