"""Launch scripts and the container: no command that removes data, an image that cannot change, the reservation that is asked for.

Scripts are read, never run. A command that a variable or another script hides is not found.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Final

from trainplan.files.bounded import content, digest, listing, printed
from trainplan.files.looks import Asked, Found, Look
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import whole_number

SCRIPT_LIMIT: Final = 4_000_000  # bytes
SCRIPTS: Final = (".sh", ".sbatch", ".slurm", ".bash", ".job")
IMAGE_LIMIT: Final = 32 * 2**30  # bytes
_DESTRUCTIVE: Final = re.compile(
    rb"\brm\s+(?:-\S+\s+)*-(?:\S*[rR]|-recursive)|\bfind\b.*\s-delete\b|\bfind\b.*-exec\s+rm\b|\bmkfs\b|\brsync\b.*\s--del|"
    rb"\bgit\s+(?:\S+\s+)*(?:clean\s+-\S*f|reset\s+--hard)|\bdd\b.*\bof=/dev/|\bshred\b|"
    rb"\b(?:aws\s+s3|gsutil|gcloud\s+storage|s5cmd)\s.*\brm\b|\brclone\s+(?:purge|delete|sync)\b"
)
_RESERVATION: Final = re.compile(r"^#SBATCH\s+--reservation[= ](\S+)", re.MULTILINE)


def script_looks(asked: Asked) -> list[Look]:
    """The launch script, the reservation that it names, and the container."""
    paths, looks = asked.plan.paths, list[Look]()
    if paths.launch_script:
        script, named = asked.path(paths.launch_script), paths.launch_script
        looks.append(Look("configs", "launch script removes nothing", named, lambda: _harmless(script)))
        looks.append(Look("cost", "reservation", named, lambda: _reservation(asked, script)))
    if paths.container:
        looks.append(Look("configs", "container digest", "", lambda: _image(asked, paths.container or "")))
    return looks


def _scripts(path: Path) -> list[Path]:
    """The script, or those in a folder."""
    return [one for one, _ in listing(path).files if one.suffix in SCRIPTS] if os.path.isdir(path) else [path]


def _harmless(path: Path) -> Found:
    scripts, size = _scripts(path), 0
    for script in scripts:
        text = content(script, SCRIPT_LIMIT)
        size += len(text)
        line = _destructive(text)
        if line:
            return "failed", line if script is path else f"{script.name}: {line}"
    links = f"; {listing(path).links} links not followed" if os.path.isdir(path) and listing(path).links else ""
    kind = "script" if len(scripts) == 1 else "scripts"
    return "passed", f"no destructive command in {len(scripts)} {kind}, {size:,} bytes{links}"


def _destructive(text: bytes) -> str:
    """The first line, counted from 1, with a command that removes data; a line that goes on is read with its next."""
    number = 1
    for line in text.replace(b"\\\n", b"\x00").split(b"\n"):
        whole = line.replace(b"\x00", b" ")
        if not whole.lstrip().startswith(b"#") and _DESTRUCTIVE.search(whole):
            return f"line {number}: {whole.strip()[:60].decode(errors='replace')}"
        number += 1 + line.count(b"\x00")
    return ""


def _image(asked: Asked, container: str) -> Found:
    """An image named by its digest, or a file of one, whose sha256 is told."""
    if re.search(r"@sha256:[0-9a-f]{64}$", container):
        return "passed", f"named by digest {container[-64:][:12]}"
    path = asked.path(container)
    if path.suffix in (".sif", ".sqsh", ".tar") and os.path.isfile(path):
        return "passed", f"{path.name} has sha256 {digest(path, IMAGE_LIMIT)}"
    return "failed", f"{container} is not named by @sha256: and 64 digits"


def _reservation(asked: Asked, path: Path) -> Found | None:
    found = [
        name
        for one in _scripts(path)
        for name in _RESERVATION.findall(content(one, SCRIPT_LIMIT).decode(errors="replace"))
    ]
    if not found:
        return None
    if shutil.which("scontrol") is None:
        return "unknown", f"{found[0]} is not looked up: there is no scontrol here"
    status, output = printed(["scontrol", "show", "reservation", found[0], "--oneliner"], asked.limit)
    fields = dict(re.findall(r"(\w+)=(\S+)", output))
    if status != 0 or fields.get("ReservationName") != found[0]:
        return "failed" if status == 0 or output else "unknown", f"Slurm tells no reservation {found[0]}"
    return _covers_nodes(asked, found[0], fields)


def _covers_nodes(asked: Asked, name: str, fields: dict[str, str]) -> Found:
    held, span = (
        whole_number(fields.get("NodeCnt", "")),
        f"{fields.get('StartTime', '?')} to {fields.get('EndTime', '?')}",
    )
    needed = int((asked.plan.cluster.nodes or 0) + asked.plan.reliability.spare_nodes)
    if held is None:
        return "unknown", f"{name} does not say its nodes"
    if held < needed:
        return "failed", f"{name} holds {held:,} nodes, {needed:,} are planned with spares"
    return _covers_days(asked, f"{name} holds {held:,} nodes, {span}", fields)


def _covers_days(asked: Asked, said: str, fields: dict[str, str]) -> Found:
    start, wall, end = asked.plan.schedule.start, asked.quantities.get("compute.wall_time"), fields.get("EndTime", "")
    if start is not None and fields.get("StartTime", "")[:10] > start.isoformat():
        return "failed", f"{said}; the run starts on {start}"
    if start is not None and isinstance(wall, Figure) and re.match(r"\d{4}-", end):
        import datetime as dt

        last = start + dt.timedelta(seconds=float(wall))
        if end[:10] < last.isoformat():
            return "failed", f"{said}; the run ends on {last}"
    return "passed", said
