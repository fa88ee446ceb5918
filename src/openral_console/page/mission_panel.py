"""The mission: its tasks as a queue, each with its outcome and the reason, and the newest decisions."""

from __future__ import annotations

from nicegui import ui

from openral_console.live.deployment import LiveDeployment
from openral_core.mission_record import RecordedMission, RecordedStep, RecordedTask

DOTS = {"done": "good", "active": "moving", "verifying": "moving", "abandoned": "stopped", "skipped": "warn"}
ENDED = {"done": "c-good", "failed": "c-bad", "stopped": "c-warn"}
SHOWN_STEPS = 60


class MissionPanel:
    """Queue and steps."""

    def __init__(self, deployment: LiveDeployment) -> None:
        """Create the elements for a deployment."""
        self._deployment = deployment
        self._head = ui.element("div").classes("c-mission")
        self._queue = ui.element("div").props("id=queue")
        self._log = ui.element("div").classes("c-steps").props("id=steps")
        self._mission: RecordedMission | None = None
        self._steps: tuple[RecordedStep, ...] = ()
        self._show_mission()
        self._log.set_visibility(False)

    def update(self) -> None:
        """Show the present state."""
        if self._deployment.mission != self._mission:
            self._mission = self._deployment.mission
            self._show_mission()
        if self._deployment.steps is not self._steps:
            self._steps = self._deployment.steps
            self._show_steps()

    def _show_mission(self) -> None:
        mission = self._mission
        self._head.clear()
        self._queue.clear()
        with self._head:
            ui.label("Mission").classes("c-title")
            if mission is None or not mission.text:
                ui.label("No mission yet").classes("c-soft")
                return
            with ui.element("div").classes("c-line"):
                ui.label(mission.text).style("font-weight:500; font-size:16px").props("id=mission")
                ui.label(mission.state).classes(ENDED.get(mission.state, "c-soft")).props("id=mission-state")
            if mission.message != mission.question:
                ui.label(mission.message).classes("c-soft").props("id=message")
        with self._queue:
            for task in mission.tasks:
                _show_task(task)

    def _show_steps(self) -> None:
        self._log.clear()
        self._log.set_visibility(bool(self._steps))
        with self._log:
            for step in reversed(self._steps[-SHOWN_STEPS:]):
                with ui.element("div").classes("c-step"):
                    ui.label(f"{step.stamp_s:.1f} s").classes("c-soft c-num")
                    ui.label(step.kind)
                    ui.label(step.reason)


def _show_task(task: RecordedTask) -> None:
    with (
        ui.element("div")
        .classes("c-task")
        .style(f"margin-left:{18 * min(task.depth, 4)}px")
        .props("data-part=task")
    ):
        ui.element("span").classes(f"c-dot {DOTS.get(task.state, '')}")
        ui.label(task.text)
        tries = f", attempt {task.attempts}" if task.attempts > 1 else ""
        ui.label(task.state + tries).classes("c-soft")
        why = task.outcome or (f"{task.skill} {task.skill_task}".strip() if task.skill else "")
        if task.progress >= 0 and task.state in ("active", "verifying"):
            why = f"progress {task.progress:.2f}, success {max(task.success, 0):.2f}"
        if why:
            ui.label(why).classes("c-why c-num")
