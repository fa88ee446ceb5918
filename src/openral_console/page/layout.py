"""The page: a bar that stays, three columns, and the log below them."""

from __future__ import annotations

import json
from typing import Protocol

from nicegui import ui

from openral_console.page.camera_tiles import CameraTiles
from openral_console.page.context import PageContext
from openral_console.page.control_loop_panel import ControlPanel
from openral_console.page.diagnostics_panel import DiagnosticsPanel
from openral_console.page.log_panel import LogPanel
from openral_console.page.mission_panel import MissionPanel
from openral_console.page.progress_panel import ProgressPanel
from openral_console.page.prompt_line import PromptLine
from openral_console.page.recorder_panel import RecorderPanel
from openral_console.page.robot_scene import RobotScene
from openral_console.page.skills_panel import SkillsPanel
from openral_console.page.teleop_panel import HandPanel
from openral_console.page.top_bar import TopBar
from openral_console.page.web_application import style_page
from openral_console.sessions import STOP

FAST_S, SLOW_S = 0.1, 0.25
"""[s] between two updates of cameras and poses, and of all other parts."""


class Part(Protocol):
    """A part of the page, which shows what has changed when it is asked to."""

    def update(self) -> None:
        """Show the present state."""


def build_page(context: PageContext, operator: str) -> None:
    """Make the page of one tab.

    Args:
        context: what there is to be shown.
        operator: name of the operator who opened the page.
    """
    settings = {"port": context.options.stop_port, "key": context.sessions.sign(operator, STOP)}
    scripts = "".join(
        f'<script src="/assets/{name}.js"></script>'
        for name in ("stop", "teleop", "highlight", "pictures", "robot_view")
    )
    ui.add_head_html(f"<script>window.openralStop = {json.dumps(settings)}</script>{scripts}")
    style_page()
    bar = TopBar(context, operator)
    with ui.element("main").classes("c-grid"):
        with ui.element("div").classes("c-column"):
            robot, cameras = RobotScene(context.deployment), CameraTiles(context.deployment)
        with ui.element("div").classes("c-column"):
            with ui.element("section").classes("c-panel"):
                prompt = PromptLine(context, operator)
                mission = MissionPanel(context.deployment)
            progress = ProgressPanel(context.deployment)
        with ui.element("div").classes("c-column c-side"):
            side = [panel(context.deployment) for panel in (ControlPanel, SkillsPanel, DiagnosticsPanel)]
            hand, recorder = HandPanel(context, operator), RecorderPanel(context, operator)
        log = LogPanel(context.deployment)
    fast: list[Part] = [robot, cameras]
    slow: list[Part] = [bar, prompt, mission, progress, hand, recorder, *side, log]
    ui.timer(FAST_S, lambda: _update(fast))
    ui.timer(SLOW_S, lambda: _update(slow))
    deployment = context.deployment
    client = ui.context.client

    def opened() -> None:
        deployment.watchers += 1

    def closed() -> None:
        deployment.watchers -= 1

    client.on_connect(opened)
    client.on_disconnect(closed)


def _update(parts: list[Part]) -> None:
    for part in parts:
        part.update()
