"""A member of a deployment's graph in the test's own process: it calls services, and can stand in for a policy node."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from faults_files import SKILL
from lifecycle_msgs.srv import ChangeState, GetState
from openral.action import ExecuteSkill
from openral.msg import ActionChunk, ControlStatus, SkillInfo
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.executors import MultiThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from std_srvs.srv import Trigger
from system_stack import PATIENCE_S, Stack, wait_for

LATCHED = QoSProfile(depth=16, durability=DurabilityPolicy.TRANSIENT_LOCAL)
CLOCK = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
HORIZON, DT = 16, 1 / 80


class Member:
    """A node beside a stack, spinning in threads of its own. Use it as a context manager."""

    def __init__(self, stack: Stack, name: str = "member") -> None:
        self._context = rclpy.Context()
        self._context.init(domain_id=stack.domain)
        self.node = rclpy.create_node(name, context=self._context, namespace="/openral/policy")
        self._executor = MultiThreadedExecutor(num_threads=2, context=self._context)
        self._executor.add_node(self.node)
        self._clients: dict[str, Any] = {}
        self.status: list[Any] = []
        """ControlStatus messages, oldest first."""
        self.stopped_at: list[float] = []
        """[s] monotonic clock at which each status arrived that was the first to say that the stop is latched."""
        self.health: dict[str, str] = {}
        """What the bridge says of itself on /diagnostics, once a second."""
        self.node.create_subscription(ControlStatus, "/openral/control_status", self._on_status, 100)
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)
        self._thread.start()

    def __enter__(self) -> Member:
        return self

    def __exit__(self, *error: object) -> None:
        self._executor.shutdown()
        self._thread.join()
        self.node.destroy_node()
        self._context.try_shutdown()

    def call(self, kind: Any, service: str, request: Any, timeout_s: float = PATIENCE_S) -> tuple[Any, float]:
        """Call a service; return its answer, and the seconds from the call to the answer."""
        if service not in self._clients:
            self._clients[service] = self.node.create_client(kind, service)
        client = self._clients[service]
        wait_for(client.service_is_ready, f"the service {service}", timeout_s)
        answered, ends = threading.Event(), [0.0]

        def done(_: Any) -> None:
            ends[0] = time.perf_counter()
            answered.set()

        begun = time.perf_counter()
        future = client.call_async(request)
        future.add_done_callback(done)
        assert answered.wait(timeout_s), f"no answer of {service} within {timeout_s:g} s"
        return future.result(), ends[0] - begun

    def press(self, service: str) -> float:
        """Call a Trigger, see that it was done, and return how long it took [s]."""
        answer, seconds = self.call(Trigger, service, Trigger.Request())
        assert answer.success, answer.message
        return seconds

    def state_of(self, node: str) -> int:
        """Return the lifecycle state of a node: 1 unconfigured, 2 inactive, 3 active, 4 finalized."""
        answer, _ = self.call(GetState, f"{node}/get_state", GetState.Request())
        return int(answer.current_state.id)

    def change(self, node: str, transition: int) -> bool:
        """Ask a node for a lifecycle transition; return whether it was made."""
        request = ChangeState.Request()
        request.transition.id = transition
        answer, _ = self.call(ChangeState, f"{node}/change_state", request)
        return bool(answer.success)

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait until a condition holds."""
        wait_for(condition, what)

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            if status.name == "openral/sim_bridge: control":
                self.health = {each.key: each.value for each in status.values}

    def _on_status(self, message: Any) -> None:
        if message.estopped and not (self.status and self.status[-1].estopped):
            self.stopped_at.append(time.perf_counter())
        self.status.append(message)


class StandIn(Member):
    """A policy node made by hand: it announces a skill with a goal of its own and sends any chunk that a test wants."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack, "standin")
        self.goal = ""
        self.now_s = 0.0
        """[s] the bridge's clock."""
        self._sequence = 0
        self.node.create_subscription(Clock, "/clock", self._on_clock, CLOCK)
        self._skills = self.node.create_publisher(SkillInfo, "/openral/skills", LATCHED)
        self._chunks = self.node.create_publisher(ActionChunk, "/openral/action_chunk", 10)
        self._server = ActionServer(
            self.node,
            ExecuteSkill,
            "/openral/skills/standin/execute",
            lambda handle: ExecuteSkill.Result(),
            goal_callback=lambda goal: GoalResponse.REJECT,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )
        self.node.create_timer(1.0, lambda: self.announce("active"))
        self.begin()
        wait_for(lambda: self.now_s and self.status and self._chunks.get_subscription_count(), "the bridge")

    def __exit__(self, *error: object) -> None:
        self.announce("finalized")
        self._server.destroy()
        super().__exit__(*error)

    def begin(self) -> str:
        """Begin a goal of our own and announce it; return its id."""
        self.goal, self._sequence = uuid4().hex, 0
        self.announce("active")
        return self.goal

    def end(self) -> None:
        """End the goal as a policy node does."""
        self._chunks.publish(ActionChunk(goal_id=self.goal, skill="tests/rskill-standin"))
        self.goal = ""
        self.announce("active")

    def announce(self, state: str) -> None:
        """Latch the skill, and the goal where this version of the interface names it."""
        info = SkillInfo(
            name="tests/rskill-standin",
            slug="standin",
            version="0.1.0",
            kind="vla",
            license=SKILL["license"],
            embodiment_tags=["sawyer"],
            node="/openral/policy/standin",
            state=state,
            active=state == "active",
            action_server="/openral/skills/standin/execute",
            control_hz=80.0,
            latency_budget_s=0.05,
        )
        if hasattr(info, "goal_id"):
            info.goal_id = self.goal if state == "active" else ""
            info.horizon_s = HORIZON * DT
        self._skills.publish(info)

    def send(self, data: Any = None, /, **changes: Any) -> Any:
        """Publish a chunk that answers the present instant and is right except for what is changed; return it.

        Args:
            data: (H, A) actions; None: the arm stays where it is.
            changes: fields of the message, after all else; `age_s` makes its observation so much older.
        """
        actions = np.zeros((HORIZON, 4), np.float32) if data is None else np.asarray(data, np.float32)
        chunk = ActionChunk(
            goal_id=self.goal,
            skill="tests/rskill-standin",
            instruction="by hand",
            sequence=self._sequence,
            representation="delta_ee_3d_plus_gripper",
            horizon=actions.shape[0],
            dim=actions.shape[1],
            dt=DT,
            data=actions.reshape(-1).tolist(),
        )
        self._sequence += 1
        chunk.header.frame_id = "world"
        seconds = self.now_s - changes.pop("age_s", 0.0)
        chunk.header.stamp.sec, chunk.header.stamp.nanosec = int(seconds // 1), int(seconds % 1 * 1e9)
        for name, value in changes.items():
            setattr(chunk, name, value)
        self._chunks.publish(chunk)
        return chunk

    def _on_clock(self, message: Any) -> None:
        self.now_s = message.clock.sec + message.clock.nanosec * 1e-9
