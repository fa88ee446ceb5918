"""The recent transforms from one frame to its parent."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from tf2_py.exceptions import ExtrapolationException
from tf2_py.rigid import Rigid, interpolate


class Sample(NamedTuple):
    """The transform to a parent at one time [ns]."""

    stamp: int
    parent: str
    transform: Rigid
    authority: str


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e9:.6f}"


class TimeCache:
    """Samples of one frame in the order of their stamps, none older than `span` [ns] before the newest."""

    is_static = False

    def __init__(self, span: int) -> None:
        """Start empty."""
        self._span = span
        self._stamps: list[int] = []
        self._samples: list[Sample] = []

    def insert(self, sample: Sample) -> str:
        """Add a sample; returns why it was left out, or an empty text."""
        if self._stamps and sample.stamp < self._stamps[-1] - self._span:
            return "older than the cache reaches back"
        index = bisect_left(self._stamps, sample.stamp)
        if index < len(self._stamps) and self._stamps[index] == sample.stamp:
            return "a transform with the same stamp is known"
        self._stamps.insert(index, sample.stamp)
        self._samples.insert(index, sample)
        expired = bisect_left(self._stamps, self._stamps[-1] - self._span)
        del self._stamps[:expired], self._samples[:expired]
        return ""

    def newest(self) -> Sample | None:
        """The sample with the latest stamp."""
        return self._samples[-1] if self._samples else None

    def oldest(self) -> Sample | None:
        """The sample with the earliest stamp."""
        return self._samples[0] if self._samples else None

    def __len__(self) -> int:
        return len(self._samples)

    def at(self, stamp: int) -> Sample | None:
        """The transform at a time, interpolated between its neighbours; None without any data.

        Raises:
            ExtrapolationException: the time is not between the oldest and the newest sample.
        """
        if not self._samples:
            return None
        index = bisect_left(self._stamps, stamp)
        if index < len(self._stamps) and self._stamps[index] == stamp:
            return self._samples[index]
        if len(self._samples) == 1:
            raise ExtrapolationException(
                "Lookup would require extrapolation at time "
                f"{_seconds(stamp)}, but only time {_seconds(self._stamps[0])} is in the buffer"
            )
        if index == len(self._stamps):
            raise ExtrapolationException(
                "Lookup would require extrapolation into the future. Requested time "
                f"{_seconds(stamp)} but the latest data is at time {_seconds(self._stamps[-1])}"
            )
        if index == 0:
            raise ExtrapolationException(
                "Lookup would require extrapolation into the past. Requested time "
                f"{_seconds(stamp)} but the earliest data is at time {_seconds(self._stamps[0])}"
            )
        before, after = self._samples[index - 1], self._samples[index]
        if before.parent != after.parent:  # the frame changed hands between: the older one still holds
            return before
        ratio = (stamp - before.stamp) / (after.stamp - before.stamp)
        moved = interpolate(before.transform, after.transform, ratio)
        return Sample(stamp, before.parent, moved, before.authority)


class StaticCache(TimeCache):
    """One transform that holds at all times; the newest one replaces it."""

    is_static = True

    def insert(self, sample: Sample) -> str:
        """Replace the transform."""
        self._stamps, self._samples = [sample.stamp], [sample]
        return ""

    def at(self, stamp: int) -> Sample | None:
        """The transform."""
        return self.newest()
