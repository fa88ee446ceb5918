"""The operator's side of a deployment: a node that sends prompts and goals, and keeps what the graph says."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import rclpy
from geometry_msgs.msg import PoseStamped
from openral.action import ExecuteSkill
from openral.msg import ControlStatus, Mission, Prompt, SkillInfo
from openral.srv import ResetScene
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from std_srvs.srv import Trigger
from system_stack import PATIENCE_S, Stack

from openral_core.graph.namespaces import DEFAULT_NAMESPACE, ros_arguments
from openral_policy_nodes.ros.fake_node import FakePolicyNode

LATCHED = QoSProfile(depth=16, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
ENDED = ("done", "failed", "stopped")


class Operator:
    """Listens beside a stack, in a thread of its own. Use it as a context manager."""

    def __init__(self, stack: Stack, namespace: str = DEFAULT_NAMESPACE) -> None:
        self._stack = stack
        self.skills: dict[str, Any] = {}
        """Newest SkillInfo of each skill, by slug."""
        self.status: list[Any] = []
        self.missions: list[Any] = []
        self.positions: deque[tuple[float, float, float]] = deque(maxlen=4000)
        """[m] of the end effector in the world frame."""
        self._context = rclpy.Context()
        self._context.init(args=ros_arguments(namespace), domain_id=stack.domain)
        self._node = rclpy.create_node("operator", namespace=DEFAULT_NAMESPACE, context=self._context)
        self._clients: dict[str, ActionClient] = {}
        self._triggers: dict[str, Any] = {}
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self.subscribe = subscribe = self._node.create_subscription
        subscribe(SkillInfo, "skills", self._on_skill, LATCHED)
        subscribe(Mission, "mission", self.missions.append, LATCHED)
        subscribe(ControlStatus, "control_status", self.status.append, 100)
        subscribe(PoseStamped, "ee_pose", self._on_pose, 100)
        self._policy: FakePolicyNode | None = None
        self._prompts = self._node.create_publisher(Prompt, "prompt", 10)
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)
        self._thread.start()

    def __enter__(self) -> Operator:
        return self

    def __exit__(self, *error: object) -> None:
        self._executor.shutdown()
        self._thread.join()
        self._node.destroy_node()
        self._context.try_shutdown()

    def until(self, condition: Callable[[], object], what: str, timeout_s: float = PATIENCE_S) -> None:
        """Listen until a condition holds; fail with `what` when it takes too long or the stack has ended."""
        end = time.monotonic() + timeout_s
        while not condition():
            last = self.missions[-1].message if self.missions else "none"
            if time.monotonic() > end or not self._stack.running:
                state = f"skills {sorted(self.skills)}, last mission: {last}, output:\n{self._stack.output}"
                raise AssertionError(f"waited in vain for {what}; {state}")
            time.sleep(0.02)

    def until_active(self, *slugs: str) -> None:
        """Wait until these skills take goals and the bridge speaks."""
        self.until(
            lambda: self.status and all(slug in self.skills and self.skills[slug].active for slug in slugs),
            f"active skills {slugs}",
        )

    def until_moving(self) -> str:
        """Wait until the bridge executes chunks of a goal, and return the goal."""
        self.until(
            lambda: self.status and not self.status[-1].holding and self.status[-1].active_goal, "motion"
        )
        return str(self.status[-1].active_goal)

    def until_begun(self, skill: str, earlier: set[str]) -> str:
        """Wait until the bridge executes chunks of a new goal of a skill, by its name, and return the goal.

        Args:
            skill: as in `ControlStatus`, which names it also when its goal has ended.
            earlier: goals that are not meant.
        """

        def begun() -> bool:
            last = self.status[-1]
            return last.skill == skill and not last.holding and last.active_goal not in {"", *earlier}

        self.until(begun, f"motion of {skill}")
        return str(self.status[-1].active_goal)

    def say(self, text: str) -> None:
        """Say something to the reasoner."""
        self.until(self._prompts.get_subscription_count, "the reasoner")
        self._prompts.publish(Prompt(id=uuid4().hex, text=text, source="test"))

    def send_goal(
        self,
        slug: str,
        instruction: str,
        deadline_s: float,
        params: dict[str, Any] | None = None,
        **fields: Any,
    ) -> Any:
        """Send a goal, with further fields of it, and return its handle, once it is accepted."""
        if slug not in self._clients:
            self._clients[slug] = ActionClient(self._node, ExecuteSkill, f"skills/{slug}/execute")
        client = self._clients[slug]
        self.until(client.server_is_ready, f"the action server of {slug}")
        text = "" if params is None else json.dumps(params)
        goal = ExecuteSkill.Goal(instruction=instruction, deadline_s=deadline_s, params_json=text, **fields)
        accepted = client.send_goal_async(goal)
        self.until(accepted.done, f"an answer to the goal {instruction!r}")
        return accepted.result()

    def run_skill(
        self,
        slug: str,
        instruction: str,
        deadline_s: float = 0.0,
        params: dict[str, Any] | None = None,
        **fields: Any,
    ) -> Any:
        """Send a goal, with further fields of it, and return a function that waits for its result."""
        handle = self.send_goal(slug, instruction, deadline_s, params, **fields)

        def result() -> Any:
            ended = handle.get_result_async()
            self.until(ended.done, f"the end of the goal {instruction!r}")
            return ended.result().result

        return result

    def call(self, kind: Any, name: str, **fields: Any) -> Any:
        """Call a service and return its answer."""
        client = self._node.create_client(kind, name)
        self.until(client.service_is_ready, f"the service {name}")
        answer = client.call_async(kind.Request(**fields))
        self.until(answer.done, f"an answer of {name}")
        return answer.result()

    def reset(self, task: str, init_id: int) -> None:
        """Put the world into an initial state."""
        answer = self.call(ResetScene, "sim/reset", task=task, seed=init_id)
        assert answer.ok, answer.message

    def press(self, service: str) -> float:
        """Call a `std_srvs/Trigger` and see that it was done; return when it was sent, [s] monotonic."""
        client = self._triggers.get(service) or self._node.create_client(Trigger, service)
        self._triggers[service] = client
        self.until(client.service_is_ready, f"the service {service}")
        sent = time.monotonic()
        answer = client.call_async(Trigger.Request())
        self.until(answer.done, f"an answer of {service}")
        assert answer.result().success, answer.result().message
        return sent

    def send_chunk(self, goal: str = "", **changes: Any) -> None:
        """Send a chunk of a goal of its own that answers the present instant and is right except for `changes`.

        The first call decides about the goal's id (hex UUID); empty: a new one.
        """
        if self._policy is None:
            self._policy = FakePolicyNode(self._node)
            self._policy.begin(goal)
            self.until(self._policy.chunks.get_subscription_count, "the bridge")
        fields = {
            "instruction": "open the drawer",
            "representation": "delta_ee_3d_plus_gripper",
            "horizon": 16,
            "dim": 4,
            "dt": 1 / 80,
            "data": [0.0, 0.0, 0.0, -1.0] * 16,
            **changes,
        }
        self._policy.send(self.status[-1].header.stamp, **fields)

    def assert_holding(self, steps: int = 40, *, still: bool = True) -> None:
        """Listen for so many more control steps; the arm must hold in all of them and stay where it is.

        The hand swings for a moment behind a set point that has stopped, so the wait begins when it has settled.
        With `still` false its place is not looked at: pressed against something, it may slip off and catch up.
        """
        self.until(lambda: self.status[-1].holding, "a bridge that holds")
        held = self.status[-1].held
        self.until(lambda: self.status[-1].held > held + steps, "steps held until the hand has settled")
        before = self.status[-1]
        self.positions.clear()
        self.until(lambda: self.status[-1].held >= before.held + steps, f"{steps} steps held")
        assert self.status[-1].executed == before.executed
        if not still:
            return
        spread = max(max(axis) - min(axis) for axis in zip(*self.positions, strict=True))
        assert spread < 1e-3, f"the hand moved by {1e3 * spread:.1f} mm while the bridge said that it holds"

    def _on_skill(self, info: Any) -> None:
        self.skills[info.slug] = info

    def _on_pose(self, message: Any) -> None:
        point = message.pose.position
        self.positions.append((point.x, point.y, point.z))
