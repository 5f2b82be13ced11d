"""One save in a process of its own, between two markers that strace shows; run by test_save under injected faults.

Arguments: the plan, its new text, and the way: `safe` (the saver) or `naive` (truncate and write, the control).
"""

import hashlib
import os
import sys
from pathlib import Path

from trainplan.files.save import SaveError, save


def saved(path: Path, text: str, way: str) -> str:
    expected = hashlib.sha256(path.read_bytes()).hexdigest()
    os.path.exists("/marker-begin")
    try:
        if way == "safe":
            return f"saved durable={save(path, text, expected_sha256=expected).durable}"
        path.write_text(text)
    except SaveError as error:
        return f"{type(error).__name__} {error}"
    finally:
        os.path.exists("/marker-end")
    return "written"


print(saved(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
