"""Joint targets that are sent to an arm ahead of time, predicted from the planned actions."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_control.safety.joint_limits import Vector
from openral_control.safety.safety_filter import SafeTarget, SafetyFilter
from openral_robot_bridge.driver import ArmState
from openral_sim_bridge.backends.mjcf.control import ArmControl
from openral_sim_bridge.backends.mjcf.world import CompiledScene

Actions = NDArray[Any]
"""(k, A) actions of k control steps."""
NEAR_RAD, NEAR_RAD_S = 3e-3, 0.1
"""[rad] and [rad/s] differences of a joint's target from the one sent ahead, from which on new ones are sent.

If the distance of the hand's target from the hand is limited, targets depend on measured joint positions, whose noise
is of this size."""


class Lookahead:
    """Targets that were sent ahead, and the prediction of new ones; used from one thread."""

    def __init__(self, scene: CompiledScene, ahead: int) -> None:
        """Begin without targets.

        Args:
            scene: with its compiled model.
            ahead: largest number of control steps that are sent ahead.
        """
        self._scene, self._ahead = scene, ahead
        self._data: Any = mujoco.MjData(scene.model)
        self._sent: list[SafeTarget] = []
        self._planned: Actions = np.empty((0, 0))

    def forget(self) -> None:
        """Discard the targets that were sent, as the arm does not follow them."""
        self._sent = []

    def goes_on(self, target: SafeTarget, coming: Actions) -> bool:
        """Return whether the targets sent before are still valid for this control step and the actions after it.

        They count as invalid when half of them have passed and more actions are planned than were at their computation,
        and when a check stops the arm, as a slow arm is near them for longer than a control step.

        Args:
            target: of this control step.
            coming: (k, A) actions of the steps after it.
        """
        self._sent, self._planned = self._sent[1:], self._planned[1:]
        if not self._sent or target.stopped_by:
            return False
        sent, coming = self._sent[0], coming[: self._ahead]
        is_near = (
            np.abs(target.positions - sent.positions).max() < NEAR_RAD
            and np.abs(target.velocities - sent.velocities).max() < NEAR_RAD_S
        )
        is_known = np.array_equal(coming[: len(self._planned)], self._planned)
        lasts = 2 * len(self._sent) > self._ahead or len(coming) == len(self._planned)
        return bool(is_near and is_known and lasts)

    def targets(
        self,
        target: SafeTarget,
        coming: Actions,
        control: ArmControl,
        guard: SafetyFilter,
        state: ArmState,
        now_s: float,
    ) -> tuple[Vector, Vector]:
        """Return positions (k, n) [rad] and velocities (k, n) [rad/s] of a target and of those that follow it.

        Copies of the control and the safety filter compute them on the assumption that the arm keeps its present lag.
        They end before the first step in which a check would stop the arm.

        Args:
            target: of this control step.
            coming: (k, A) actions of the steps after it.
            control: of the arm; is not changed.
            guard: the safety filter; is not changed.
            state: of the arm now.
            now_s: [s] monotonic time.
        """
        control, guard = control.fork(), guard.fork()
        self._sent, self._planned = [target], coming[: self._ahead]
        lag = state.positions - target.positions
        for action in self._planned if not target.stopped_by else ():
            here = self._sent[-1].positions + lag
            self._data.qpos[self._scene.robot.chain.qpos] = here
            mujoco.mj_kinematics(self._scene.model, self._data)
            control.aim(self._data, np.asarray(action[: self._scene.arm_numbers], dtype=np.float64))
            safe = guard.next(np.array(control.joints), here, state.external_torques, now_s)
            if safe.stopped_by:
                break
            if control.go_on_from(self._data, safe.positions, safe.velocities):
                guard.drop_lag()
            self._sent.append(safe)
        return np.stack([one.positions for one in self._sent]), np.stack(
            [one.velocities for one in self._sent]
        )
