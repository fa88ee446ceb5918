"""A goal that its client canceled before it began, as while the goal before it was ending: nothing moves for it."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from openral.action import ExecuteSkill

from openral_core.adapters.history import FrameHistory
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_policy_nodes.goal_supervisor import GoalOutcome, InferenceHealth, Limits
from openral_policy_nodes.inference_thread import GoalRun
from openral_policy_nodes.ros import execute_action
from openral_policy_nodes.ros.execute_action import ExecuteServer, SkillOffer
from openral_policy_nodes.stopping import Stopping


class StillNode:
    """The part of a node that the server uses; nothing is on its graph."""

    def get_namespace(self) -> str:
        return "/openral"

    def guard(self, callback: Any, where: str, failed: Any = None) -> Any:
        return callback

    def get_logger(self) -> logging.Logger:
        return logging.getLogger("still_node")

    def get_clock(self) -> Any:
        return SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=5_000_000_000))

    def count_publishers(self, topic: str) -> int:
        return 0

    def create_subscription(self, *args: Any, **more: Any) -> None:
        return None

    create_timer = destroy_subscription = destroy_timer = create_subscription


class StillRunner:
    """Notes the goals that begin."""

    def __init__(self) -> None:
        self.begun: list[str] = []

    def start(self, goal_id: str, instruction: str) -> GoalRun:
        self.begun.append(goal_id)
        return GoalRun(goal_id, instruction, FrameHistory(()))

    def worker(self) -> InferenceHealth:
        return InferenceHealth()


class Handle:
    """A goal whose client has asked for its end already."""

    is_cancel_requested = True

    def __init__(self) -> None:
        self.goal_id = SimpleNamespace(uuid=bytes(range(16)))
        self.request = ExecuteSkill.Goal(instruction="open the drawer")
        self.state = "canceling"

    def canceled(self) -> None:
        self.state = "canceled"

    def abort(self) -> None:
        self.state = "aborted"


def test_it_ends_as_canceled_and_never_begins(
    make_skill: Any, scene_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Any] = []

    def take(node: Any, kind: Any, name: str, execute: Any, **more: Any) -> None:
        served.append(execute)

    monkeypatch.setattr(execute_action, "ActionServer", take)
    scene, runner = load_scene(scene_path), StillRunner()
    planned: list[str] = []
    announced: list[str] = []
    offer = SkillOffer(make_skill().manifest, "/a", lambda goal_id, request: planned.append(goal_id))
    server = ExecuteServer(
        StillNode(),  # type: ignore[arg-type]
        [offer],
        runner,  # type: ignore[arg-type]
        Limits(0.05),
        Stopping(scene, load_robot(scene.robot_id)),
        lambda goal_id, skill: None,
        lambda: announced.append(server.goal_id),
        45.0,
    )
    server.intake = SimpleNamespace(fault=None, latest=None, state=None)  # type: ignore[assignment]
    handle = Handle()
    with pytest.raises(StopIteration) as ended:
        served[0](handle).send(None)
    result = ended.value.value
    assert (GoalOutcome(result.outcome), result.check) == (GoalOutcome.CANCELED, "client_cancel")
    assert handle.state == "canceled"
    assert (runner.begun, planned, announced, server.goal_id) == ([], [], [], "")
