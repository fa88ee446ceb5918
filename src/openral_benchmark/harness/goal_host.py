"""Runs the director's goals, one at a time, as policy nodes and motion nodes do, but without threads and messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from openral_control.admission import Admission
from openral_control.chunk_executor import ChunkExecutor
from openral_control.chunk_queue import Chunk
from openral_control.goal_registry import GoalAnnouncement
from openral_control.motions import motion_name
from openral_core.errors import OpenralError
from openral_core.instant import Instant
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene
from openral_core.stop_conditions import stop_when_text
from openral_core.types import Image, RobotState, StepView
from openral_policy_nodes.executed_steps import StepCount
from openral_policy_nodes.goal_request import GoalRefused, parse_goal
from openral_policy_nodes.goal_supervisor import (
    BridgeStatus,
    GoalEnd,
    GoalOutcome,
    GoalSupervisor,
    InferenceHealth,
    Limits,
)
from openral_policy_nodes.inference import PolicyChunk, SensorSet
from openral_policy_nodes.inference_thread import ChunkSource, GoalRun
from openral_policy_nodes.motion_source import MotionSource
from openral_policy_nodes.stopping import GoalStops, Stopping
from openral_reasoner.mission.attempt import SendGoal
from openral_reasoner.mission.goal_report import GoalReport
from openral_rskill.registry import RSkillPackage

DEFAULT_DEADLINE_S = 30.0
"""[s] deadline of a goal where neither the goal nor its skill gives one."""
HEARTBEAT_S = 1.0
"""[s] between two announcements of the running goal, as in nodes; the bridge drops a goal without announcements."""
NODE = "/openral/harness"
"""Name of the node under which goals are announced to the bridge's admission."""


@dataclass(frozen=True)
class GoalSkill:
    """A skill, and the source of the chunks that answer its observations."""

    package: RSkillPackage
    source: ChunkSource


@dataclass
class _RunningGoal:
    key: int
    skill: str
    source: ChunkSource
    run: GoalRun
    supervisor: GoalSupervisor
    stops: GoalStops
    steps: StepCount
    motion: bool


class GoalHost:
    """Runs one goal at a time of any skill. A goal's id is made from its key, so that runs are reproducible."""

    def __init__(
        self,
        scene: DeployScene,
        robot: RobotDescription,
        skills: Mapping[str, GoalSkill],
        executor: ChunkExecutor,
    ) -> None:
        """Begin without a goal.

        Args:
            scene: of the deployment.
            robot: of the scene.
            skills: by manifest name.
            executor: of the control loop; its counters and active goal are read.
        """
        self._scene, self._skills, self._executor = scene, skills, executor
        self._stopping = Stopping(scene, robot)
        self._limits = Limits(frame_period_s=1.0 / min(camera.rate_hz for camera in scene.cameras))
        self._admission: Admission | None = None
        self._goal: _RunningGoal | None = None
        self._announced_s = 0.0
        self.motion_steps = 0
        """Control steps of the motions that have ended."""

    def connect(self, post: Callable[[Chunk], None], refuse: Callable[[Chunk, str], None]) -> None:
        """Connect the control loop: `post` takes admitted chunks, `refuse` those that are refused, with the reason."""
        self._admission = Admission(post, refuse)

    @property
    def running(self) -> str:
        """Hex UUID of the goal that runs; empty: none."""
        return self._goal.run.goal_id if self._goal else ""

    def start(
        self, command: SendGoal, now: Instant, state: RobotState, monitors: int
    ) -> tuple[str, GoalReport | None]:
        """Begin a goal; return its id, and a report if it was refused, else None.

        Args:
            command: skill, instruction and limits of the goal.
            now: this moment.
            state: of the robot.
            monitors: number of reward monitors that give readings.
        """
        goal_id, skill = f"{command.key:032x}", self._skills[command.skill.name]
        manifest, source = skill.package.manifest, skill.source
        try:
            request = parse_goal(
                manifest,
                command.instruction,
                command.task,
                command.deadline_s,
                command.params_json,
                DEFAULT_DEADLINE_S,
                stop_when_text(command.stop_when),
                command.max_steps,
            )
            if isinstance(source, MotionSource):
                source.plan(goal_id, motion_name(manifest), request.params, state)
            stops = self._stopping.begin(request, round(now.stamp_s * 1e9), monitors)
        except GoalRefused as refused:
            return goal_id, _report(GoalEnd(GoalOutcome.REJECTED, refused.check, str(refused)), state, 0)
        run = GoalRun(goal_id, request.instruction, source.new_history())
        supervisor = GoalSupervisor(goal_id, request.deadline_s, self._limits, now, self._status(now))
        source.reset(goal_id)
        self._goal = _RunningGoal(
            command.key,
            manifest.name,
            source,
            run,
            supervisor,
            stops,
            self._stopping.count(goal_id),
            isinstance(source, MotionSource),
        )
        self._announce(manifest.name, goal_id, now)
        return goal_id, None

    def observe(
        self, now: Instant, images: Mapping[str, Image], state: RobotState
    ) -> tuple[int, GoalReport] | None:
        """Let the running goal answer an observation; return its key and report if it ended, else None."""
        goal = self._goal
        if goal is None:
            return None
        stamp_ns = round(now.stamp_s * 1e9)
        if now.wall_s - self._announced_s >= HEARTBEAT_S:
            self._announce(goal.skill, goal.run.goal_id, now)
        goal.supervisor.on_status(self._status(now), goal.run.chunks)
        goal.supervisor.on_fresh_observation(now)
        stopped = goal.stops.look(stamp_ns, state, goal.run.newest, self._steps(goal, now))
        end = goal.supervisor.verdict(now, InferenceHealth(), cancel=False, estopped=False, stopped=stopped)
        if end is None:
            seen = (
                images if goal.motion else dict(images)
            )  # rendered now, since the policy's history may hold them
            end = self._answer(goal, SensorSet(stamp_ns, seen, state), now)
        return None if end is None else (goal.key, self._end(goal, end, state, now))

    def cancel(self, now: Instant, state: RobotState) -> tuple[int, GoalReport] | None:
        """Cancel the running goal; return its key and report, or None if there is none."""
        goal = self._goal
        if goal is None:
            return None
        canceled = GoalEnd(GoalOutcome.CANCELED, "client_cancel", "canceled by the client")
        return goal.key, self._end(goal, canceled, state, now)

    def _answer(self, goal: _RunningGoal, sensors: SensorSet, now: Instant) -> GoalEnd | None:
        """Offer the chunk that answers an observation; return how the goal ended if its skill ended it, else None."""
        step = goal.source.step_of(sensors.stamp_ns)
        goal.run.history.add(step, StepView(sensors.images, sensors.state))
        seen = SensorSet(sensors.stamp_ns, sensors.images, sensors.state, history=goal.run.history.at(step))
        try:
            chunk = goal.source.chunk(seen, goal.run.goal_id, goal.run.instruction, goal.run.chunks)
        except OpenralError as error:
            return GoalEnd(GoalOutcome.FAILED, "policy_error", str(error))
        if chunk.end is not None:
            return chunk.end
        goal.run.chunks += 1
        goal.run.newest = chunk
        goal.run.first_ns = chunk.stamp_ns if goal.run.first_ns is None else goal.run.first_ns
        assert self._admission is not None, "connect goes before the first observation"
        self._admission.offer(self._chunk(goal, chunk), now.wall_s)
        return None

    def _chunk(self, goal: _RunningGoal, chunk: PolicyChunk) -> Chunk:
        horizon, dim = chunk.data.shape
        return Chunk(
            stamp_s=chunk.stamp_ns * 1e-9,
            goal_id=chunk.goal_id,
            skill=goal.skill,
            instruction=chunk.instruction,
            representation=self._scene.action.representation,
            sequence=chunk.sequence,
            horizon=horizon,
            dim=dim,
            dt=self._scene.dt,
            data=chunk.data.reshape(-1),
        )

    def _end(self, goal: _RunningGoal, end: GoalEnd, state: RobotState, now: Instant) -> GoalReport:
        steps = self._steps(goal, now)
        self.motion_steps += steps if goal.motion else 0
        self._goal = None
        self._announce(goal.skill, "", now)  # the bridge ends a goal that its node no longer announces
        return _report(end, state, steps)

    def _announce(self, skill: str, goal_id: str, now: Instant) -> None:
        assert self._admission is not None, "connect goes before the first goal"
        self._announced_s = now.wall_s
        said = GoalAnnouncement(NODE, skill, active=True, goal_id=goal_id, horizon_s=0.0)
        self._admission.announce(said, now.wall_s)

    def _steps(self, goal: _RunningGoal, now: Instant) -> int:
        first_s = None if goal.run.first_ns is None else goal.run.first_ns * 1e-9
        return goal.steps.at(now.stamp_s, first_s, lockstep=True)

    def _status(self, now: Instant) -> BridgeStatus:
        executor = self._executor
        return BridgeStatus(
            active_goal=executor.active_goal,
            executed=executor.counters.executed,
            rejected_goal=executor.rejected_goal,
            rejected_streak=executor.rejected_streak,
            last_rejection=executor.last_rejection,
            lockstep=True,
            holding=executor.holding,
            stamp_s=now.stamp_s,
        )


def _report(end: GoalEnd, state: RobotState, steps: int) -> GoalReport:
    x, y, z = (float(value) for value in state.ee_position)
    return GoalReport(
        end.outcome.name,
        end.check,
        end.message,
        stopped_by=end.stopped_by,
        steps=steps,
        hand=(x, y, z),
        gripper_m=float(state.gripper_opening),
    )
