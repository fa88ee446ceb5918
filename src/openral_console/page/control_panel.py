"""The panels at the side: the control loop, the skills and the diagnostics."""

from __future__ import annotations

import time
from collections.abc import Mapping

from nicegui import ui

from openral_console.live.deployment import LiveDeployment
from openral_console.live.views import ControlView, DiagnosticView, SkillView
from openral_core.teleoperation import TELEOPERATION

LEVELS = ("good", "warn", "stopped", "warn")
"""Dot of each level of diagnostic_msgs/DiagnosticStatus."""
SLOWED = 0.1
"""Difference of the real time factor from 1 that is no jitter."""
LAPSE_S = 5.0
"""[s] after which a diagnostic that comes each second counts as missing."""


class ControlPanel:
    """Rate, steps, and why the last chunk was refused."""

    def __init__(self, deployment: LiveDeployment) -> None:
        """Make it for a deployment."""
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
        """Show what is known now."""
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


class SkillsPanel:
    """What the arm can do, in which state, under which licence."""

    def __init__(self, deployment: LiveDeployment) -> None:
        """Make it for a deployment."""
        self._deployment = deployment
        self._shown: Mapping[str, SkillView] = {}
        with ui.element("section").classes("c-panel"):
            ui.label("Skills").classes("c-title")
            self._rows = ui.element("div").classes("c-rows").props("id=skills")
        self._fill()

    def update(self) -> None:
        """Show what is known now."""
        if self._deployment.skills is not self._shown:
            self._shown = self._deployment.skills
            self._fill()

    def _fill(self) -> None:
        self._rows.clear()
        with self._rows:
            skills = [skill for skill in self._shown.values() if skill.kind != TELEOPERATION]
            if not skills:
                ui.label("None is announced").classes("c-soft")
            for skill in sorted(skills, key=lambda each: (each.kind == "ros_action", each.name)):
                with ui.element("div").classes("c-line").props("data-part=skill"):
                    with ui.element("div").style("display:flex; gap:8px; align-items:baseline"):
                        if skill.state:
                            dot = "moving" if skill.running else "good" if skill.state == "active" else ""
                            ui.element("span").classes(f"c-dot {dot}")
                        ui.label(skill.name.rpartition("/")[2].removeprefix("rskill-"))
                    state = "running" if skill.running else skill.state or skill.version
                    terms = skill.license + ("" if skill.commercial_use else ", not commercial")
                    ui.label(f"{state} · {terms}").classes("c-soft").style("text-align:right")


class DiagnosticsPanel:
    """What each part says about itself."""

    def __init__(self, deployment: LiveDeployment) -> None:
        """Make it for a deployment."""
        self._deployment = deployment
        self._rows: dict[str, tuple[ui.element, ui.label, ui.label]] = {}
        with ui.element("section").classes("c-panel"):
            ui.label("Diagnostics").classes("c-title")
            self._none = ui.label("None were heard").classes("c-soft")
            self._list = ui.element("div").classes("c-rows").props("id=diagnostics")

    def update(self) -> None:
        """Show what is known now."""
        for name, status in self._deployment.diagnostics.items():
            if name not in self._rows:
                self._none.set_visibility(False)
                self._rows[name] = self._add(name)
            dot, message, values = self._rows[name]
            lapsed = time.monotonic() - status.received_s > LAPSE_S
            level = "" if lapsed else LEVELS[min(status.level, 3)]
            dot.classes(replace=f"c-dot {level}")
            message.set_text("silent" if lapsed else status.message)
            values.set_text(_values(status))

    def _add(self, name: str) -> tuple[ui.element, ui.label, ui.label]:
        with self._list, ui.element("details"):
            with ui.element("summary").style("cursor:pointer; display:flex; gap:8px; align-items:baseline"):
                dot = ui.element("span").classes("c-dot")
                ui.label(name.removeprefix("openral/"))
                message = ui.label("").classes("c-soft")
            values = ui.label("").classes("c-soft c-num").style("white-space:pre-line; margin:4px 0 0 17px")
        return dot, message, values


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


def _values(status: DiagnosticView) -> str:
    return "\n".join(f"{key}: {value}" for key, value in status.values.items() if value)
