"""The panel beside the image in the video of a run: mission, tasks, progress curve and the reasoner's last message."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

WIDTH = 360
"""[px] width of the panel."""
BACKGROUND, INK, FAINT, LINE = (22, 26, 32), (232, 236, 240), (132, 142, 154), (48, 55, 64)
PROGRESS, SUCCESS, DONE, FAILED = (94, 196, 182), (240, 180, 84), (120, 200, 120), (226, 104, 96)
_MARGIN = 20


@dataclass(frozen=True)
class PanelState:
    """What the panel shows at one instant."""

    stamp_s: float
    mission: str
    tasks: Sequence[tuple[str, str]]
    """Text and state of each task at this instant."""
    curve: NDArray[np.float64]
    """(n, 3) stamp [s], progress (0 to 1) and success (0 to 1) of the running attempt's readings so far."""
    words: str
    """The reasoner's last message."""
    held: bool
    """Whether the arm is holding its position."""
    disturbance: str = ""
    """Description of a recent disturbance, shown in place of `words`; empty: none."""


def draw_panel(state: PanelState, height: int) -> NDArray[np.uint8]:
    """Return the panel (height, WIDTH, 3) uint8 RGB."""
    image = Image.new("RGB", (WIDTH, height), BACKGROUND)
    draw = ImageDraw.Draw(image)
    draw.text((_MARGIN, 16), "openral", font=_font(15), fill=PROGRESS)
    clock = f"{state.stamp_s:5.1f} s{'   holding' if state.held else ''}"
    draw.text((WIDTH - _MARGIN, 18), clock, font=_font(13), fill=FAINT, anchor="ra")
    y = _paragraph(draw, 44, f"“{state.mission}”", 17, INK, lines=3) + 10
    for text, task_state in state.tasks:
        y = _task(draw, y, text, task_state)
    top = max(y + 16, height - 250)
    _curve(draw, (_MARGIN, top, WIDTH - _MARGIN, height - 100), state.curve)
    words, colour = (state.disturbance, FAILED) if state.disturbance else (state.words, FAINT)
    _paragraph(draw, height - 78, words, 14, colour, lines=3)
    return np.asarray(image)


def _task(draw: ImageDraw.ImageDraw, y: int, text: str, state: str) -> int:
    color = {"done": DONE, "abandoned": FAILED, "active": PROGRESS, "verifying": SUCCESS}.get(state, LINE)
    draw.ellipse((_MARGIN, y + 5, _MARGIN + 10, y + 15), fill=color)
    ink = FAINT if state == "pending" else INK
    return _paragraph(draw, y, text, 15, ink, lines=2, left=_MARGIN + 22) + 4


def _curve(draw: ImageDraw.ImageDraw, box: tuple[int, int, int, int], curve: NDArray[np.float64]) -> None:
    """Draw progress and success (0 to 1) over time into a box [px]; the time axis spans at least 4 s."""
    left, top, right, bottom = box
    for level in (0.0, 0.5, 1.0):
        y = bottom - level * (bottom - top)
        draw.line((left, y, right, y), fill=LINE)
    draw.text((left, top - 20), "progress", font=_font(12), fill=PROGRESS)
    draw.text((left + 64, top - 20), "success", font=_font(12), fill=SUCCESS)
    if not len(curve):
        return
    span = max(float(curve[-1, 0] - curve[0, 0]), 4.0)
    x = left + (curve[:, 0] - curve[0, 0]) / span * (right - left)
    for column, color in ((2, SUCCESS), (1, PROGRESS)):
        heights = bottom - np.clip(curve[:, column], 0, 1) * (bottom - top)
        points = list(zip(x.tolist(), heights.tolist(), strict=True))
        if len(points) > 1:
            draw.line(points, fill=color, width=2, joint="curve")
        end_x, end_y = points[-1]
        draw.ellipse((end_x - 3, end_y - 3, end_x + 3, end_y + 3), fill=color)
    draw.text((right, top - 20), f"{curve[-1, 1]:.2f}", font=_font(13), fill=PROGRESS, anchor="ra")


def _paragraph(
    draw: ImageDraw.ImageDraw,
    y: int,
    text: str,
    size: int,
    color: tuple[int, int, int],
    *,
    lines: int,
    left: int = _MARGIN,
) -> int:
    """Draw wrapped text and return the y [px] below it."""
    columns = int((WIDTH - _MARGIN - left) / (0.52 * size))
    for line in textwrap.wrap(text, columns, max_lines=lines, placeholder=" …"):
        draw.text((left, y), line, font=_font(size), fill=color)
        y += int(1.3 * size)
    return y


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return the font that Pillow contains, so that a video is the same on every machine."""
    return ImageFont.load_default(size)
