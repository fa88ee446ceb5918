"""Ticks of an axis: round, inside, as many as fit."""

from __future__ import annotations

import pytest

from openral_core.html.plots import plot
from openral_core.html.ticks import ticks


@pytest.mark.parametrize(
    ("low", "high", "most", "wanted"),
    [
        (0.0, 1.0, 5, [0.0, 0.25, 0.5, 0.75, 1.0]),
        (3.2, 5.03, 5, [3.5, 4.0, 4.5, 5.0]),
        (3.2, 8.6, 8, [4.0, 5.0, 6.0, 7.0, 8.0]),
        (0.0, 30_000.0, 5, [0.0, 10_000.0, 20_000.0, 30_000.0]),
        (-1e-3, 1e-3, 5, [-0.001, -0.0005, 0.0, 0.0005, 0.001]),
        (2.0, 2.0, 5, [2.0]),
    ],
)
def test_ticks_are_round_numbers_inside(low: float, high: float, most: int, wanted: list[float]) -> None:
    assert ticks(low, high, most) == pytest.approx(wanted)
    assert len(wanted) <= most


def test_a_plot_says_its_unit_and_dashes_the_threshold_alone() -> None:
    drawn = plot({"success": [(0, 0), (2, 1)], "threshold": [(0, 0.8), (2, 0.8)]}, x=(0.0, 2.0), unit="s")
    assert ">0.5 s</text>" in drawn
    assert drawn.count("stroke-dasharray") == 1
