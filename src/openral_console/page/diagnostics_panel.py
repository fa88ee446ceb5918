"""The diagnostics: the status that each part of a deployment publishes on `/diagnostics`."""

from __future__ import annotations

import time
from typing import NamedTuple

from nicegui import ui

from openral_console.live.deployment import LiveDeployment
from openral_console.live.views import DiagnosticView

LEVELS = ("good", "warn", "stopped", "warn")
"""Dot of each level of diagnostic_msgs/DiagnosticStatus."""
LAPSE_S = 5.0
"""[s] after which a diagnostic that comes each second counts as missing."""


class _Row(NamedTuple):
    """The elements of one name."""

    element: ui.element
    dot: ui.element
    message: ui.label
    values: ui.label


class DiagnosticsPanel:
    """What each part says about itself."""

    def __init__(self, deployment: LiveDeployment) -> None:
        """Create the elements for a deployment."""
        self._deployment = deployment
        self._rows: dict[str, _Row] = {}
        with ui.element("section").classes("c-panel"):
            ui.label("Diagnostics").classes("c-title")
            self._none = ui.label("None were heard").classes("c-soft")
            self._list = ui.element("div").classes("c-rows").props("id=diagnostics")

    def update(self) -> None:
        """Show the present state."""
        diagnostics = self._deployment.diagnostics
        for name in self._rows.keys() - diagnostics.keys():
            self._rows.pop(name).element.delete()
        for name, status in diagnostics.items():
            if name not in self._rows:
                self._none.set_visibility(False)
                self._rows[name] = self._add(name)
            row = self._rows[name]
            lapsed = time.monotonic() - status.received_s > LAPSE_S
            level = "" if lapsed else LEVELS[min(status.level, 3)]
            row.dot.classes(replace=f"c-dot {level}")
            row.message.set_text("silent" if lapsed else status.message)
            row.values.set_text(_values(status))

    def _add(self, name: str) -> _Row:
        with self._list, ui.element("details") as element:
            with ui.element("summary").style("cursor:pointer; display:flex; gap:8px; align-items:baseline"):
                dot = ui.element("span").classes("c-dot")
                ui.label(name.removeprefix("openral/"))
                message = ui.label("").classes("c-soft")
            values = ui.label("").classes("c-soft c-num").style("white-space:pre-line; margin:4px 0 0 17px")
        return _Row(element, dot, message, values)


def _values(status: DiagnosticView) -> str:
    return "\n".join(f"{key}: {value}" for key, value in status.values.items() if value)
