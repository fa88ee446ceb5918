"""Calls the services of a running recorder, for `openral data record`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import rclpy
from openral.msg import RecorderStatus
from openral.srv import MarkEpisode
from rclpy.node import Node
from rich.console import Console
from std_srvs.srv import Trigger

from openral_core.cli.printable import printable, printable_lines
from openral_core.graph.namespaces import DEFAULT_NAMESPACE, ros_arguments
from openral_core.ros.qos import LATCHED
from openral_core.ros.service_call import ServiceNotFound, ServiceTimeout, call_service

NOBODY = 2
"""Exit code if no recorder responds."""
_MISSING = "no recorder answers; start the deployment with record:=episodes, or --record episodes"
ANSWER_S = 40.0
"""[s] longest time for a recorder to carry out an order."""


@contextmanager
def _node(namespace: str) -> Iterator[Node]:
    rclpy.init(args=ros_arguments(namespace))
    node = Node(f"record_{uuid4().hex[:8]}", namespace=DEFAULT_NAMESPACE)
    try:
        yield node
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def order(name: str, patience_s: float, namespace: str, outcome: str = "") -> int:
    """Call a service of the recorder; return 0, 1 where it refused, 2 where there is none."""
    console = Console(highlight=False, emoji=False)
    marks = name == "mark"
    with _node(namespace) as node:
        client = node.create_client(MarkEpisode if marks else Trigger, f"recorder/{name}")
        request = MarkEpisode.Request(outcome=outcome) if marks else Trigger.Request()
        try:
            answer = call_service(client, request, find_s=patience_s, answer_s=ANSWER_S, node=node)
        except ServiceNotFound:
            console.print(_MISSING, soft_wrap=True)
            return NOBODY
        except ServiceTimeout:
            console.print("the recorder did not answer; see its lines in launch.log", soft_wrap=True)
            return 1
        done = bool(answer.ok if marks else answer.success)
        console.print(
            printable_lines(answer.message), style="" if done else "red", markup=False, soft_wrap=True
        )
        return 0 if done else 1


def show_status(patience_s: float, namespace: str) -> int:
    """Print the recorder's status once; return 0, 1 where it does not record although it should, 2 without one."""
    console = Console(highlight=False, emoji=False)
    heard: list[Any] = []
    with _node(namespace) as node:
        node.create_subscription(RecorderStatus, "recorder/status", heard.append, LATCHED)
        end = time.monotonic() + patience_s
        while not heard and time.monotonic() < end:
            rclpy.spin_once(node, timeout_sec=0.05)
    if not heard:
        console.print(_MISSING, soft_wrap=True)
        return NOBODY
    said = heard[-1]
    doing = "not recording"
    if said.recording:
        doing = f'recording for {said.episode_s:.1f} s, {said.frames} frames: "{said.instruction}"'
    rows = [
        f"strategy {said.strategy}, {doing}",
        f"{said.episodes} episodes in {said.folder}, {said.free_gb:.1f} GB free",
        f"{said.dropped_images} pictures dropped, {said.repeated_images} frames with an older picture, "
        f"{said.missing_steps} control steps not heard",
    ]
    if said.stopped_by:
        rows.append(said.stopped_by)
    for row in rows:
        console.print(printable(row), markup=False, soft_wrap=True)
    return 1 if said.stopped_by else 0
