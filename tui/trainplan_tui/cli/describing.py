"""`schema`: the JSON Schema of the plan file, for editors."""

from __future__ import annotations

from trainplan.plan.describe import schema
from trainplan_tui.cli.running import Options, write_json


def run(options: Options) -> int:
    """Print the schema."""
    write_json(schema())
    return 0
