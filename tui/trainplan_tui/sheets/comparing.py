"""Compare with another plan file: a path, then the difference with the two names."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from trainplan.estimation import estimate
from trainplan.files.beside import recounted_beside
from trainplan_tui.sheets.asking import PathSheet
from trainplan_tui.sheets.beginning import NotOpenedError, opened
from trainplan_tui.sheets.difference import DifferenceSheet
from trainplan_tui.sheets.sheet import Host


class CompareSheet(PathSheet):
    """Asks for the other plan."""

    def __init__(self, host: Host) -> None:
        folder = host.session.path.parent
        begin = "" if str(folder) == "." else f"{folder}/"
        super().__init__(
            host, "compare", "compare with another plan", "a plan file; tab completes", begin, self._compare
        )

    def _compare(self, path: Path) -> bool:
        try:
            other = opened(path)
        except NotOpenedError as error:
            more = len(error.reasons) - 1
            self.host.message = f"{error.reasons[0]}{f'; and {more} more' if more else ''}"
            return False
        figures = recounted_beside(path, estimate(other.plan, self.host.session.today), dt.datetime.now(dt.UTC))
        self.host.open_sheet(DifferenceSheet(self.host, figures, (path.name, self.host.session.path.name)))
        return True
