"""The action server of a policy node: one goal at a time, each with an end that names the check that ended it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from geometry_msgs.msg import Point, Pose, Quaternion
from openral.action import ExecuteSkill
from openral.msg import ControlStatus
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.lifecycle import LifecycleNode
from rclpy.task import Future
from std_msgs.msg import Bool

from openral_core.errors import ContractError
from openral_core.guarded import GuardedCallbacks
from openral_core.instant import Instant
from openral_core.manifest import RSkillManifest
from openral_policy_nodes.goal_request import GoalRefused, GoalRequest, parse_goal
from openral_policy_nodes.inference import SensorSet
from openral_policy_nodes.ros.sensors import LATCHED_QOS, SensorIntake
from openral_policy_nodes.runner import GoalRun, PolicyRunner
from openral_policy_nodes.status_message import read_status
from openral_policy_nodes.supervisor import (
    MOTION_CHECK,
    BridgeStatus,
    GoalEnd,
    GoalOutcome,
    GoalSupervisor,
    Limits,
)

TICK_S = 0.05
"""[s] wall time between two looks at the running goal."""
FEEDBACK_TICKS = 4
"""Looks between two feedback messages: 5 Hz."""


class ExecuteActionHost(GuardedCallbacks, LifecycleNode):
    """A lifecycle node whose callbacks are guarded."""


@dataclass(frozen=True)
class SkillOffer:
    """One skill of a node, as an action."""

    manifest: RSkillManifest
    action: str
    """Full name of the action."""
    plan: Callable[[str, GoalRequest], None] = lambda goal_id, request: None
    """Called with the goal's hex UUID before it begins; raises GoalRefused where it cannot be run."""


@dataclass
class ActiveGoal:
    """The goal that is running."""

    handle: Any
    skill: str
    """Manifest name of what runs it."""
    run: GoalRun
    supervisor: GoalSupervisor
    ended: Any = field(default_factory=Future)
    """Future of the result message; done when the goal is over."""


class ExecuteServer:
    """Serves `ExecuteSkill` for the skills of a node, one goal at a time. Everything but inference runs in the
    executor's thread.

    Every goal is accepted on the wire and answered with a result, because a ROS rejection cannot say why: a refused
    goal is aborted at once with outcome REJECTED and the reason.
    """

    def __init__(
        self,
        node: ExecuteActionHost,
        offers: Sequence[SkillOffer],
        runner: PolicyRunner,
        limits: Limits,
        hold: Callable[[str, str], None],
        announce: Callable[[], None],
    ) -> None:
        """Create the server.

        Args:
            node: owner of the server; its clock counts deadlines.
            offers: the skills.
            runner: does the inference.
            limits: when a goal is given up.
            hold: tells the bridge that the goal with this hex UUID, of the skill of this name, has ended and the arm
                holds from now on.
            announce: called when `goal_id` has changed, and when it is about to send the first chunk of a goal.
        """
        self._node, self._runner, self._limits = node, runner, limits
        self._hold, self._announce = hold, announce
        self._default_deadline_s = float(node.get_parameter("default_deadline_s").value)
        self.intake: SensorIntake | None = None
        """The inputs while the node is active; without them every goal is refused."""
        self._goal: ActiveGoal | None = None
        self._status: BridgeStatus | None = None
        self._estopped = False
        self._ticks = 0
        group = ReentrantCallbackGroup()  # a goal that waits for its end must not hold up the tick
        self._entities: list[tuple[Callable[[Any], Any], Any]] = [
            (
                node.destroy_subscription,
                node.create_subscription(ControlStatus, "/openral/control_status", self._on_status, 10),
            ),
            (
                node.destroy_subscription,
                node.create_subscription(Bool, "/openral/estop_state", self._on_estop, LATCHED_QOS),
            ),
            (
                node.destroy_timer,
                node.create_timer(
                    TICK_S, self._tick, callback_group=group, clock=Clock(clock_type=ClockType.STEADY_TIME)
                ),
            ),
        ]
        self._servers = [
            ActionServer(
                node,
                ExecuteSkill,
                offer.action,
                node.guard(partial(self._execute, offer), f"action {offer.action}", failed=_broken),
                callback_group=group,
                cancel_callback=node.guard(
                    self._on_cancel, f"action {offer.action}", lambda why: CancelResponse.ACCEPT
                ),
            )
            for offer in offers
        ]

    @property
    def goal_id(self) -> str:
        """Hex UUID of the running goal; empty: none runs."""
        return self._goal.run.goal_id if self._goal is not None else ""

    @property
    def skill(self) -> str:
        """Manifest name of the skill whose goal runs; empty: none runs."""
        return self._goal.skill if self._goal is not None else ""

    def on_sensors(self, sensors: SensorSet, fresh: bool) -> None:
        """Take a complete set of inputs; `fresh` if its stamp is new."""
        goal = self._goal
        if goal is None:
            return
        if fresh:
            # By the observation's own stamp, so that a lockstep run ends at the same observation every time.
            now = Instant(max(self._now_s(), sensors.stamp_ns * 1e-9), time.monotonic())
            goal.supervisor.on_fresh_observation(now)
            if self._is_over(goal, now):
                return
        self._runner.offer(sensors, every=self._status is not None and self._status.lockstep)

    def abandon(self, check: str, message: str) -> None:
        """End the running goal, if there is one, as FAILED."""
        if self._goal is not None:
            self._end(self._goal, GoalEnd(GoalOutcome.FAILED, check, message))

    def close(self) -> None:
        """Give everything back to the node."""
        self.abandon("node_state", "the node left its active state")
        for server in self._servers:
            server.destroy()
        for destroy, entity in self._entities:
            destroy(entity)
        self._entities.clear()

    def _now(self) -> Instant:
        return Instant(self._now_s(), time.monotonic())

    def _now_s(self) -> float:
        return float(self._node.get_clock().now().nanoseconds) * 1e-9

    def _on_estop(self, message: Bool) -> None:
        self._estopped = bool(message.data)
        self._tick()

    def _on_status(self, message: ControlStatus) -> None:
        # Whether the E-stop is latched is for /openral/estop_state alone to say: two topics have no order between them.
        try:
            self._status = read_status(message)
        except ContractError as error:
            self._node.get_logger().warning(f"dropped a ControlStatus: {error}", throttle_duration_sec=1.0)
            return
        if self._goal is not None:
            self._goal.supervisor.on_status(self._status, self._goal.run.chunks)

    def _on_cancel(self, handle: Any) -> Any:
        """Stop the motion at once; the goal itself ends at the next tick, when the handle knows of it."""
        goal = self._goal
        if goal is not None and bytes(goal.handle.goal_id.uuid) == bytes(handle.goal_id.uuid):
            self._stop_motion(goal)
        return CancelResponse.ACCEPT

    def _stop_motion(self, goal: ActiveGoal) -> None:
        """No further chunk goes out, and nothing that is left of the last one is executed."""
        self._runner.stop()
        self._hold(goal.run.goal_id, goal.skill)

    async def _execute(self, offer: SkillOffer, handle: Any) -> Any:
        try:
            return await self._serve(offer, handle)
        finally:
            # A goal whose serving broke must not keep the skill busy.
            goal = self._goal
            if goal is not None and goal.handle is handle:
                self._end(goal, GoalEnd(GoalOutcome.FAILED, "internal_error", "see the log of this node"))

    async def _serve(self, offer: SkillOffer, handle: Any) -> Any:
        while self._goal is not None and self._goal.handle.is_cancel_requested:
            await self._goal.ended
        try:
            request = self._request(offer.manifest, handle.request)
            offer.plan(bytes(handle.goal_id.uuid).hex(), request)
            goal = self._start(offer, handle, request)
        except GoalRefused as refused:
            self._node.get_logger().warning(f"goal refused ({refused.check}): {refused}")
            handle.abort()
            return ExecuteSkill.Result(
                outcome=int(GoalOutcome.REJECTED), check=refused.check, message=str(refused)
            )
        result = await goal.ended
        if result.outcome == GoalOutcome.CANCELED:
            handle.canceled()
        elif result.outcome == GoalOutcome.SUCCEEDED:
            handle.succeed()
        else:
            handle.abort()
        return result

    def _request(self, manifest: RSkillManifest, asked: Any) -> GoalRequest:
        """Return what is to be run, or raise GoalRefused."""
        if self.intake is None:
            raise GoalRefused("node_state", f"{manifest.name} is not active; activate its node first")
        if self._estopped:
            raise GoalRefused("estop", "the E-stop is latched; reset it with /openral/estop_reset")
        if self._goal is not None:
            text = (
                f"busy with goal {self._goal.run.goal_id} ({self._goal.run.instruction!r}); cancel it first"
            )
            raise GoalRefused("busy", text)
        if self.intake.fault is not None:
            raise GoalRefused("observation_contract", self.intake.fault)
        busy_s = self._runner.worker().busy_s
        if busy_s > self._limits.inference_wall_s:
            raise GoalRefused(
                "policy_error", f"the policy has not answered for {busy_s:.0f} s; restart its node"
            )
        return parse_goal(
            manifest,
            asked.instruction,
            asked.task,
            asked.deadline_s,
            asked.params_json,
            self._default_deadline_s,
        )

    def _start(self, offer: SkillOffer, handle: Any, request: GoalRequest) -> ActiveGoal:
        goal_id = bytes(handle.goal_id.uuid).hex()
        self._node.get_logger().info(
            f"goal {goal_id}: {request.instruction!r}, at most {request.deadline_s:g} s"
        )
        supervisor = GoalSupervisor(goal_id, request.deadline_s, self._limits, self._now(), self._status)
        run = self._runner.start(goal_id, request.instruction)
        goal = self._goal = ActiveGoal(handle, offer.manifest.name, run, supervisor)
        self._announce()  # before the first chunk: the bridge executes those of announced goals only
        if self.intake is not None and self.intake.latest is not None:
            self.on_sensors(self.intake.latest, fresh=False)
        return goal

    def _is_over(self, goal: ActiveGoal, now: Instant) -> bool:
        """End the goal if one of its checks says so."""
        verdict = goal.supervisor.verdict(
            now,
            self._runner.worker(),
            cancel=bool(goal.handle.is_cancel_requested),
            estopped=self._estopped,
        )
        if verdict is None and self.intake is not None and self.intake.fault is not None:
            verdict = GoalEnd(GoalOutcome.FAILED, "observation_contract", self.intake.fault)
        if verdict is not None:
            self._end(goal, verdict)
        return verdict is not None

    def _tick(self) -> None:
        goal = self._goal
        if goal is None:
            return
        now = self._now()
        if self._is_over(goal, now):
            return
        self._ticks += 1
        if self._ticks % FEEDBACK_TICKS == 0:
            goal.handle.publish_feedback(
                ExecuteSkill.Feedback(
                    state="running" if goal.run.chunks else "waiting",
                    chunks=goal.run.chunks,
                    steps=goal.supervisor.steps,
                    elapsed_s=goal.supervisor.elapsed_s(now.stamp_s),
                    latency_s=goal.run.latency.last,
                )
            )

    def _end(self, goal: ActiveGoal, verdict: GoalEnd) -> None:
        """Stop the goal's motion at once; its result goes out when the server comes to it."""
        self._stop_motion(goal)
        self._goal = None
        self._announce()
        words = f"goal {goal.run.goal_id} ends {verdict.outcome.name} ({verdict.check}): {verdict.message}"
        # A call each: rclpy forbids a call site to change its severity.
        if verdict.outcome in (GoalOutcome.SUCCEEDED, GoalOutcome.CANCELED, GoalOutcome.DEADLINE):
            self._node.get_logger().info(words)
        elif verdict.check == MOTION_CHECK:  # something was in the way, and nothing is wrong here
            self._node.get_logger().warning(words)
        else:
            self._node.get_logger().error(words)
        goal.ended.set_result(
            ExecuteSkill.Result(
                outcome=int(verdict.outcome),
                check=verdict.check,
                message=verdict.message,
                chunks=goal.run.chunks,
                steps=goal.supervisor.steps,
                duration_s=goal.supervisor.elapsed_s(self._now_s()),
                latency_p50_s=goal.run.latency.percentile(50),
                latency_p95_s=goal.run.latency.percentile(95),
                **self._hand(),
            )
        )

    def _hand(self) -> dict[str, Any]:
        """Return the result's fields of the hand as it was seen last."""
        if self.intake is None or self.intake.latest is None:
            return {"gripper_m": -1.0}
        state = self.intake.latest.state
        (x, y, z), (qx, qy, qz, qw) = state.ee_position.tolist(), state.ee_quaternion.tolist()
        pose = Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))
        return {"hand": pose, "gripper_m": state.gripper_opening}


def _broken(why: str) -> ExecuteSkill.Result:
    """Return the result of a goal that a bug has ended."""
    return ExecuteSkill.Result(outcome=int(GoalOutcome.FAILED), check="internal_error", message=why)
