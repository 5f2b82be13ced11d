"""The least of a shell with job control: runs a Python script in a process group of its own, tells when it stops.

    python shell.py SCRIPT [ARGUMENT ...]

A line `fg` continues the script in the foreground. Ends with the script's exit status.
"""

from __future__ import annotations

import os
import signal
import sys


def main(arguments: list[str]) -> int:
    """Run, and stand by while the script is stopped."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execv(sys.executable, [sys.executable, *arguments])
    while True:
        _, status = os.waitpid(child, os.WUNTRACED)
        os.tcsetpgrp(0, os.getpgrp())
        if not os.WIFSTOPPED(status):
            return os.waitstatus_to_exitcode(status)
        print(f"stopped {child}", flush=True)
        while sys.stdin.readline().strip() != "fg":
            pass
        os.tcsetpgrp(0, child)
        os.killpg(child, signal.SIGCONT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
