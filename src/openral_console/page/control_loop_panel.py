"""The control loop: its rate, its steps, and why it refused a chunk."""

from __future__ import annotations

import time

from nicegui import ui

from openral_console.live.deployment import LiveDeployment
from openral_console.live.views import ControlView

SLOWED = 0.1
"""Least difference of the real time factor from 1 that is no jitter."""


class ControlPanel:
    """Rate, steps, and why the last chunk was refused."""

    def __init__(self, deployment: LiveDeployment) -> None:
        """Create the elements for a deployment."""
        self._deployment = deployment
        with ui.element("section").classes("c-panel"):
            ui.label("Control").classes("c-title")
            with ui.element("div").classes("c-table c-num"):
                self._values = {
                    name: _row(name)
                    for name in (
                        "rate",
                        "speed",
                        "steps executed",
                        "steps held",
                        "steps expired",
                        "chunks refused",
                    )
                }
            self._why = ui.label("").classes("c-warn").style("margin-top:6px").props("id=rejection")

    def update(self) -> None:
        """Show the present state."""
        control = self._deployment.control
        if control is None:
            return
        shown = {
            "rate": _rate(control),
            "speed": f"{control.real_time_factor:.2f} × real time"
            if control.mode == "realtime"
            else control.mode,
            "steps executed": _count(control.executed),
            "steps held": _count(control.held),
            "steps expired": _count(control.expired),
            "chunks refused": _count(control.rejected),
        }
        if self._deployment.control_is_stale:
            age_s = time.monotonic() - control.received_s
            shown["rate"] = f"silent for {age_s:.0f} s"
        for name, words in shown.items():
            self._values[name].set_text(words)
        self._why.set_text(_why(control))


def _row(name: str) -> ui.label:
    ui.label(name).classes("c-soft")
    return ui.label("–").style("text-align:right").props(f'data-value="{name}"')


def _count(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def _rate(control: ControlView) -> str:
    """Return control steps a wall second beside those there should be; a slowed simulation has fewer by intent."""
    slowed = control.mode == "realtime" and abs(control.real_time_factor - 1) > SLOWED
    wanted = f"{control.control_hz:.0f} Hz at full speed" if slowed else f"{control.control_hz:.0f} Hz"
    return f"{control.effective_hz:.1f} of {wanted}"


def _why(control: ControlView) -> str:
    return f"last refusal: {control.last_rejection}" if control.last_rejection else ""
