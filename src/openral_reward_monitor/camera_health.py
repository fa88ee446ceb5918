"""Whether the pictures of a camera can be judged: not frozen, not too dark."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openral_core.image_message import is_dark
from openral_core.types import Image

FROZEN_AFTER_S = 1.0
"""[s] A picture that stays the same to the bit for so long, while the robot moves, is not a live one."""
MOVED = 0.02
"""[rad or m] By which one joint must have moved meanwhile; noise and the settling of a held arm are less."""


class CameraHealth:
    """Watches the frames of one camera, and whether the robot moves meanwhile.

    A simulated arm that holds still gives the same picture again and again, so a picture only counts as frozen if the
    joints moved. Where no joints are heard of, the picture alone decides: no real sensor repeats itself to the bit.
    """

    def __init__(self) -> None:
        self.dark = False
        """The newest frame is too dark to be judged."""
        self.frozen = False
        """The picture stays the same though it should not."""
        self._last: Image | None = None
        self._since_s = 0.0
        self._joints: NDArray[np.float64] | None = None
        self._joints_then: NDArray[np.float64] | None = None
        """The first positions that are no older than the picture; None: none has come since."""

    def joints(self, positions: NDArray[np.float64], stamp_s: float | None = None) -> None:
        """Take the newest joint positions [rad or m].

        Args:
            positions: of all joints.
            stamp_s: [s] clock of the bridge; None: the message has no stamp, and counts as being of now. Joint states
                travel on a topic of their own and may come after a picture that is newer.
        """
        self._joints = positions
        if self._joints_then is None and (stamp_s is None or stamp_s >= self._since_s):
            self._joints_then = positions

    def frame(self, stamp_s: float, frame: Image) -> None:
        """Take a frame (H, W, 3) of uint8, which must not be written to afterwards.

        Args:
            stamp_s: [s] clock of the bridge.
            frame: as it came.
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
