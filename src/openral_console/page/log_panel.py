"""The log: the newest lines of all nodes, with a bounded number of lines sent to a page per second."""

from __future__ import annotations

import html

from nicegui import ui

from openral_console.live.deployment import LiveDeployment

SHOWN = 200
"""Most lines that a page shows."""
LEVELS = {10: "everything", 20: "info", 30: "warnings", 40: "errors"}


class LogPanel:
    """The lines, and which of them are shown."""

    def __init__(self, deployment: LiveDeployment) -> None:
        """Create the elements for a deployment."""
        self._deployment = deployment
        self._count, self._level = 0, 20
        with ui.element("section").classes("c-panel c-wide"):
            with ui.element("div").classes("c-line"):
                ui.label("Log").classes("c-title")
                with ui.row().classes("items-center gap-3"):
                    self._number = ui.label("").classes("c-soft c-num").props("id=log-count")
                    ui.select(LEVELS, value=20, on_change=lambda event: self._choose(event.value)).props(
                        "dense borderless options-dense id=log-level"
                    )
            self._lines = ui.html("", sanitize=False).classes("c-log").props("id=log")

    def update(self) -> None:
        """Show the present state."""
        log = self._deployment.log
        if log.count == self._count:
            return
        self._count = log.count
        self._number.set_text(f"{log.count} lines")
        self._lines.set_content(
            "".join(
                f'<div class="l{line.level}">{line.clock}  {html.escape(line.node)}: {html.escape(line.text)}</div>'
                for line in reversed(log.newest(self._level, SHOWN))
            )
        )

    def _choose(self, level: int) -> None:
        self._level, self._count = level, -1
