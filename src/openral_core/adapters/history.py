"""The last instants of one episode, by control step, for checkpoints that look back."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Generic, TypeVar

Kept = TypeVar("Kept")
"""What is kept of a control step: images, or a `StepView` of images and state."""


class FrameHistory(Generic[Kept]):
    """Keeps as many sets as the offsets reach back. Counted in control steps, so no clock matters.

    Where a camera publishes less often than the control runs, the nearest earlier set stands in; before the
    first set of the episode that first set does. The same sets give the same answer, whenever they are asked.
    """

    def __init__(self, offsets: Sequence[int]) -> None:
        """Keep what is needed for the offsets.

        Args:
            offsets: control steps back from now, rising to 0, as the manifest's `image_preprocessing.history`;
                empty: nothing is kept, and `at` answers an empty tuple.
        """
        self._offsets = tuple(offsets)
        self._sets: deque[tuple[int, Kept]] = deque()

    def clear(self) -> None:
        """Begin a new episode."""
        self._sets.clear()

    def add(self, step: int, images: Kept) -> None:
        """Store the images of a control step; those of a step that is not newer than the last are left out."""
        if not self._offsets or (self._sets and step <= self._sets[-1][0]):
            return
        self._sets.append((step, images))
        oldest = step + self._offsets[0]
        while len(self._sets) > 1 and self._sets[1][0] <= oldest:
            self._sets.popleft()

    def at(self, step: int) -> tuple[Kept, ...]:
        """Return the T sets of images that a checkpoint sees at a control step, oldest first.

        Args:
            step: that of the newest set, or a later one that no set came for.

        Raises:
            ValueError: nothing was added since the episode began.
        """
        if not self._offsets:
            return ()
        if not self._sets:
            raise ValueError("no images in this episode yet; add a set before asking")
        return tuple(self._nearest(step + offset) for offset in self._offsets)

    def _nearest(self, step: int) -> Kept:
        """Return the newest set that is not newer than `step`, or else the oldest there is."""
        for kept, images in reversed(self._sets):
            if kept <= step:
                return images
        return self._sets[0][1]
