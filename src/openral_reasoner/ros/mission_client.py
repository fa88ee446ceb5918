"""The ROS side of `openral mission`: listens to the mission and its log, and says "stop"."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import rclpy
from openral.msg import Mission, MissionStep
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.text import Text

from openral_core.cli.json_line import json_line
from openral_core.cli.printable import MAX_SHOWN, plain_line
from openral_core.graph.namespaces import DEFAULT_NAMESPACE, namespace_option, ros_arguments
from openral_core.guarded_callbacks import GuardedCallbacks
from openral_core.mission_record import words_after
from openral_core.ros.qos import LATCHED, MISSION_LOG
from openral_core.ros.session_certificates import refused_or
from openral_reasoner.mission.mission_view import COLOURS, ENDED, line_of, table_of, values_of
from openral_reasoner.ros.prompt_client import INTERRUPTED, NOBODY, Absence, converse

SETTLE_S = 0.5
"""[s] without a further step after which the past of a log counts as told."""


class MissionListener(GuardedCallbacks, Node):
    """Keeps the newest mission, and the steps that came and were not taken yet."""

    def __init__(self, *, steps: bool = False) -> None:
        super().__init__(f"mission_{uuid4().hex[:8]}", namespace=DEFAULT_NAMESPACE)
        self.mission: Any = None
        self.steps: list[Any] = []
        self.create_subscription(Mission, "mission", self._on_mission, LATCHED)
        if steps:
            self.create_subscription(MissionStep, "mission_log", self.steps.append, MISSION_LOG)

    def _on_mission(self, mission: Any) -> None:
        self.mission = mission

    def until(self, condition: Callable[[], object], patience_s: float) -> bool:
        """Listen until a condition holds; False: it did not within so many seconds."""
        end = time.monotonic() + patience_s
        while not condition():
            if time.monotonic() > end:
                return False
            rclpy.spin_once(self, timeout_sec=0.05)
        return True


def _listen(
    act: Callable[[MissionListener, Console], int], patience_s: float, namespace: str, *, steps: bool = False
) -> int:
    console = Console(emoji=False)
    rclpy.init(args=ros_arguments(namespace), signal_handler_options=SignalHandlerOptions.NO)
    node = MissionListener(steps=steps)
    try:
        if node.until(lambda: node.mission is not None, patience_s):
            return act(node, console)
        advice = refused_or(f"Start one with `openral deploy sim{namespace_option(namespace)}`.")
        console.print(f"[red]No reasoner shows a mission.[/red] {escape(advice)}", soft_wrap=True)
        return NOBODY
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def show(patience_s: float, namespace: str, as_json: bool) -> int:
    """Print the mission once; return 0, or 2 without a reasoner."""

    def act(node: MissionListener, console: Console) -> int:
        if as_json:
            console.print(json_line(values_of(node.mission)), markup=False, highlight=False, soft_wrap=True)
        else:
            console.print(_view(node.mission))
        return 0

    return _listen(act, patience_s, namespace)


def watch(patience_s: float, namespace: str) -> int:
    """Show the mission as it goes on, until it has ended or its reasoner went away.

    Returns:
        0 if it was done, else 1; 2 without a reasoner; 130 after Ctrl-C.
    """

    def act(node: MissionListener, console: Console) -> int:
        absence = Absence(node)
        with Live(_view(node.mission), console=console, auto_refresh=False) as live:
            while node.mission.state == "active":
                if absence.lasts():
                    away = Absence.words(namespace_option(namespace))
                    console.print(away, markup=False, highlight=False, style="red", soft_wrap=True)
                    return NOBODY
                rclpy.spin_once(node, timeout_sec=0.2)
                live.update(_view(node.mission), refresh=True)
        return 0 if node.mission.state in ("done", "idle") else 1

    return _listen(act, patience_s, namespace)


def log(patience_s: float, namespace: str, follow: bool) -> int:
    """Print the steps so far, with their reasons; `follow`: and those to come, until Ctrl-C, which is its end."""

    def act(node: MissionListener, console: Console) -> int:
        try:
            _tell(node, console)
        except KeyboardInterrupt:
            if not follow:
                raise
        return 0

    def _tell(node: MissionListener, console: Console) -> None:
        node.until(lambda: node.steps, patience_s if node.mission.tasks else SETTLE_S)
        quiet_since = time.monotonic()
        while follow or time.monotonic() - quiet_since < SETTLE_S:
            rclpy.spin_once(node, timeout_sec=0.1)
            for step in node.steps:
                console.print(line_of(step), markup=False, highlight=False, soft_wrap=True)
                quiet_since = time.monotonic()
            node.steps.clear()

    return _listen(act, patience_s, namespace, steps=True)


def cancel(patience_s: float, namespace: str) -> int:
    """Stop the mission and every motion, as `openral prompt stop` does."""
    return converse("stop", patience_s, namespace)


def _view(mission: Any) -> Group:
    parts: list[Any] = (
        [table_of(mission)]
        if mission.tasks
        else [Text(plain_line(mission.text, MAX_SHOWN) or "no mission yet")]
    )
    ended = words_after(mission.state, mission.message) if mission.state in ENDED else mission.message
    words = Text(plain_line(ended, MAX_SHOWN), style=COLOURS.get(mission.state, ""))
    parts.append(Text(f"{mission.state}: ") + words if mission.state in ENDED else words)
    if mission.question:
        parts.append(
            Text(
                f'answer with `openral prompt "…"`: {plain_line(mission.question, MAX_SHOWN)}', style="yellow"
            )
        )
    return Group(*parts)
