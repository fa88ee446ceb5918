"""Names of colours, by hue, saturation and value."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "grey", "white")
"""The colours that can be named; `colour_name` returns one of them."""
ALSO = {"gray": "grey", "violet": "purple", "cyan": "blue", "magenta": "pink"}
"""Other words for them."""
_HUES = (
    (0.04, "red"),
    (0.105, "orange"),
    (0.19, "yellow"),
    (0.46, "green"),
    (0.70, "blue"),
    (0.80, "purple"),
)
"""Hue (0 to 1) up to which a saturated colour has the name; then pink to 0.94, then red again."""
_PINK = 0.94
_DARK, _PALE, _BRIGHT = 0.18, 0.25, 0.82
"""Value below which all is black; saturation below which all is grey, or white from this value on."""
_BROWN = 0.6
"""Value below which orange and dark yellow are brown."""


def colour_name(rgb: Sequence[float]) -> str:
    """Return the name of a colour of red, green and blue in 0 to 1."""
    hue, saturation, value = colorsys.rgb_to_hsv(*(min(max(float(part), 0.0), 1.0) for part in rgb))
    if value < _DARK:
        return "black"
    if saturation < _PALE:
        return "white" if value > _BRIGHT else "grey"
    if hue > _PINK:
        return "red" if saturation > 2 * _PALE or value < _BROWN else "pink"
    name = next((name for bound, name in _HUES if hue <= bound), "pink")
    return "brown" if name in ("orange", "yellow") and value < _BROWN else name
