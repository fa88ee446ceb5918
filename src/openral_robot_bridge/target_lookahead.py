"""Targets that an arm is sent ahead of time: where the coming actions lead, as far as it can be computed now."""

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
"""(k, A)"""
NEAR_RAD, NEAR_RAD_S = 3e-3, 0.1
"""[rad] and [rad/s] by which a joint's target may differ from the one sent ahead before new ones are sent. Where a hand
is led on its leash, targets follow from where the joints are measured, whose noise is of this size."""


class Lookahead:
    """Targets that were sent, and those that follow from what is planned. Used from one thread."""

    def __init__(self, scene: CompiledScene, ahead: int) -> None:
        """Take the scene, and how many control steps are sent ahead at most."""
        self._scene, self._ahead = scene, ahead
        self._data: Any = mujoco.MjData(scene.model)
        self._sent: list[SafeTarget] = []
        self._planned: Actions = np.empty((0, 0))

    def forget(self) -> None:
        """The arm does not follow the targets that it was sent."""
        self._sent = []

    def goes_on(self, target: SafeTarget, coming: Actions) -> bool:
        """Return whether a control step and the actions after it are those whose targets were sent before.

        They are sent anew when half of them is over and more is known.
        """
        self._sent, self._planned = self._sent[1:], self._planned[1:]
        if not self._sent:
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
        """Return positions and velocities (k, n) of a target and of those that follow it.

        Kinematics and safety filter go on by themselves, as if the arm lagged behind as far as it does now; nothing
        is sent beyond the first step in which a check would stop the arm.

        Args:
            target: of this control step.
            coming: actions of the steps after it.
            control: of the arm; is not changed.
            guard: the safety filter; is not changed.
            state: of the arm now.
            now_s: [s] monotonic.
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
