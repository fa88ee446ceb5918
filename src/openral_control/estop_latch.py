"""The emergency stop's memory: it outlives the life cycle of the bridge and its process.

A file says that the stop is latched; that it is there is all that counts, so that a file cut short says it, too.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

from openral_core.files.atomic import sync_folder, write_atomically

FILE_NAME = "estop.json"


class EStopLatch:
    """Whether the emergency stop is latched. Not safe for several threads."""

    def __init__(self, path: Path) -> None:
        """Read the state from `path`; a file that cannot be looked at counts as one that is there."""
        self.path = path
        self.fault = ""
        """Why the file could not be read, written or removed the last time; empty: it could."""
        try:
            path.stat()
            self.latched = True
        except (FileNotFoundError, NotADirectoryError):
            self.latched = False
        except OSError as error:
            self.latched, self.fault = True, f"{path}: {error.strerror or error}"

    def latch(self) -> None:
        """Latch, and remember it on the disk if that is possible; else `fault` says why not."""
        self.latched = True
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, json.dumps({"latched_at_s": time.time()}), durable=True)
            self.fault = ""
        except OSError as error:
            self.fault = f"{self.path}: {error.strerror or error}"

    def release(self) -> None:
        """Release, and forget it on the disk; else `fault` says why not, and a new process begins latched."""
        try:
            self.path.unlink(missing_ok=True)
            sync_folder(self.path.parent)
            self.fault = ""
        except (FileNotFoundError, NotADirectoryError):
            self.fault = ""  # there never was such a folder
        except OSError as error:
            self.fault = f"{self.path}: {error.strerror or error}"
        self.latched = False


def latch_path(
    run_dir: str, domain: int, namespace: str, environment: Mapping[str, str] = os.environ
) -> Path:
    """Return where the stop is remembered: in the run's folder, else in the user's state folder.

    Args:
        run_dir: folder of the run; empty: none.
        domain: ROS domain of the bridge.
        namespace: of the bridge, such as /openral.
        environment: of the process; `XDG_STATE_HOME` names the state folder, default ~/.local/state.
    """
    if run_dir:
        return Path(run_dir).expanduser() / FILE_NAME
    state = environment.get("XDG_STATE_HOME", "")
    home = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    name = namespace.strip("/").replace("/", "-") or "root"
    return home / "openral" / "estop" / f"{domain}-{name}.json"
