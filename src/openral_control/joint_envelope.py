"""The joint limits of the safety envelope: speeds and ranges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import EnvelopeError
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene
from openral_core.types import RobotState

TOLERANCE = 1e-6
"""Tolerance relative to a limit, since float32 cannot represent every number exactly."""
DRIFT_RAD = 1e-2
"""[rad] by which a joint outside its range may move further out, since a soft joint limit lets it drift."""


class JointLimits:
    """Ranges and speeds of the joints of an arm whose actions displace them."""

    def __init__(self, scene: DeployScene, robot: RobotDescription) -> None:
        """Read the limits of the joints whose role is `arm`, in the order of robot.yaml.

        Raises:
            EnvelopeError: their number differs from the number of action values before the gripper's.
        """
        joints = [joint for joint in robot.joints if joint.role == "arm"]
        if len(joints) != scene.action.dim - 1:
            raise EnvelopeError(
                f"joints: {robot.name} has {len(joints)} of role arm, action.dim {scene.action.dim} "
                f"has room for {scene.action.dim - 1} and the gripper; fix the scene or its robot_id"
            )
        self.names = [joint.name for joint in joints]
        self._step = float(scene.action.step_rad or 0.0)
        self._dt = scene.dt
        free = (-np.inf, np.inf)
        self._low, self._high = np.array([joint.position_limits or free for joint in joints]).T
        self._speed = np.array([joint.velocity_limit or np.inf for joint in joints])

    def check(self, data: NDArray[np.floating], past: int, state: RobotState | None) -> None:
        """Raise an error unless a chunk is within the limits.

        A joint outside its range may be led back or held, but not led further out.

        Args:
            data: (H, A) displacements in units of `step_rad`, with the gripper command as the last column.
            past: number of first steps that will not be executed.
            state: present state of the robot; None: unknown, so that the chunk is rejected.

        Raises:
            EnvelopeError: one sentence with the reason, the step and the number.
        """
        delta = self._step * np.asarray(data[:, :-1], dtype=np.float64)
        speed = np.abs(delta) / self._dt
        if (speed > self._speed * (1.0 + TOLERANCE)).any():
            step, joint = (int(index) for index in np.argwhere(speed > self._speed * (1.0 + TOLERANCE))[0])
            raise EnvelopeError(
                f"joint speed: step {step} moves {self.names[joint]} at {speed[step, joint]:.3f} rad/s, "
                f"allowed {self._speed[joint]:.3f} rad/s"
            )
        here = self._positions(state)
        path = here + np.cumsum(delta[past:], axis=0)
        outside_now = np.maximum(np.maximum(self._low - here, here - self._high), 0.0)
        further = np.maximum(self._low - path, path - self._high) > outside_now + DRIFT_RAD
        if further.any():
            step, joint = (int(index) for index in np.argwhere(further)[0])
            raise EnvelopeError(
                f"joint range: step {past + step} leads {self.names[joint]} to {path[step, joint]:.3f} rad, "
                f"out of [{self._low[joint]:.3f}, {self._high[joint]:.3f}] rad"
            )

    def _positions(self, state: RobotState | None) -> NDArray[np.float64]:
        if state is None:
            raise EnvelopeError("joint range: the positions of the joints are unknown")
        known = dict(zip(state.joint_names, state.joint_positions.tolist(), strict=True))
        here = np.array([known.get(name, np.nan) for name in self.names])
        if not np.isfinite(here).all():
            missing = self.names[int(np.argmin(np.isfinite(here)))]
            raise EnvelopeError(f"joint range: the position of {missing} is unknown")
        return here
