"""The safety envelope of action chunks: a chunk that leaves it is rejected as a whole, never clamped."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from openral_control.joint_envelope import JointLimits
from openral_core.errors import EnvelopeError
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene
from openral_core.types import RobotState

DT_TOLERANCE = 0.01
"""Largest relative deviation of a chunk's dt from 1 / control_hz."""
LIMIT_TOLERANCE = 1e-6
"""Tolerance relative to the range, since float32 cannot represent every limit exactly."""
WORKSPACE_TOLERANCE_M = 1e-3
"""[m] beyond the box that still counts as inside: by this much a contact solver moves a hand that holds at the edge."""
_ROUNDING_M = 1e-6
"""[m] error of a sum of float32 displacements."""


class Envelope:
    """The limits of one robot in one scene. The checks are stateless."""

    def __init__(self, scene: DeployScene, robot: RobotDescription) -> None:
        """Read the limits from the scene's action contract and the robot's safety section."""
        action = scene.action
        self._dim = action.dim
        self._dt = scene.dt
        self._max_age_s = action.max_age_s
        self._max_horizon_s = action.max_horizon_s
        low, high = np.asarray(action.low, dtype=np.float64), np.asarray(action.high, dtype=np.float64)
        slack = LIMIT_TOLERANCE * (high - low)
        self._low, self._high = low - slack, high + slack
        self._is_delta = action.representation.startswith("delta_ee")
        self._adds_up = action.counts_from == "set_point"
        self._step_m = (action.step_m or 0.0) * action.share(scene.dt)
        self._max_step_m = robot.safety.max_ee_speed_m_s * scene.dt * (1.0 + LIMIT_TOLERANCE)
        self._box = scene.workspace
        self._joints = JointLimits(scene, robot) if action.representation.startswith("delta_joints") else None

    def check(
        self,
        data: NDArray[np.floating],
        *,
        dim: int,
        dt: float,
        age_s: float,
        state: RobotState | None,
        past: int = 0,
        horizon_limit_s: float = math.inf,
    ) -> None:
        """Raise an error unless a chunk is inside the envelope.

        Args:
            data: (H, A) all steps of the chunk in the scene's action contract.
            dim: A as the sender states it.
            dt: [s] between two steps as the sender states it.
            age_s: [s] since the observation that the chunk answers; beyond one step, negative ages are rejected.
            state: present state of the robot; without it neither the workspace nor the joints' ranges can be checked,
                and a displacement is rejected.
            past: number of first steps that came too late and will not be executed. Their values are checked, too,
                but they do not count towards the path of the end effector.
            horizon_limit_s: [s] longest chunk that its sender announced; the scene's own limit applies as well.

        Raises:
            EnvelopeError: the chunk is rejected; one sentence with the reason, the step and the number.
        """
        self._check_form(data, dim, dt, age_s)
        limit_s, horizon_s = min(self._max_horizon_s, horizon_limit_s), len(data) * self._dt
        if horizon_s > limit_s * (1.0 + DT_TOLERANCE):
            raise EnvelopeError(f"horizon: {len(data)} steps last {horizon_s:.3f} s, allowed {limit_s:.3f} s")
        below, above = data < self._low, data > self._high
        if below.any() or above.any():
            step, axis = (int(index) for index in np.argwhere(below | above)[0])
            value = float(data[step, axis])
            raise EnvelopeError(
                f"limits: step {step}, number {axis} is {value:.4g}, "
                f"allowed {self._low[axis]:.4g} to {self._high[axis]:.4g}"
            )
        if self._is_delta:
            delta = np.asarray(data[:, :3], dtype=np.float64) * self._step_m
            self._check_speed(delta)
            self._check_workspace(delta, past, state)
        if self._joints is not None:
            self._joints.check(data, past, state)

    def _check_form(self, data: NDArray[np.floating], dim: int, dt: float, age_s: float) -> None:
        if data.ndim != 2 or data.shape[0] == 0 or data.shape[1] != self._dim or dim != self._dim:
            raise EnvelopeError(
                f"dimension: chunk {data.shape} stated as {dim} numbers, needed (H, {self._dim})"
            )
        if not np.issubdtype(data.dtype, np.floating):
            raise EnvelopeError(f"dimension: chunk of {data.dtype}, needed floating-point numbers")
        if not np.isfinite(data).all():
            step, axis = (int(index) for index in np.argwhere(~np.isfinite(data))[0])
            raise EnvelopeError(f"finite: step {step}, number {axis} is {float(data[step, axis])}")
        if not (math.isfinite(dt) and abs(dt - self._dt) <= DT_TOLERANCE * self._dt):
            raise EnvelopeError(f"rate: dt {dt:.6g} s, needed {self._dt:.6g} s (1 / control_hz)")
        if not (math.isfinite(age_s) and -self._dt <= age_s <= self._max_age_s):
            raise EnvelopeError(
                f"freshness: the observation is {age_s:.3f} s old, allowed {self._max_age_s:.3f} s"
            )

    def _check_speed(self, delta: NDArray[np.float64]) -> None:
        """Check each displacement (H, 3) [m] against the robot's maximum speed."""
        length = np.linalg.norm(delta, axis=1)
        step = int(np.argmax(length))
        if length[step] > self._max_step_m:
            raise EnvelopeError(
                f"step size: step {step} moves {length[step] / self._dt:.3f} m/s, "
                f"allowed {self._max_step_m / self._dt:.3f} m/s"
            )

    def _check_workspace(self, delta: NDArray[np.float64], past: int, state: RobotState | None) -> None:
        """Check that displacements (H, 3) [m] do not lead the hand out of the box, or further out if it is outside."""
        if self._box is None:
            return
        if state is None or not np.isfinite(state.ee_position).all():
            raise EnvelopeError("workspace: the end effector's position is unknown")
        steps = delta[past:] if self._adds_up else delta[past : past + 1]
        path = state.ee_position + np.cumsum(steps, axis=0)
        further = self._outside(path) > self._allowed(state.ee_position)
        if further.any():
            step, axis = (int(index) for index in np.argwhere(further)[0])
            raise EnvelopeError(
                f"workspace: step {past + step} leads the end effector to {'xyz'[axis]} = {path[step, axis]:.3f} m, "
                f"out of [{self._box.low[axis]:.3f}, {self._box.high[axis]:.3f}] m"
            )

    def check_step(self, action: NDArray[np.floating], state: RobotState | None) -> None:
        """Check one action (A,) of an accepted chunk again, immediately before it is executed.

        Only the position to which the controller leads the hand is checked, since it may have changed. It is ahead of
        a hand that lags or is obstructed, and may leave the box although the chunk, counted from the hand, does not.

        Raises:
            EnvelopeError: the step leads out of the workspace, or further out.
        """
        if not self._is_delta or self._box is None or state is None:
            return
        now = state.ee_position if state.ee_target is None else state.ee_target
        led = now + self._step_m * np.asarray(action[:3], dtype=np.float64)
        beyond = self._outside(led) - self._allowed(now)
        if (beyond > 0.0).any():
            axis = int(np.argmax(beyond))
            raise EnvelopeError(
                f"workspace: the next step leads the end effector to {'xyz'[axis]} = {led[axis]:.3f} m, out of "
                f"[{self._box.low[axis]:.3f}, {self._box.high[axis]:.3f}] m; it is not where its chunk took it to be"
            )

    def _allowed(self, now: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (3,) [m] how far beyond the box a hand at `now` (3,) [m] may be led: no further than it is."""
        return np.maximum(WORKSPACE_TOLERANCE_M, self._outside(now) + _ROUNDING_M)

    def _outside(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (…, 3) [m] by how much points (…, 3) [m] are beyond the box along each axis; negative: inside."""
        assert self._box is not None
        farther: NDArray[np.float64] = np.maximum(self._box.low - points, points - self._box.high)
        return farther
