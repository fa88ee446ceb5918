"""Checks whether the frames of a camera can be scored: they must not be frozen or too dark."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openral_core.image_message import is_dark
from openral_core.types import Image

FROZEN_AFTER_S = 1.0
"""[s] after which a frame that is repeated bit by bit, while the robot moves, counts as frozen."""
MOVED = 0.02
"""[rad or m] least change of one joint that counts as motion; noise and the settling of a held arm are less."""


class CameraHealth:
    """Detects frozen and dark frames of one camera.

    A simulated arm that holds still gives equal frames, so frames count as frozen only if the joints moved. Without
    joint states the frames alone decide, since those of a real sensor are never equal bit by bit.
    """

    def __init__(self) -> None:
        self.dark = False
        """Whether the newest frame is too dark to be scored."""
        self.frozen = False
        """Whether the frames have not changed for `FROZEN_AFTER_S` while the robot moved."""
        self._last: Image | None = None
        self._since_s = 0.0
        self._joints: NDArray[np.float64] | None = None
        self._joints_then: NDArray[np.float64] | None = None
        """The first positions that are no older than the last changed frame; None: none have arrived since."""

    def joints(self, positions: NDArray[np.float64], stamp_s: float | None = None) -> None:
        """Take the newest joint positions [rad or m].

        Args:
            positions: (J,) of all joints.
            stamp_s: [s] on the bridge's clock; None: the message has no stamp, and counts as new. Joint states have a
                topic of their own, and may arrive after a frame that is newer.
        """
        self._joints = positions
        if self._joints_then is None and (stamp_s is None or stamp_s >= self._since_s):
            self._joints_then = positions

    def frame(self, stamp_s: float, frame: Image) -> None:
        """Take a frame (H, W, 3) of uint8, which must not be written to afterwards.

        Args:
            stamp_s: [s] on the bridge's clock.
            frame: as received.
        """
        self.dark = is_dark(frame)
        if self._last is None or not np.array_equal(frame, self._last):
            self._last, self._since_s, self._joints_then = frame, stamp_s, None
            self.frozen = False
        else:
            self.frozen = stamp_s - self._since_s >= FROZEN_AFTER_S and self._moved()

    def _moved(self) -> bool:
        now, then = self._joints, self._joints_then
        if now is None:
            return True
        return then is not None and now.shape == then.shape and bool((np.abs(now - then) > MOVED).any())
