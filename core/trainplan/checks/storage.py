"""Findings S1 to S14: space, checkpoints that can be resumed, uploads that keep up, stalls, staging, restore drills.

What a plan cannot say stays out: eviction rules (S6), deletion scripts (S9), replacement nodes' data (S12), shared default
folders (S13), partial uploads (S15).
"""

from __future__ import annotations

from math import floor, log10
from typing import Final

from trainplan.checks.resume import bound_to_replicas
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.plan.fields import INT64
from trainplan.quantity.figure import Blocked, Figure
from trainplan.quantity.numbers import Style, byte_rate, device_bytes, disk_bytes
from trainplan.quantity.unit import UnitError, duration, parse, whole

STALL_WARNS, STALL_FAILS = 0.01, 0.05
"""Shares of the interval that a save may stall before it is said."""

MANY_FILES: Final = 1e6
MOST: Final = 1e12
"""Counts and ratios above it are written as more than that."""


def disk(value: float, style: Style = disk_bytes) -> str:
    """Bytes in a sentence."""
    scale = style(value)
    return f"{scale.text(value)} {scale.unit}"


def spell(seconds: float) -> str:
    """A time in a sentence, without zeros that say nothing."""
    if 0.0 < seconds < 1e-3:
        return "less than 1 ms"
    number, unit = duration(seconds)
    if not unit:
        return number.removesuffix(" 0s")
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"


def time_at_least(seconds: float) -> str:
    """A time in a sentence that is not below: a plan that takes it as it stands holds it."""
    said = spell(seconds)
    return said if heard(said, seconds) >= seconds else spell(seconds + _resolution(seconds))


def time_at_most(seconds: float) -> str:
    """A time in a sentence that is not above."""
    said = spell(seconds)
    return said if heard(said, seconds) <= seconds else spell(seconds - _resolution(seconds))


def heard(said: str, seconds: float) -> float:
    """What a plan takes a time in a sentence for, s; the time itself where the words are no duration."""
    try:
        return parse(said, "s")
    except UnitError:
        return seconds


def _resolution(seconds: float) -> float:
    """The least that a time in a sentence differs by, s."""
    unit, digits = (86400.0, 4) if seconds >= 2 * 86400 else (3600.0, 3) if seconds >= 3600 else (1.0, 4)
    if 120 <= seconds < 3600:
        return 1.0
    return unit * 10.0 ** (floor(log10(seconds / unit)) - digits + 1)


def counted(count: float, noun: str) -> str:
    """A count with its noun, which takes an s; past all sense it is only called large."""
    return f"{whole(count) if count < MOST else 'more than 1e12'} {noun}{'' if count == 1 else 's'}"


def full_disk(estimate: Estimate) -> list[Finding]:
    """S1: the peak leaves less than one checkpoint of the usable space, or less than two."""
    peak, usable, size = estimate.space.peak, estimate.space.usable, estimate.checkpoint.checkpoint
    if not isinstance(peak, Figure) or not isinstance(usable, Figure) or not isinstance(size, Figure):
        return []
    free = usable - peak
    if free >= 2.0 * size:
        return []
    paths = ("storage.capacity", "storage.keep_full_every", "storage.raw_data")
    said = f"{disk(peak)} at most of {disk(usable)} usable"
    fraction = float(estimate.situation["storage.usable_fraction"])
    needed = (peak + 2.0 * size) / fraction
    if needed < INT64:
        fix = f"a capacity of {disk(needed)} leaves two checkpoints free"
    else:
        fix, paths = "a usable_fraction of a size that a file system has", ("storage.usable_fraction", *paths)
    if free < size:
        end = f"{disk(-free)} too much" if free < 0 else f"not one checkpoint of {disk(size)} is free"
        return [Finding("S1", "error", "storage", f"{said}: {end}", fix, paths, 1e5)]
    return [Finding("S1", "warning", "storage", f"{said}: less than two checkpoints are free", fix, paths, 60)]


def many_files(estimate: Estimate) -> list[Finding]:
    """S2: more checkpoint files than a usual inode quota."""
    files = estimate.space.checkpoint_files
    if not isinstance(files, Figure) or files <= MANY_FILES:
        return []
    message = f"checkpoints hold {whole(files)} files at two a rank; quotas on files are often a million"
    return [Finding("S2", "info", "storage", message, "ask for the quota of inodes", ("storage.keep_full_every",))]


def slow_upload(estimate: Estimate) -> list[Finding]:
    """S3: uploads take longer than the interval, so that the backlog grows for ever."""
    upload, interval = estimate.checkpoint.upload_time, estimate.faults.interval
    if not isinstance(upload, Figure) or not isinstance(interval, Figure) or upload <= interval * (1.0 + 1e-9):
        return []
    message = f"an upload takes {spell(upload)}, the interval is {spell(interval)}: copies pile up for ever"
    paths = ("storage.upload_bandwidth", "reliability.checkpoint_interval")
    return [Finding("S3", "error", "storage", message, f"an interval of {time_at_least(upload)} or more", paths, 1e5)]


def long_stall(estimate: Estimate) -> list[Finding]:
    """S4: saves stall more than 1 % of the interval (warning) or 5 % (error)."""
    stall, interval = estimate.checkpoint.checkpoint_stall, estimate.faults.interval
    if not isinstance(stall, Figure) or not isinstance(interval, Figure) or stall <= STALL_WARNS * interval:
        return []
    share = min(stall / interval, 1.0)
    severity = "error" if share > STALL_FAILS else "warning"
    part = f"{100 * share:.1f} %" if share < 1.0 else "as long or longer"
    message = f"a save stalls {spell(stall)} of every {spell(interval)}, {part}"
    fix = "asynchronous saves, or more write bandwidth"
    if estimate.plan.storage.async_checkpoint:
        fix = "a shorter floor, or copies in the memory of other nodes"
    paths = ("storage.async_checkpoint", "storage.write_bandwidth", "storage.checkpoint_floor")
    return [Finding("S4", severity, "storage", message, fix, paths, 1e3 * share)]


def one_checkpoint(estimate: Estimate) -> list[Finding]:
    """S5: only one complete checkpoint stands anywhere; the newest may be broken."""
    storage = estimate.plan.storage
    if storage.keep_full_local > 1 or storage.upload_bandwidth is not None:
        return []
    if storage.keep_full_every is not None:
        message = (
            "one full checkpoint is kept locally; where it is broken, training goes back to the last kept for good"
        )
        severity, weight = "warning", 50.0
    else:
        message, severity, weight = (
            "only one full checkpoint stands anywhere; where it is broken, the run is lost",
            "error",
            1e5,
        )
    paths = ("storage.keep_full_local", "storage.upload_bandwidth")
    return [Finding("S5", severity, "storage", message, "keep 2 locally, or upload each", paths, weight)]


def weights_at_the_end(estimate: Estimate) -> list[Finding]:
    """S7: torchtitan's last checkpoint has weights alone unless it is told otherwise."""
    if estimate.plan.training.framework != "torchtitan":
        return []
    message = "torchtitan's last checkpoint has only weights by default; the run cannot go on from it"
    return [
        Finding(
            "S7", "info", "storage", message, "last_save_model_only set to false in torchtitan", ("training.framework",)
        ),
    ]


def light_is_no_recovery(estimate: Estimate) -> list[Finding]:
    """S8: light checkpoints are kept, and no full one older than the newest few."""
    storage, interval = estimate.plan.storage, estimate.faults.interval
    if storage.keep_light_every is None or storage.keep_full_every is not None or storage.upload_bandwidth is not None:
        return []
    depth = f"{spell(float(interval) * storage.keep_full_local)} back" if isinstance(interval, Figure) else "no further"
    message = f"light checkpoints cannot be resumed; full ones reach {depth}"
    return [
        Finding("S8", "warning", "storage", message, "give storage.keep_full_every", ("storage.keep_full_every",), 45)
    ]


def old_drill(estimate: Estimate) -> list[Finding]:
    """S10: the restore drill is older than it may be, or the run will restore and no drill has a date."""
    age, days = estimate.space.restore_drill_age, estimate.plan.storage.restore_drill_days
    if isinstance(age, Figure):
        if age <= float(days) * 86400.0:
            return []
        message = f"the restore drill is {age / 86400.0:.0f} days old; it holds for {float(days):g}"
        return [Finding("S10", "warning", "storage", message, "restore again", ("storage.last_restore_drill",), 30)]
    failures = estimate.quantities["reliability.expected_failures"]
    if estimate.plan.storage.last_restore_drill is not None or not isinstance(failures, Figure) or failures < 1.0:
        return []
    message = f"a run of {counted(round(failures), 'expected restore')}, and no restore drill has a date"
    return [
        Finding("S10", "warning", "storage", message, "restore once, and date it", ("storage.last_restore_drill",), 30)
    ]


def staging(estimate: Estimate) -> list[Finding]:
    """S11: asynchronous staging takes more host memory than a node has, or writes most of the time."""
    needed, host = estimate.space.staging_memory, estimate.situation["cluster.host_memory_per_node"]
    if isinstance(needed, Blocked):
        return []
    if isinstance(host, Figure) and needed > host:
        gib = device_bytes
        message = f"staging a save takes about {disk(needed, gib)} of a node's {disk(host, gib)}"
        paths = ("cluster.host_memory_per_node", "storage.async_checkpoint")
        return [Finding("S11", "error", "storage", message, "more nodes, or a synchronous save", paths, 1e5)]
    write, interval = estimate.checkpoint.write_time, estimate.faults.interval
    if not isinstance(write, Figure) or not isinstance(interval, Figure) or write <= 0.5 * interval:
        return []
    message = f"a save is being written {spell(write)} of every {spell(interval)}; steps beside it are slower"
    return [Finding("S11", "warning", "storage", message, "more write bandwidth", ("storage.write_bandwidth",), 35)]


def faster_than_links(estimate: Estimate) -> list[Finding]:
    """S14: the write bandwidth is above what the nodes' links carry, so it was not measured from them."""
    s = estimate.situation
    write, nodes = s["storage.write_bandwidth"], s["cluster.nodes"]
    link, each = s["cluster.scale_out_bandwidth"], s["cluster.accelerators_per_node"]
    if not all(isinstance(item, Figure) for item in (write, nodes, link, each)):
        return []
    most = nodes * each * link
    if write <= most:
        return []
    rate = byte_rate
    message = f"writing at {disk(write, rate)} is above the {disk(most, rate)} of all links"
    paths = ("storage.write_bandwidth", "cluster.scale_out_bandwidth")
    return [Finding("S14", "warning", "storage", message, "measure a save from all nodes", paths, 40)]


STORAGE_CHECKS: Final = (
    full_disk,
    many_files,
    slow_upload,
    long_stall,
    one_checkpoint,
    weights_at_the_end,
    light_is_no_recovery,
    old_drill,
    staging,
    faster_than_links,
    bound_to_replicas,
)
