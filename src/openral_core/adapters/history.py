"""The latest instants of an episode by control step, for checkpoints whose input has a history."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Generic, TypeVar

Kept = TypeVar("Kept")
"""Data of a control step: images, or a `StepView` of images and state."""


class FrameHistory(Generic[Kept]):
    """Keeps the data of the control steps to which the offsets reach back; it does not depend on a clock.

    For a step without data, as with cameras slower than the control rate, the data of the nearest earlier step is used;
    before the first step of the episode, that of the first.
    """

    def __init__(self, offsets: Sequence[int]) -> None:
        """Create an empty history.

        Args:
            offsets: control steps relative to the present one, ascending to 0, as in the manifest's
                `image_preprocessing.history`; empty: nothing is kept, and `at` returns an empty tuple.
        """
        self._offsets = tuple(offsets)
        self._sets: deque[tuple[int, Kept]] = deque()

    def clear(self) -> None:
        """Begin a new episode."""
        self._sets.clear()

    def add(self, step: int, images: Kept) -> None:
        """Store the data of a control step; it is ignored unless the step is newer than the last one."""
        if not self._offsets or (self._sets and step <= self._sets[-1][0]):
            return
        self._sets.append((step, images))
        oldest = step + self._offsets[0]
        while len(self._sets) > 1 and self._sets[1][0] <= oldest:
            self._sets.popleft()

    def at(self, step: int) -> tuple[Kept, ...]:
        """Return the data of the T instants for a checkpoint at a control step, oldest first.

        Args:
            step: that of the newest data, or a later one without data.

        Raises:
            ValueError: nothing was added since the episode began.
        """
        if not self._offsets:
            return ()
        if not self._sets:
            raise ValueError("no images in this episode yet; add a set before asking")
        return tuple(self._nearest(step + offset) for offset in self._offsets)

    def _nearest(self, step: int) -> Kept:
        """Return the newest data that is not newer than `step`, or else the oldest."""
        for kept, images in reversed(self._sets):
            if kept <= step:
                return images
        return self._sets[0][1]
