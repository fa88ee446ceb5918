"""The skills: what the arm can do, in which state, under which licence."""

from __future__ import annotations

from collections.abc import Mapping

from nicegui import ui

from openral_console.live.deployment import LiveDeployment
from openral_console.live.views import SkillView
from openral_core.teleoperation_names import TELEOPERATION


class SkillsPanel:
    """What the arm can do, in which state, under which licence."""

    def __init__(self, deployment: LiveDeployment) -> None:
        """Create the elements for a deployment."""
        self._deployment = deployment
        self._shown: Mapping[str, SkillView] = {}
        with ui.element("section").classes("c-panel"):
            ui.label("Skills").classes("c-title")
            self._rows = ui.element("div").classes("c-rows").props("id=skills")
        self._fill()

    def update(self) -> None:
        """Show the present state."""
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
