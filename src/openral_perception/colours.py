"""Names of colours, by hue, saturation and value."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "grey", "white")
"""The colours that can be named; `colour_name` returns one of them."""
ALSO = {"gray": "grey", "violet": "purple", "cyan": "blue", "magenta": "pink"}
"""Synonym -> colour in `COLOURS`."""
_HUES = (
    (0.04, "red"),
    (0.105, "orange"),
    (0.19, "yellow"),
    (0.46, "green"),
    (0.70, "blue"),
    (0.80, "purple"),
)
"""Greatest hue (0 to 1) of each name for saturated colours; above these pink up to 0.94, then red again."""
_PINK = 0.94
_DARK, _PALE, _BRIGHT = 0.18, 0.25, 0.82
"""Value below which a colour is black; saturation below which it is grey; value above which such a colour is white."""
_BROWN = 0.6
"""Value below which orange and dark yellow are brown."""


def colour_name(rgb: Sequence[float]) -> str:
    """Return the name of a colour; `rgb` (3,) is red, green and blue in 0 to 1, and clipped to it."""
    hue, saturation, value = colorsys.rgb_to_hsv(*(min(max(float(part), 0.0), 1.0) for part in rgb))
    if value < _DARK:
        return "black"
    if saturation < _PALE:
        return "white" if value > _BRIGHT else "grey"
    if hue > _PINK:
        return "red" if saturation > 2 * _PALE or value < _BROWN else "pink"
    name = next((name for bound, name in _HUES if hue <= bound), "pink")
    return "brown" if name in ("orange", "yellow") and value < _BROWN else name
