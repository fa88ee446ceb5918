"""Lets one program at a time move an arm that takes commands from several, as topics of ROS do.

The controller of a Franka serves one client (`arm_in_use.py`). Programs of other users and machines cannot be detected.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time

from openral_control.estop_latch import latch_of_arm
from openral_core.scene_arm import SceneArm
from openral_robot_bridge.driver import ArmError
from openral_robot_bridge.drivers.arm_in_use import RELEASE_S, described

OPEN_TO_ALL = ("sawyer", "ros2_control")
"""Drivers of arms that take commands from several programs."""
_PERIOD_S = 0.1
"""[s] between two attempts."""


class ArmLock:
    """The lock of an arm, which this process has until `close` or its end."""

    def __init__(self, arm: SceneArm, release_s: float = RELEASE_S) -> None:
        """Take the lock, if the arm needs one; without a folder for its file, or locks there, nothing is locked.

        Args:
            arm: section of the scene.
            release_s: [s] to wait at most for a program that is ending.

        Raises:
            ArmError: a program, which the message names, has the lock.
        """
        self._file = -1
        if arm.driver not in OPEN_TO_ALL:
            return
        path = latch_of_arm(arm.driver, arm.address).with_suffix(".lock")
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            holder = self._take(time.monotonic() + release_s)
            if holder:
                self.close()
                raise ArmError(
                    f"the arm at {arm.address} is moved by {holder}, and one program at a time may; end that first, "
                    "such as a deployment by Ctrl-C"
                )

    def close(self) -> None:
        """Release the lock."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def _take(self, until_s: float) -> str:
        """Take the lock and write this process's id into its file; return who has it at `until_s` [s], else nothing."""
        while True:
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):  # POSIX leaves open which of them it is
                if time.monotonic() > until_s:
                    return self._holder()
                time.sleep(_PERIOD_S)
                continue
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, str(os.getpid()).encode(), 0)
            return ""

    def _holder(self) -> str:
        with contextlib.suppress(OSError, ValueError):  # it has ended meanwhile, or its disk is full
            return described(int(os.pread(self._file, 20, 0)))
        return "another program of this user"
