"""What utilization could rest on: the published runs nearest to the plan, and the step model; `enter` takes one as evidence."""

from __future__ import annotations

import re
from typing import Any, Final

from trainplan.evidence.nearest import Near, claim_of_prediction, claim_of_run, nearest_runs
from trainplan.evidence.published import Run
from trainplan.labels.series import series
from trainplan.quantity.figure import Figure
from trainplan_tui.panes.rows import TABLE, BodyRow, note_row, table_rows
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas

PREFIX: Final = "claim "
PREDICTED: Final = "claim predicted"
NAME: Final = 36
"""Last cell of the run's name."""
ENDS: Final = (43, 51, 63, 70, 79)
"""Last cells of accelerators, length, rate, utilization, and the difference to the plan."""


_LAST: list[tuple[object, object, tuple[Near, ...]]] = []
"""The runs near the estimate that shows: moving the cursor looks for none."""


def nearest(shown: Shown) -> tuple[Near, ...]:
    """The published runs nearest to the plan that shows; none until they were read."""
    if not _LAST or _LAST[0][0] is not shown.estimate or _LAST[0][1] is not shown.runs:
        _LAST[:] = [(shown.estimate, shown.runs, nearest_runs(shown.estimate, shown.runs) if shown.runs else ())]
    return _LAST[0][2]


def claim_rows(shown: Shown, width: int, glyphs: Glyphs, most: int) -> list[BodyRow]:
    """Heads, the nearest runs, the prediction."""
    if not shown.runs:
        return [note_row("published runs are being read", width, glyphs)]
    found = nearest(shown)[:most]
    whole = max(width, TABLE)
    head = Canvas(whole, glyphs)
    head.put(4, "nearest published runs", "dim", end=NAME)
    for end, word in zip(ENDS, ("acc", "seq", "tok/s/acc", "MFU", "vs plan"), strict=True):
        head.right(end, word, "dim")
    rows = [BodyRow("", "picture", head.line())]
    rows += [_run_row(place, near, shown, whole, glyphs) for place, near in enumerate(found)]
    return table_rows([*rows, *_predicted(shown, whole, glyphs)], (NAME, *ENDS), width)


def _run_row(place: int, near: Near, shown: Shown, width: int, glyphs: Glyphs) -> BodyRow:
    canvas, run = Canvas(width, glyphs), near.run
    canvas.put(4, readable(run), end=NAME)
    texts = (
        f"{run.accelerators:,.0f}",
        f"{run.sequence_length:,.0f}",
        f"{run.tokens_per_second:,.0f}",
        f"{100 * near.utilization:.1f}",
        _against(near.utilization, shown),
    )
    for end, text in zip(ENDS, texts, strict=True):
        canvas.right(end, text, "text" if near.alike else "dim")
    return BodyRow(f"{PREFIX}{place}", "figure", canvas.line())


COLLECTIONS: Final = {
    "llmf": "llm-foundry",
    "mbridge": "MBridge",
    "bloompq": "BLOOM prequel",
    "tpu": "tpu-recipes",
    "ironwood": "tpu-recipes",
    "korthikanti22": "Korthikanti 2022",
    "narayanan21": "Narayanan 2021",
    "megatron2020": "Megatron-LM 2020",
    "mtnlg": "MT-NLG",
    "nemolauncher": "NeMo launcher",
    "megascale": "MegaScale",
    "vtrain": "vTrain",
    "simumax": "SimuMax",
}
"""What the first word of a run's identifier stands for, where it is not the name itself."""


def readable(run: Run) -> str:
    """A run as a person would say it: who ran which model, and what sets it apart. Its identifier is told under the cursor."""
    first, _, rest = run.name.partition(".")
    version = re.match(r"\d\d\.\d\d(\.\d\d)?(?=\.)", rest)  # a container's: successive ones ran the same
    who = COLLECTIONS.get(first, first) + (f" {version[0]}" if version else "")
    apart = ["recomputed"] if run.recompute == "full" else []
    apart += [last for last in (rest.rsplit(".", 1)[-1],) if last in ("eager", "compile", "fp8")]
    return ", ".join([f"{who} {run.model}", *apart])


def _against(utilization: float, shown: Shown) -> str:
    """How much faster a run was than the plan says, at the plan's own FLOP and peak."""
    own = shown.estimate.speed.utilization
    if not isinstance(own, Figure) or own <= 0:
        return "?"
    told = f"{100 * (utilization / float(own) - 1):+.0f} %"
    return "0 %" if told in ("-0 %", "+0 %") else told  # less than half a percent is no direction


def _predicted(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    claim = claim_of_prediction(shown.estimate)
    if not claim:
        return []
    value = claim["utilization.value"]
    canvas = Canvas(width, glyphs)
    canvas.put(4, "predicted from the layout", end=NAME)
    edges = f"{100 * claim['utilization.low']:.1f} to {100 * claim['utilization.high']:.1f}"
    canvas.right(ENDS[2], edges, "dim", start=ENDS[1] + 1)
    canvas.right(ENDS[3], f"{100 * value:.1f}")
    canvas.right(ENDS[4], _against(value, shown))
    return [BodyRow(PREDICTED, "figure", canvas.line())]


def claim_of(id_: str, shown: Shown) -> dict[str, Any]:
    """The plan fields that a row would set, by path."""
    if id_ == PREDICTED:
        return claim_of_prediction(shown.estimate)
    return claim_of_run(nearest(shown)[int(id_.removeprefix(PREFIX))])


def told(id_: str, shown: Shown) -> tuple[str, list[str]]:
    """What a row is and in what it differs, for the inspector."""
    if id_ == PREDICTED:
        return "predicted", [
            "The step model's utilization of this layout with its 80 % range; taken, it stays assumed."
        ]
    near = nearest(shown)[int(id_.removeprefix(PREFIX))]
    differs = series(near.differences) or "nothing that counts here"
    read = "" if near.run.verified else " (not read again)"
    about = f"{near.run.model}, {near.run.title}"
    return near.run.name, [
        f"{about}; differs in {differs}; distance {near.distance:.2f}{read}.",
        f"source: {near.run.source}",
    ]


def source_of(id_: str, shown: Shown) -> str:
    """Where a run was read; empty for the prediction, whose source is its formula."""
    own = id_.startswith(PREFIX) and id_ != PREDICTED
    return "" if not own else nearest(shown)[int(id_.removeprefix(PREFIX))].run.source
