"""Line plots with axes, as SVG for a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from openral_core.html.ticks import ticks

Point = tuple[float, float]
PLOT_STYLE = "svg { max-width: 30rem; margin-right: 1rem; } svg text { font-size: 11px; fill: #444; }\n"
_COLOURS = ("#1b6ca8", "#2a9d5c", "#d1495b", "#8d6cab", "#c98a1b", "#5f6b73", "#17a2a2", "#7a4b2a")
JUDGEMENT_COLOURS = {"progress": "#7b858d", "success": "#1d5d8c", "threshold": "#b08900"}
"""Colours of the lines of a reward monitor on all pages; the threshold is dashed."""
_LEFT, _TOP, _SIDE = 40, 12, 260
"""[px] margins and side of a plot."""
_TICKS = 5


def plot(
    lines: Mapping[str, Sequence[Point]], x: Point = (0.0, 1.0), y: Point = (0.0, 1.0), unit: str = ""
) -> str:
    """Draw lines, with a legend.

    Args:
        lines: points in order, by name.
        x: least and greatest value of the axis to the right; equal ones are spread.
        y: of the axis upwards.
        unit: of the values to the right, written behind each.
    """
    x, y = _spread(x), _spread(y)

    def at(point: Point) -> Point:
        right, up = (point[0] - x[0]) / (x[1] - x[0]), (point[1] - y[0]) / (y[1] - y[0])
        return _LEFT + _SIDE * right, _TOP + _SIDE * (1.0 - up)

    parts = [f"<svg viewBox='0 0 {_LEFT + _SIDE + 110} {_TOP + _SIDE + 30}' role='img'>"]
    for tick in ticks(*y, _TICKS):
        _, up = at((x[0], tick))
        parts.append(f"<path d='M{_LEFT} {up:.0f}h{_SIDE}' stroke='#ddd'/>")
        parts.append(f"<text x='{_LEFT - 6}' y='{up + 4:.0f}' text-anchor='end'>{tick:.6g}</text>")
    for tick in ticks(*x, _TICKS):
        right, _ = at((tick, y[0]))
        words = f"{tick:.6g} {unit}".rstrip()
        parts.append(
            f"<text x='{right:.0f}' y='{_TOP + _SIDE + 16}' text-anchor='middle'>{escape(words)}</text>"
        )
    for index, (name, points) in enumerate(lines.items()):
        colour = JUDGEMENT_COLOURS.get(name, _COLOURS[index % len(_COLOURS)])
        dashes = " stroke-dasharray='5 4'" if name == "threshold" else ""
        path = " ".join(f"{right:.1f},{up:.1f}" for right, up in map(at, points))
        parts.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2'{dashes}/>")
        height = _TOP + 14 + 16 * index
        parts.append(
            f"<text x='{_LEFT + _SIDE + 10}' y='{height}' style='fill:{colour}'>{escape(name)}</text>"
        )
    return "".join([*parts, "</svg>"])


def _spread(ends: Point) -> Point:
    low, high = ends
    return (low, high) if high > low else (low, low + 1.0)
