"""The format of a dataset's videos. It imports little, since the encoder is a process of its own for each recorder."""

from __future__ import annotations

from fractions import Fraction

CODEC, PIXELS = "h264", "yuv420p"


def rate(fps: float) -> Fraction:
    """Return a rate [Hz] as a fraction, for video containers."""
    return Fraction(fps).limit_denominator(1000)
