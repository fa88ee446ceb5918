"""The action server of a policy node: runs one goal at a time; each result names the check that ended the goal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from openral.action import ExecuteSkill
from openral.msg import ControlStatus, TaskProgress
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.lifecycle import LifecycleNode
from rclpy.task import Future
from std_msgs.msg import Bool

from openral_core.errors import ContractError
from openral_core.graph.namespaces import graph_name
from openral_core.guarded_callbacks import GuardedCallbacks
from openral_core.instant import Instant
from openral_core.manifest import RSkillManifest
from openral_core.progress_message import read_progress
from openral_core.ros.qos import LATCHED
from openral_core.types import RobotState
from openral_policy_nodes.control_status_check import read_status
from openral_policy_nodes.executed_steps import StepCount
from openral_policy_nodes.goal_request import GoalRefused, GoalRequest, parse_goal
from openral_policy_nodes.goal_supervisor import (
    CANCELED,
    MOTION_CHECK,
    BridgeStatus,
    GoalEnd,
    GoalOutcome,
    GoalSupervisor,
    Limits,
)
from openral_policy_nodes.inference import SensorSet
from openral_policy_nodes.inference_thread import GoalRun, PolicyRunner
from openral_policy_nodes.ros.goal_result import result_message
from openral_policy_nodes.ros.sensors import SensorIntake
from openral_policy_nodes.stopping import CHECK, GoalStops, Stopping

TICK_S = 0.05
"""[s] wall time between two evaluations of the running goal."""
FEEDBACK_TICKS = 4
"""Number of such evaluations between two feedback messages, which are sent at 5 Hz."""
PROGRESS = "progress"
"""Relative name of the topic on which the reward monitor publishes."""
UNREMARKABLE = (GoalOutcome.SUCCEEDED, GoalOutcome.CANCELED, GoalOutcome.DEADLINE, GoalOutcome.STOPPED)
"""Outcomes that are not errors and are logged at level info."""


class ExecuteActionHost(GuardedCallbacks, LifecycleNode):
    """A lifecycle node with guarded callbacks, see `GuardedCallbacks`."""


@dataclass(frozen=True)
class SkillOffer:
    """A skill that a node offers as an action."""

    manifest: RSkillManifest
    action: str
    """Full name of the action."""
    plan: Callable[[str, GoalRequest], None] = lambda goal_id, request: None
    """Called with the hex UUID of each goal before it begins; raises GoalRefused if the goal is not possible."""


@dataclass
class ActiveGoal:
    """The running goal."""

    handle: Any
    """rclpy's `ServerGoalHandle`."""
    skill: str
    """Manifest name of its skill."""
    run: GoalRun
    supervisor: GoalSupervisor
    stops: GoalStops
    steps: StepCount
    """Counts control steps since the goal began or, after a pause, since it resumed."""
    steps_before: int = 0
    """Control steps that were executed for it before the last pause."""
    ended: Any = field(default_factory=Future)
    """Future of the result message, done once the goal is over."""


class ExecuteServer:
    """Serves `ExecuteSkill` for the skills of a node, one goal at a time.

    Everything but inference runs in the executor's thread.

    The server accepts every goal, because a rejection in ROS carries no reason. A goal that is refused is aborted at
    once, with outcome REJECTED and the reason in its result.

    A goal that ended by a condition of its `stop_when` has the status succeeded for action clients and behaviour trees,
    since it ran until what the client asked for; outcome STOPPED says no more than that. A goal that ended by its step
    budget or its deadline is aborted, since it did not reach its end within these bounds.
    """

    def __init__(
        self,
        node: ExecuteActionHost,
        offers: Sequence[SkillOffer],
        runner: PolicyRunner,
        limits: Limits,
        stopping: Stopping,
        hold: Callable[[str, str], None],
        announce: Callable[[], None],
        default_deadline_s: float,
    ) -> None:
        """Create the server.

        Args:
            node: owner of the server, whose clock deadlines are measured by.
            offers: the skills.
            runner: runs the inference.
            limits: beyond which a goal fails.
            stopping: makes the watch over a goal's stop conditions and step budget.
            hold: called with a goal's hex UUID and its skill's name when the goal has ended; makes the bridge hold the
                arm.
            announce: called whenever `goal_id` has changed, for a new goal before its first chunk.
            default_deadline_s: [s] deadline of a goal where neither it nor its skill has one.
        """
        self._node, self._runner, self._limits = node, runner, limits
        self._stopping = stopping
        self._hold, self._announce = hold, announce
        self._default_deadline_s = default_deadline_s
        self.intake: SensorIntake | None = None
        """The inputs while the node is active; None: it is not, and every goal is refused."""
        self._goal: ActiveGoal | None = None
        self._status: BridgeStatus | None = None
        self._estopped = False
        self._ticks = 0
        space = node.get_namespace()
        self._progress_topic = graph_name(space, PROGRESS)
        group = ReentrantCallbackGroup()  # a goal that awaits its end must not block the timer
        self._entities: list[tuple[Callable[[Any], Any], Any]] = [
            (
                node.destroy_subscription,
                node.create_subscription(
                    ControlStatus, graph_name(space, "control_status"), self._on_status, 10
                ),
            ),
            (
                node.destroy_subscription,
                node.create_subscription(Bool, graph_name(space, "estop_state"), self._on_estop, LATCHED),
            ),
            (
                node.destroy_subscription,
                node.create_subscription(TaskProgress, self._progress_topic, self._on_progress, 10),
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
        """Evaluate the running goal at an observation, and offer it to the runner.

        Args:
            sensors: the observation.
            fresh: whether its stamp is newer than any before.
        """
        goal = self._goal
        if goal is None:
            return
        # The message on /clock may arrive after the observation.
        now = Instant(max(self._now().stamp_s, sensors.stamp_ns * 1e-9), time.monotonic())
        if fresh:
            goal.supervisor.on_fresh_observation(now)
        if goal.supervisor.is_paused:
            return
        # Evaluated before the inference, so that the newest chunk is from before this observation.
        steps = self._steps(goal, sensors.stamp_ns * 1e-9)
        stopped = goal.stops.look(sensors.stamp_ns, sensors.state, goal.run.newest, steps)
        if (fresh or stopped is not None) and self._is_over(goal, now, stopped):
            return
        self._runner.offer(sensors, every=self._lockstep)

    def abandon(self, check: str, message: str) -> None:
        """End the running goal, if there is one, with outcome FAILED."""
        if self._goal is not None:
            self._end(self._goal, GoalEnd(GoalOutcome.FAILED, check, message))

    def close(self) -> None:
        """End the running goal and destroy all servers, subscriptions and timers."""
        self.abandon("node_state", "the node left its active state")
        for server in self._servers:
            server.destroy()
        for destroy, entity in self._entities:
            destroy(entity)
        self._entities.clear()

    def _now(self) -> Instant:
        """Return the present moment; in lockstep that of the newest observation, for reproducible results."""
        newest_s = self._newest_s() if self._lockstep else 0.0
        return Instant(newest_s or self._now_s(), time.monotonic())

    def _newest_s(self) -> float:
        """Return the stamp [s] of the newest observation; 0 where there is none."""
        return self.intake.latest.stamp_ns * 1e-9 if self.intake and self.intake.latest else 0.0

    def _now_s(self) -> float:
        return float(self._node.get_clock().now().nanoseconds) * 1e-9

    def _on_estop(self, message: Bool) -> None:
        self._estopped = bool(message.data)
        self._tick()

    def _on_status(self, message: ControlStatus) -> None:
        # Only `estop_state` decides whether the E-stop is latched, since messages of two topics are not ordered.
        try:
            self._status = read_status(message)
        except ContractError as error:
            self._node.get_logger().warning(f"dropped a ControlStatus: {error}", throttle_duration_sec=1.0)
            return
        if self._goal is not None:
            self._wait_or_go_on(self._goal, self._status)
            self._goal.supervisor.on_status(self._status, self._goal.run.chunks)
            self._goal.steps.on_status(self._status)

    def _wait_or_go_on(self, goal: ActiveGoal, status: BridgeStatus) -> None:
        """Pause the goal while an operator controls the arm, and resume it from the newest observation afterwards."""
        supervisor, now = goal.supervisor, self._now()
        if status.taken_over == supervisor.is_paused:
            if status.taken_over:
                supervisor.pause(now)  # which shows that the bridge is alive
            return
        name = f"goal {goal.run.goal_id}"
        if status.taken_over:
            goal.steps_before = self._steps(goal, now.stamp_s)
            self._runner.pause()
            supervisor.pause(now)
            self._node.get_logger().info(f"{name} waits: an operator has the arm")
            return
        goal.steps = self._stopping.count(goal.run.goal_id)
        self._runner.go_on()
        supervisor.go_on(now)
        self._node.get_logger().info(f"{name} goes on from what is seen now: the arm was given back")
        if self._lockstep and self.intake is not None and self.intake.latest is not None:
            self._runner.offer(self.intake.latest, every=True)  # the bridge waits for an answer to it

    def _on_progress(self, message: TaskProgress) -> None:
        goal = self._goal
        if goal is None:
            return
        try:
            goal_id, reading = read_progress(message, self._now_s())
        except ContractError as error:
            self._node.get_logger().warning(f"dropped a TaskProgress: {error}", throttle_duration_sec=1.0)
            return
        if goal_id == goal.run.goal_id:
            goal.stops.reading(reading)

    def _state(self) -> RobotState | None:
        """Return the robot's newest state, in lockstep that of the newest observation; None: it is unknown."""
        if self.intake is None:
            return None
        return self.intake.latest.state if self._lockstep and self.intake.latest else self.intake.state

    @property
    def _lockstep(self) -> bool:
        return self._status is not None and self._status.lockstep

    def _steps(self, goal: ActiveGoal, stamp_s: float) -> int:
        """Return the number of control steps executed for a goal until a stamp [s] of the bridge's clock."""
        if goal.supervisor.is_paused:
            return goal.steps_before
        first_s = None if goal.run.first_ns is None else goal.run.first_ns * 1e-9
        return goal.steps_before + goal.steps.at(stamp_s, first_s, lockstep=self._lockstep)

    def _on_cancel(self, handle: Any) -> Any:
        """Stop the motion at once; the goal ends at the next tick, once its handle has the state canceling."""
        goal = self._goal
        if goal is not None and bytes(goal.handle.goal_id.uuid) == bytes(handle.goal_id.uuid):
            self._stop_motion(goal)
        return CancelResponse.ACCEPT

    def _stop_motion(self, goal: ActiveGoal) -> None:
        """Send no further chunk, and make the bridge drop the rest of the last one."""
        self._runner.stop()
        self._hold(goal.run.goal_id, goal.skill)

    async def _execute(self, offer: SkillOffer, handle: Any) -> Any:
        try:
            return await self._serve(offer, handle)
        finally:
            # After an exception the goal must not keep the skill busy.
            goal = self._goal
            if goal is not None and goal.handle is handle:
                self._end(goal, GoalEnd(GoalOutcome.FAILED, "internal_error", "see the log of this node"))

    async def _serve(self, offer: SkillOffer, handle: Any) -> Any:
        while self._goal is not None and self._goal.handle.is_cancel_requested:
            await self._goal.ended
        if handle.is_cancel_requested:  # while it waited; nothing may move for it
            handle.canceled()
            return result_message(CANCELED, self._state())
        try:
            request = self._request(offer.manifest, handle.request)
            offer.plan(bytes(handle.goal_id.uuid).hex(), request)
            goal = self._start(offer, handle, request)
        except GoalRefused as refused:
            self._node.get_logger().warning(f"goal refused ({refused.check}): {refused}")
            handle.abort()
            end = GoalEnd(GoalOutcome.REJECTED, refused.check, str(refused))
            return result_message(end, self._state())
        result = await goal.ended
        if result.outcome == GoalOutcome.CANCELED:
            handle.canceled()
        elif result.outcome == GoalOutcome.SUCCEEDED or result.check == CHECK:
            handle.succeed()
        else:
            handle.abort()
        return result

    def _request(self, manifest: RSkillManifest, asked: Any) -> GoalRequest:
        """Return the validated goal, or raise GoalRefused if it cannot be run now."""
        if self.intake is None:
            raise GoalRefused("node_state", f"{manifest.name} is not active; activate its node first")
        if self._estopped:
            raise GoalRefused("estop", "the E-stop is latched; reset it with the service estop_reset")
        if self._goal is not None:
            text = (
                f"busy with goal {self._goal.run.goal_id} ({self._goal.run.instruction!r}); cancel it first"
            )
            raise GoalRefused("busy", text)
        if self.intake.fault is not None:
            raise GoalRefused("observation_contract", self.intake.fault)
        worker = self._runner.worker()
        if worker.hangs(self._limits):
            raise GoalRefused(
                "policy_error", f"the policy has not answered for {worker.busy_s:.0f} s; restart its node"
            )
        return parse_goal(
            manifest,
            asked.instruction,
            asked.task,
            asked.deadline_s,
            asked.params_json,
            self._default_deadline_s,
            asked.stop_when,
            int(asked.max_steps),
        )

    def _start(self, offer: SkillOffer, handle: Any, request: GoalRequest) -> ActiveGoal:
        begun_ns, monitors = (
            self._node.get_clock().now().nanoseconds,
            self._node.count_publishers(self._progress_topic),
        )
        stops = self._stopping.begin(request, begun_ns, monitors)
        goal_id = bytes(handle.goal_id.uuid).hex()
        self._node.get_logger().info(
            f"goal {goal_id}: {request.instruction!r}, at most {request.deadline_s:g} s"
        )
        supervisor = GoalSupervisor(goal_id, request.deadline_s, self._limits, self._now(), self._status)
        run = self._runner.start(goal_id, request.instruction)
        count = self._stopping.count(goal_id)
        goal = self._goal = ActiveGoal(handle, offer.manifest.name, run, supervisor, stops, count)
        if self._status is not None:
            self._wait_or_go_on(goal, self._status)
        self._announce()  # before the first chunk, since the bridge executes only chunks of announced goals
        if self.intake is not None and self.intake.latest is not None:
            self.on_sensors(self.intake.latest, fresh=False)
        return goal

    def _is_over(self, goal: ActiveGoal, now: Instant, stopped: GoalEnd | None = None) -> bool:
        """End the goal if one of its checks does so; return whether it has ended."""
        verdict = goal.supervisor.verdict(
            now,
            self._runner.worker(),
            cancel=bool(goal.handle.is_cancel_requested),
            estopped=self._estopped,
            stopped=stopped,
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
                    state="running" if goal.run.chunks and not goal.supervisor.is_paused else "waiting",
                    chunks=goal.run.chunks,
                    steps=self._steps(goal, now.stamp_s),
                    elapsed_s=goal.supervisor.elapsed_s(now.stamp_s),
                    latency_s=goal.run.latency.last,
                )
            )

    def _end(self, goal: ActiveGoal, verdict: GoalEnd) -> None:
        """Stop the goal's motion at once, and set the result, which the action server sends afterwards."""
        self._stop_motion(goal)
        self._goal = None
        self._announce()
        words = f"goal {goal.run.goal_id} ends {verdict.outcome.name} ({verdict.check}): {verdict.message}"
        # There is a call for each severity, since rclpy forbids a call site to change it.
        if verdict.outcome in UNREMARKABLE:
            self._node.get_logger().info(words)
        elif verdict.check == MOTION_CHECK:  # the motion was hindered, which is not a fault of this node
            self._node.get_logger().warning(words)
        else:
            self._node.get_logger().error(words)
        now_s = max(self._now().stamp_s, self._newest_s())
        goal.ended.set_result(
            result_message(
                verdict,
                self._state(),
                goal.run,
                steps=self._steps(goal, now_s),
                duration_s=goal.supervisor.elapsed_s(now_s),
            )
        )


def _broken(why: str) -> ExecuteSkill.Result:
    """Return the result of a goal that an unexpected exception has ended."""
    return result_message(GoalEnd(GoalOutcome.FAILED, "internal_error", why), None)
