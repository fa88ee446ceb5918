"""What a SpaceMouse reports: how far its cap is deflected, and two of its buttons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from openral_core.errors import OpenralError


class SpaceMouseError(OpenralError):
    """A SpaceMouse is not there, cannot be opened or cannot be read."""


@dataclass(frozen=True)
class SpaceMouseReport:
    """One report, in the axes of the world frame for an operator who looks along its x."""

    x: float = 0.0
    """-1..1; positive: the cap is pushed away from the operator."""
    y: float = 0.0
    """Positive: pushed to the left."""
    z: float = 0.0
    """Positive: lifted."""
    turn: float = 0.0
    """Positive: twisted counterclockwise, seen from above."""
    fingers: bool = False
    """The button that opens and closes the fingers is down."""
    stop: bool = False
    """The button of the emergency stop is down."""


class SpaceMouseDevice(Protocol):
    """An open SpaceMouse. A pressed cap reports all the time, at 60 Hz and more; one at rest is silent."""

    name: str
    """Of the product."""

    def read(self) -> SpaceMouseReport | None:
        """Return the oldest report that was not read yet; None: none waits.

        Raises:
            SpaceMouseError: the device is gone.
        """

    def close(self) -> None:
        """Let it go; a device that is gone already is no error."""
