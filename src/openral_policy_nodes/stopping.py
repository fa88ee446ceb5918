"""Ends a goal by its stop conditions and its step budget. No ROS: observations, chunks and readings are passed in."""

from __future__ import annotations

from collections.abc import Sequence

from openral_core.errors import OpenralError
from openral_core.progress_judgement import ProgressReading, ProgressThresholds
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene
from openral_core.stop_conditions import (
    ConditionWatch,
    FingerTravel,
    GripperClosed,
    JudgedDone,
    Lifted,
    StopCondition,
    commands_closing,
    moves_fingers,
)
from openral_core.types import RobotState
from openral_policy_nodes.executed_steps import StepCount
from openral_policy_nodes.goal_request import GoalRefused, GoalRequest
from openral_policy_nodes.goal_supervisor import GoalEnd, GoalOutcome
from openral_policy_nodes.inference import PolicyChunk
from openral_rskill.progress_thresholds import progress_thresholds

CHECK = "stop_when"
"""`GoalEnd.check` of a goal that a stop condition ended."""
BUDGET = "max_steps"
"""`GoalEnd.check` and `GoalEnd.stopped_by` of a goal that its step budget ended."""


class GoalStops:
    """Watches the stop conditions and the step budget of one goal."""

    def __init__(self, scene: DeployScene, watch: ConditionWatch, max_steps: int, begun_ns: int) -> None:
        self._scene, self._watch, self._max_steps = scene, watch, max_steps
        self._looked_ns = begun_ns - 1
        """[ns] stamp of the newest observation that was evaluated; at first just before the goal began."""

    def look(self, stamp_ns: int, state: RobotState, chunk: PolicyChunk | None, steps: int) -> GoalEnd | None:
        """Return how the goal ends at an observation, or None while it goes on.

        Observations from before the goal, and those that are not newer than the last one, are ignored.

        Args:
            stamp_ns: [ns] of the observation.
            state: of the robot in the observation.
            chunk: newest chunk of the goal that was sent before the observation; None: there was none.
            steps: control steps executed for the goal.
        """
        if stamp_ns <= self._looked_ns:
            return None
        self._looked_ns = stamp_ns
        fired = self._watch.look(state, self._closing(stamp_ns, chunk))
        if fired is not None:
            message = f"{fired.reason}; whether the task is done is for the reward monitor to say"
            return GoalEnd(GoalOutcome.STOPPED, CHECK, message, fired.name)
        if 0 < self._max_steps <= steps:
            message = f"{steps} control steps are executed, {self._max_steps} were asked for"
            return GoalEnd(GoalOutcome.STOPPED, BUDGET, message, BUDGET)
        return None

    def reading(self, reading: ProgressReading) -> None:
        """Add a reading of the reward monitor for this goal."""
        self._watch.reading(reading)

    def _closing(self, stamp_ns: int, chunk: PolicyChunk | None) -> bool | None:
        """Return whether the action before the observation commands the fingers to close; None before any action.

        Row i of a chunk is executed in step i after its observation. After the last row the arm holds its position,
        and the gripper keeps its last command.
        """
        if chunk is None:
            return None
        passed = round((stamp_ns - chunk.stamp_ns) * 1e-9 * self._scene.control_hz)
        row = chunk.data[min(max(passed - 1, 0), len(chunk.data) - 1)]
        return commands_closing(row, self._scene.action.representation)


class Stopping:
    """Makes the `GoalStops` and `StepCount` of each goal, and refuses conditions that cannot be evaluated here."""

    def __init__(self, scene: DeployScene, robot: RobotDescription) -> None:
        self._scene, self._fingers = scene, FingerTravel.of(robot)

    def count(self, goal_id: str) -> StepCount:
        """Return a new counter of the control steps of a goal (hex UUID)."""
        return StepCount(goal_id, self._scene.dt)

    def begin(self, request: GoalRequest, begun_ns: int, monitors: int) -> GoalStops:
        """Return the watch over the stop conditions and the step budget of a goal.

        Args:
            request: with its conditions and its budget.
            begun_ns: [ns] clock of the bridge when the goal was accepted.
            monitors: number of publishers of `progress` in the graph.

        Raises:
            GoalRefused: a condition needs something that is missing: a gripper in the scene's actions, a reward
                monitor, or the manifest of the scene's reward skill.
        """
        conditions = request.stop_when
        representation = self._scene.action.representation
        for condition in conditions:
            if _needs_gripper(condition) and not moves_fingers(representation):
                text = f"{condition.name}: nobody can tell from {representation} when the fingers close"
                raise GoalRefused(CHECK, f"{text}; leave it out")
        thresholds = self._thresholds(monitors) if _asks_monitor(conditions) else None
        watch = ConditionWatch(conditions, self._fingers, thresholds)
        return GoalStops(self._scene, watch, request.max_steps, begun_ns)

    def _thresholds(self, monitors: int) -> ProgressThresholds:
        if monitors == 0:
            raise GoalRefused(CHECK, "done: no reward monitor publishes progress; start one, or leave it out")
        try:
            return progress_thresholds(self._scene)
        except OpenralError as error:
            raise GoalRefused(CHECK, f"done: the scene's reward skill is unknown here: {error}") from error


def _needs_gripper(condition: StopCondition) -> bool:
    """Return whether a condition depends on the command of the gripper."""
    return isinstance(condition, Lifted) or (
        isinstance(condition, GripperClosed) and condition.opening_m is None
    )


def _asks_monitor(conditions: Sequence[StopCondition]) -> bool:
    return any(isinstance(condition, JudgedDone) for condition in conditions)
