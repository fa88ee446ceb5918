"""Persistence of the emergency stop, beyond the life cycle and the process of the bridge.

The stop is latched while a file exists. The content of the file does not matter, so that a truncated one is valid.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path

from openral_core.files.atomic import sync_folder, write_atomically
from openral_core.files.user_path import user_path

FILE_NAME = "estop.json"


class EStopLatch:
    """The latched state of an emergency stop. Not thread-safe."""

    def __init__(self, path: Path) -> None:
        """Read the state from `path`; if it cannot be examined, the stop counts as latched."""
        self.path = path
        self.fault = ""
        """Why the last access to the file failed; empty: it did not."""
        try:
            path.stat()
            self.latched = True
        except (FileNotFoundError, NotADirectoryError):
            self.latched = False
        except OSError as error:
            self.latched, self.fault = True, f"{path}: {error.strerror or error}"

    def latch(self) -> None:
        """Latch the stop and write the file; if that fails, `fault` holds the reason."""
        self.latched = True
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, json.dumps({"latched_at_s": time.time()}), durable=True)
            self.fault = ""
        except OSError as error:
            self.fault = f"{self.path}: {error.strerror or error}"

    def release(self) -> None:
        """Release the stop and remove the file; if that fails, `fault` says why, and a new process begins latched."""
        try:
            self.path.unlink(missing_ok=True)
            sync_folder(self.path.parent)
            self.fault = ""
        except (FileNotFoundError, NotADirectoryError):
            self.fault = ""  # the folder does not exist
        except OSError as error:
            self.fault = f"{self.path}: {error.strerror or error}"
        self.latched = False


def latch_of_run(
    run_dir: str, domain: int, namespace: str, environment: Mapping[str, str] = os.environ
) -> Path:
    """Return the path of the latch file of a simulated arm, in the folder of its run, as another run is another world.

    Args:
        run_dir: folder of the run; empty: it has none, and the latch is one of the user's, for domain and namespace.
        domain: ROS domain of the bridge.
        namespace: of the bridge, such as /openral.
        environment: of the process, see `latch_of_arm`.
    """
    if run_dir:
        return user_path(run_dir) / FILE_NAME
    return _in_state_folder(f"{domain}{namespace}", environment)


def latch_of_arm(driver: str, address: str, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the latch file of a real arm, the same in every deployment of this user that has the arm.

    Args:
        driver: of the arm, such as franka.
        address: of the arm, as scene or command line give it.
        environment: of the process; `XDG_STATE_HOME` names the state folder, default ~/.local/state.
    """
    return _in_state_folder(f"{driver} {address}", environment)


def _in_state_folder(stopped: str, environment: Mapping[str, str]) -> Path:
    state = environment.get("XDG_STATE_HOME", "")
    home = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    name = re.sub(r"[^\w.]+", "-", stopped).strip("-")
    return home / "openral" / "estop" / f"{name}.json"
