"""Runs motions like policies: they answer observations with chunks, but also decide themselves when they have ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_control.motions import Motion, MotionArm, MotionEnd, MotionRefused, make_motion
from openral_core.adapters.history import FrameHistory
from openral_core.errors import ContractError
from openral_core.plugin_table import load_plugin, plugin_targets
from openral_core.scene import DeployScene
from openral_core.types import RobotState, StepView
from openral_policy_nodes.goal_request import GoalRefused
from openral_policy_nodes.goal_supervisor import MOTION_CHECK, GoalEnd, GoalOutcome
from openral_policy_nodes.inference import PolicyChunk, SensorSet

GROUP = "openral.motion_checks"
"""Entry point group: family of a scene -> `module:function`, which takes the scene and returns a `PathCheck`."""
BUILT_IN = {"mjcf": "openral_sim_bridge.backends.mjcf.reach:make_check"}
"""Entry points of that group that openral itself provides."""
REACH = "reach"
"""Name of the path check in the ends of goals."""
REPLAN_S = 0.05
"""[s] least time between two observations that are answered."""


class PathCheck(Protocol):
    """Checks before a motion whether the arm can move its hand along the path."""

    def fault(self, state: RobotState, path: Sequence[NDArray[np.float64]]) -> str:
        """Return why the hand cannot follow a path of straight lines; empty: it can.

        Args:
            state: of the robot, from whose hand position the path begins.
            path: end points (3,) [m] of the lines, in the frame of the hand position.
        """
        ...


def path_check(scene: DeployScene) -> PathCheck | None:
    """Return the path check of a scene's family; None: the family has none.

    Raises:
        OpenralError: the check could not be made, such as from a broken model.
    """
    family = scene.scene.backend_options.get("family")
    if family not in plugin_targets(GROUP, BUILT_IN):
        return None
    check: PathCheck = load_plugin(GROUP, BUILT_IN, str(family))(scene)
    return check


class MotionSource:
    """Runs one motion at a time. `plan` is called before its goal begins, `chunk` in the runner's thread."""

    def __init__(self, arm: MotionArm, check: PathCheck | None = None) -> None:
        """Begin without a motion.

        Args:
            arm: that moves.
            check: of the path before each motion; None: it is not checked.
        """
        self.arm, self._check = arm, check
        self._checking = threading.Lock()
        """Held while a path is checked, since goals are planned in another thread than motions begin anew."""
        self._planned: tuple[str, Motion] | None = None
        self._order: tuple[str, Mapping[str, Any]] = ("", {})
        self._begun = False
        self._end: GoalEnd | None = None
        """End of a motion that was not possible when it began anew; None: there is none."""

    def plan(self, goal_id: str, name: str, params: Mapping[str, Any], state: RobotState | None) -> Motion:
        """Prepare and return the motion of the next goal.

        Args:
            goal_id: hex UUID.
            name: of the motion.
            params: parameters that fit the schema of the motion.
            state: of the robot; None: no state has arrived yet, so that the path is checked at the first one.

        Raises:
            GoalRefused: the motion is not possible; nothing has moved.
        """
        try:
            motion = make_motion(name, params, self.arm)
            if state is not None:
                motion.begin(state)
        except MotionRefused as refused:
            raise GoalRefused(refused.check, str(refused)) from refused
        if state is not None and (fault := self._path_fault(motion, state)):
            raise GoalRefused(REACH, fault)
        self._planned, self._order, self._begun = (goal_id, motion), (name, params), False
        self._end = None
        return motion

    @property
    def deadline_s(self) -> float:
        """0: a motion's chunks have no deadline of their own."""
        return 0.0

    def new_history(self) -> FrameHistory[StepView]:
        """Return an empty history that stores no instants."""
        return FrameHistory(())

    def step_of(self, stamp_ns: int) -> int:
        """Return the index of the control step at a stamp [ns]."""
        return round(stamp_ns * 1e-9 / self.arm.dt)

    def reset(self, goal_id: str) -> None:
        """Begin the goal's motion; after a pause it begins again from the present position of the hand."""
        if self._begun and self._planned is not None and self._planned[0] == goal_id:
            self._planned, self._end = (goal_id, make_motion(*self._order, self.arm)), None
        self._begun = True

    def chunk(self, sensors: SensorSet, goal_id: str, instruction: str, sequence: int) -> PolicyChunk:
        """Answer an observation with actions (H, A), or with the end of the motion and no actions.

        Raises:
            ContractError: the goal's motion was not planned.
        """
        begun = time.perf_counter()
        if self._planned is None or self._planned[0] != goal_id:
            raise ContractError(f"no motion was planned for goal {goal_id}")
        data = np.zeros((0, self.arm.dim), np.float32)
        end = self._end = self._end or self._begun_anew(self._planned[1], sensors.state)
        answer = None if end is not None else self._planned[1].advance(sensors.state)
        if isinstance(answer, MotionEnd):
            outcome = GoalOutcome.SUCCEEDED if answer.succeeded else GoalOutcome.FAILED
            end = GoalEnd(outcome, MOTION_CHECK, answer.message)
        elif answer is not None:
            data = answer
        passed_s = time.perf_counter() - begun
        return PolicyChunk(
            goal_id, instruction, sequence, sensors.stamp_ns, sensors.frame_id, data, passed_s, end
        )

    def _begun_anew(self, motion: Motion, state: RobotState) -> GoalEnd | None:
        """Begin a motion that has not begun, as after a pause; return the end if it is not possible from this state."""
        if motion.has_begun:
            return None
        try:
            motion.begin(state)
        except MotionRefused as refused:
            return GoalEnd(GoalOutcome.FAILED, refused.check, str(refused))
        fault = self._path_fault(motion, state)
        return GoalEnd(GoalOutcome.FAILED, REACH, fault) if fault else None

    def _path_fault(self, motion: Motion, state: RobotState) -> str:
        """Return why the hand cannot follow a motion's path; empty: it can, or there is no check."""
        if self._check is None:
            return ""
        with self._checking:
            return self._check.fault(state, motion.path)
