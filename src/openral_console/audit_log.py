"""Logs the operators' actions: a line in the node's log, and one in a file that only this user can read."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

from openral_core.cli.printable import MAX_SHOWN, plain_line
from openral_core.files.output_folder import check_folder, make_private

STOPS = {"/stop": "pressed stop", "/stop-all": "pressed stop for all deployments"}
"""Paths of the stop of this deployment, and of all in its domain -> words for the log."""


class ActionLog:
    """Records actions. May be used from any thread."""

    def __init__(self, path: Path, say: Callable[[str], object], *, is_checked: bool = False) -> None:
        """Append to a file.

        Args:
            path: of the file; JSON, one action a line.
            say: takes the words for the node's log.
            is_checked: whether its folder was found to be writable before, and may have become full since.

        Raises:
            OutputError: its folder cannot be written.
        """
        if not is_checked:
            make_private(check_folder(path.parent, "folder of the console's log"))
        self.path, self._say = path, say
        self._lock = threading.Lock()

    def __call__(self, who: str, what: str, fault: str = "") -> None:
        """Record an action, and why it failed (empty: it did not); if the file cannot be written, only in the log."""
        what = f"{what}, in vain: {fault}" if fault else what
        who, what = (
            plain_line(who),
            plain_line(what, MAX_SHOWN),
        )  # whoever is at the door names himself as he likes
        line = json.dumps({"wall_time": round(time.time(), 3), "who": who, "did": what}, ensure_ascii=False)
        with self._lock:
            try:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
                self.path.chmod(0o600)
            except OSError as error:
                self._say(f"{self.path}: {error.strerror or error}")
        self._say(f"{who}: {what}")
