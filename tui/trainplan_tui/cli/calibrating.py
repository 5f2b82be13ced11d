"""`calibrate PLAN LOG...`: what logs measured, beside what the plan assumes; `--write` puts it into the plan with its evidence."""

from __future__ import annotations

import datetime as dt
import os
import sys
from collections.abc import Callable
from pathlib import Path

from trainplan.estimation import Estimate
from trainplan.interop.calibration import Calibration, measurement_for, written
from trainplan.interop.logs.measured import Measured
from trainplan.interop.logs.reading import READ, LogError, read_log
from trainplan.interop.rungs import as_rung, rung_values
from trainplan.interop.sacct import is_sacct
from trainplan.interop.stages import over_stages
from trainplan.plan.read import Opened, plan_of_text
from trainplan.review.ladder import rung_names
from trainplan.review.measuring import Measurement, with_checks
from trainplan_tui.cli import keeping, rating
from trainplan_tui.cli.running import Options, Refused, estimated, name_of, say, write_json

GIB = 2.0**30


def run(options: Options) -> int:
    """Print both; nothing is written where a log cannot be read or measures nothing."""
    if all(is_sacct(log) for log in options.logs):
        return rating.run(options)
    plan, estimate = estimated(options)
    measured = _measured(options, estimate)
    found = over_stages(estimate, measured, _names(options), dt.date.today(), options.rung or "")
    values, found = _rung(options, estimate, found), as_rung(estimate, found, options.rung or "")
    saved = (
        keeping.written(options, plan, lambda text: _changed(text, options, plan, found, values))
        if options.write
        else []
    )
    if options.json:
        write_json({**_as_json(found, written_too=bool(options.write)), "rung": values})
        return 0
    _print(plan, found)
    for metric, value in values.items():
        say(f"* pilot.{options.rung}: {metric} = {value:.6g}")
    for note in saved:
        say(note)
    return 0


def _rung(options: Options, estimate: Estimate, found: Calibration) -> dict[str, float]:
    """Values of the checks of the rung that was named."""
    if not options.rung:
        return {}
    known = rung_names(estimate.plan)
    if options.rung not in known:
        from trainplan.plan.faults import nearest_name

        near = nearest_name(options.rung, known)
        raise Refused(f"no rung {options.rung}. One of {', '.join(known)}" + (f"; nearest: {near}" if near else ""))
    return rung_values(estimate, found, options.rung)


def _names(options: Options) -> str:
    folder = Path(options.plan).parent
    return ", ".join(os.path.relpath(log, folder) for log in options.logs)


def _measured(options: Options, estimate: Estimate) -> tuple[Measured, ...]:
    measurement = measurement_for(estimate, options.rung or "")
    for log in options.logs:
        try:
            read_log(Path(log), measurement, _progress(log))
        except LogError as error:
            raise Refused(str(error)) from None
    found = measurement.results()
    if not found:
        raise Refused(
            f"{', '.join(options.logs)}: {measurement.nothing()}. Logs of {', '.join(READ)} are read, "
            "and CSV or JSON lines with a column of step time or tokens a second"
        )
    return found


def _progress(log: str) -> Callable[[int, int], None] | None:
    """A bar on stderr for people; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        return None

    def told(done: int, size: int) -> None:
        share = done / size if size else 1.0
        bar = ("#" * round(30 * share)).ljust(30)
        sys.stderr.write(f"\r{Path(log).name[:30]:<30} {bar} {share:4.0%}" + ("\n" if done >= size else ""))
        sys.stderr.flush()

    return told


def _changed(text: str, options: Options, plan: Opened, found: Calibration, values: dict[str, float]) -> str:
    after = written(text, plan.plan, found)
    if not values:
        return after
    checks = {metric: Measurement(value, _names(options)) for metric, value in values.items()}
    return with_checks(after, plan_of_text(after, options.plan), options.rung or "", checks, options.plan).text


def _print(plan: Opened, found: Calibration) -> None:
    one, planned = found.measured, found.planned
    say(f"{name_of(plan)}: {one.framework}, {one.steps_used} of {one.steps_seen} steps used")
    say(f"{'':<26}{'plan':>16}{'measured':>16}")
    _line("tokens/s/accelerator", planned["tokens_per_second_per_accelerator"], one.rate, "{:,.0f}")
    _line("utilization", planned["utilization"], found.utilization, "{:.3f}")
    _line("step time, s", planned["step_time"], found.step_time, "{:,.4g}")
    _line("predicted step, s", planned["predicted_step_time"], None, "{:,.4g}")
    key = "memory_reserved" if one.peak_reserved else "memory_allocated"
    _line(f"{key.removeprefix('memory_')}, GiB", _gib(planned[key]), _gib(one.peak), "{:,.2f}")
    _line("checkpoint stall, s", planned["checkpoint_stall"], one.stall, "{:,.4g}")
    lines = "means" if one.of_means else "steps"
    say(f"{one.spread()}, 80 % of {lines} {one.rate_low:,.0f} to {one.rate_high:,.0f} tokens/s/accelerator")
    for reason, count in sorted(one.dropped.items()):
        say(f"dropped {count}: {reason}")
    if found.factor is not None and found.predicted_ratio is not None:
        say(
            f"measured / predicted {found.predicted_ratio:.3f}; other layouts of this model here: predictions x {found.factor:.3f}"
        )
    for note in found.notes:
        say(f"! {note}")
    for path, value in found.edits.items():
        say(f"* {path} = {value}")


def _gib(value: float | None) -> float | None:
    return None if value is None else value / GIB


def _line(name: str, planned: float | None, measured: float | None, style: str) -> None:
    if planned is None and measured is None:
        return
    shown = ["-" if value is None else style.format(value) for value in (planned, measured)]
    say(f"{name:<26}{shown[0]:>16}{shown[1]:>16}")


def _as_json(found: Calibration, *, written_too: bool) -> dict[str, object]:
    one = found.measured
    return {
        "format": 1,
        "plan": dict(found.planned),
        "measured": {
            "framework": one.framework,
            "tokens_per_second_per_accelerator": one.rate,
            "p10": one.rate_low,
            "p90": one.rate_high,
            "variation": one.variation,
            "steps_a_line": one.steps_a_line,
            "utilization": found.utilization,
            "step_time": found.step_time,
            "memory_peak": one.peak,
            "memory_peak_is": ("reserved" if one.peak_reserved else "allocated") if one.peak is not None else None,
            "checkpoint_stall": one.stall,
            "saves": one.saves,
            "steps_used": one.steps_used,
            "steps_seen": one.steps_seen,
            "dropped": one.dropped,
            "world_size": one.world,
            "date": one.date,
        },
        "measured_over_predicted": found.predicted_ratio,
        "neighbour_factor": found.factor,
        "evidence": found.evidence,
        "edits": {
            path: value if isinstance(value, int | float | str) else str(value) for path, value in found.edits.items()
        },
        "notes": list(found.notes),
        "written": written_too,
    }
