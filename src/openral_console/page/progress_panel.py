"""The curves of the reward monitor: progress, success and the threshold that success must reach."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from openral_console.live.deployment import LiveDeployment
from openral_console.live.views import ReadingView
from openral_core.html.plots import JUDGEMENT_COLOURS

WINDOW_S = 60.0
"""[s] of the curves that are shown, the newest."""
INK = "#697077"


class ProgressPanel:
    """One chart."""

    def __init__(self, deployment: LiveDeployment) -> None:
        """Create the elements for a deployment."""
        self._deployment = deployment
        self._shown: tuple[ReadingView, ...] = ()
        with ui.element("section").classes("c-panel"):
            with ui.element("div").classes("c-line"):
                ui.label("Progress").classes("c-title")
                self._words = ui.label("nothing is scored yet").classes("c-soft c-num").props("id=reading")
            self._chart = ui.echart(_options()).classes("c-chart").props("id=curves")

    def update(self) -> None:
        """Show the present state."""
        readings = self._deployment.readings
        if readings is self._shown or readings == self._shown:
            return
        self._shown = readings
        if not readings:
            self._words.set_text("nothing is scored yet")
            self._chart.run_chart_method("setOption", {"series": [{"data": []}] * 3})
            return
        newest = readings[-1]
        inside = [reading for reading in readings if newest.stamp_s - reading.stamp_s <= WINDOW_S]
        self._words.set_text(_words(newest))
        self._chart.run_chart_method("setOption", _series(inside))


def _words(reading: ReadingView) -> str:
    if reading.abstained:
        return f"abstains: {reading.remark}"
    return f"progress {reading.progress:.2f} · success {reading.success:.2f}"


def _options() -> dict[str, Any]:
    """Return the chart as it is before the first reading."""
    label = {"color": INK, "fontSize": 11}
    line = {"lineStyle": {"color": "#d5d5cf"}}
    inner = {**label, "showMinLabel": False, "showMaxLabel": False, "formatter": "{value} s"}
    return {
        "animation": False,
        "grid": {"left": 34, "right": 12, "top": 28, "bottom": 24},
        "legend": {
            "top": 0,
            "right": 0,
            "itemWidth": 14,
            "itemHeight": 2,
            "textStyle": {"color": INK, "fontSize": 11},
        },
        "xAxis": {
            "type": "value",
            "scale": True,
            "splitLine": {"show": False},
            "axisLabel": inner,
            "axisLine": line,
        },
        "yAxis": {
            "type": "value",
            "min": 0,
            "max": 1,
            "interval": 0.25,
            "splitLine": {"lineStyle": {"color": "#eeeee9"}},
            "axisLabel": label,
        },
        "series": [
            _curve("progress"),
            _curve("success"),
            _curve("threshold", type="dashed", width=1),
        ],
    }


def _curve(name: str, **line: Any) -> dict[str, Any]:
    color = JUDGEMENT_COLOURS[name]
    return {
        "name": name,
        "type": "line",
        "showSymbol": False,
        "connectNulls": False,
        "data": [],
        "itemStyle": {"color": color},
        "lineStyle": {"width": 2, "color": color, **line},
    }


def _series(readings: list[ReadingView]) -> dict[str, Any]:
    """Return the values of the curves, with a gap between two attempts."""
    progress: list[list[float | None]] = []
    success: list[list[float | None]] = []
    threshold: list[list[float | None]] = []
    goal = readings[0].goal
    for reading in readings:
        at = round(reading.stamp_s, 2)
        if reading.goal != goal:
            goal = reading.goal
            for curve in (progress, success):
                curve.append([at, None])
        progress.append([at, round(reading.progress, 3)])
        success.append([at, round(reading.success, 3)])
        threshold.append([at, reading.threshold if reading.threshold > 0 else None])
    first, last = readings[0].stamp_s, readings[-1].stamp_s
    axis = {"min": round(first, 1), "max": round(max(last, first + 5.0), 1)}
    return {"xAxis": axis, "series": [{"data": progress}, {"data": success}, {"data": threshold}]}
