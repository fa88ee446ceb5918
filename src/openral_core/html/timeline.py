"""Bars over a time axis, as SVG for a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from openral_core.html.ticks import ticks

TIMELINE_STYLE = ".timeline { max-width: 100%; } .timeline text { font-size: 11px; fill: #444; }\n"
COLOURS = {"good": "#6a9c6a", "bad": "#c06464", "open": "#999999"}
MARK = "#c98a1b"
"""Colour of the spans inside a bar."""
_LEFT, _WIDTH, _ROW = 210, 560, 24
"""[px] room for the labels, for the axis, and for one row."""
_TICKS = 8
_LABEL = 34
"""Largest number of characters of a label."""


@dataclass(frozen=True)
class Bar:
    """A bar for one period of time."""

    label: str
    begin_s: float
    end_s: float
    kind: str
    """A key of `COLOURS`."""
    note: str = ""
    """Text after the label, which is never shortened."""
    title: str = ""
    """Tooltip of the bar."""
    spans: tuple[tuple[float, float], ...] = ()
    """[s] begin and end of marked parts of the bar."""


def timeline(bars: Sequence[Bar]) -> str:
    """Draw one row for each bar, from the earliest begin to the latest end; nothing for no bars."""
    if not bars:
        return ""
    first, last = min(bar.begin_s for bar in bars), max(bar.end_s for bar in bars)
    scale = _WIDTH / max(last - first, 1e-9)

    def at(stamp_s: float) -> float:
        return _LEFT + (stamp_s - first) * scale

    height = _ROW * len(bars) + 26
    parts = [f"<svg class=timeline viewBox='0 0 {_LEFT + _WIDTH + 30} {height}' role='img'>"]
    for stamp_s in ticks(first, last, _TICKS):
        parts.append(f"<path d='M{at(stamp_s):.1f} 0v{height - 22}' stroke='#ddd'/>")
        parts.append(
            f"<text x='{at(stamp_s):.1f}' y='{height - 8}' text-anchor='middle'>{stamp_s:.6g} s</text>"
        )
    for row, bar in enumerate(bars):
        y = _ROW * row + 4
        room = _LABEL - len(bar.note)
        label = (bar.label if len(bar.label) <= room else bar.label[: room - 1] + "…") + bar.note
        parts.append(f"<text x='{_LEFT - 8}' y='{y + 12}' text-anchor='end'>{escape(label)}</text>")
        parts.append(f"<g><title>{escape(bar.title)}</title>")
        spans = [
            (bar.begin_s, bar.end_s, COLOURS.get(bar.kind, COLOURS["open"])),
            *((*s, MARK) for s in bar.spans),
        ]
        for begin_s, end_s, colour in spans:
            width = max((end_s - begin_s) * scale, 1.0)
            parts.append(
                f"<rect x='{at(begin_s):.1f}' y='{y}' width='{width:.1f}' height='16' fill='{colour}'/>"
            )
        parts.append("</g>")
    return "".join([*parts, "</svg>"])
