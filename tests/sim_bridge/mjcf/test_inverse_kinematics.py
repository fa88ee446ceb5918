"""Damped least squares beside a plain form of it, with the inverse of the damped matrix written out."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_sim_bridge.backends.mjcf.kinematics import (
    DAMPING,
    ITERATIONS,
    POSTURE_GAIN,
    Chain,
    rotation_between,
)
from openral_sim_bridge.backends.mjcf.world import CompiledScene

Vector = NDArray[np.float64]


def plainly_solved(
    chain: Chain,
    data: mujoco.MjData,
    joints: Vector,
    position: Vector,
    quaternion: Vector | None,
    posture: Vector,
) -> Vector:
    """Return what `Chain.solve` returns, without joints that compensate for others at the ends of their ranges."""
    for _ in range(ITERATIONS):
        motion = chain.motion_at(data, joints, np.zeros(len(joints)))
        error = position - motion.position
        unit = np.eye(len(joints))
        moves = [chain.motion_at(data, joints, one) for one in unit]
        jacobian = np.array([np.concatenate([move.velocity, move.spin]) for move in moves]).T
        if quaternion is not None:
            error = np.concatenate([error, rotation_between(motion.quaternion, quaternion)])
        jacobian = jacobian[: len(error)]
        inverse = jacobian.T @ np.linalg.inv(jacobian @ jacobian.T + DAMPING**2 * np.eye(len(error)))
        free = POSTURE_GAIN * (posture - joints)
        joints = np.clip(joints + inverse @ (error - jacobian @ free) + free, chain.low, chain.high)
    return joints


def test_joints_are_those_of_damped_least_squares() -> None:
    compiled = CompiledScene(load_scene("fr3_tabletop"), load_robot("fr3"))
    chain, data, rng = compiled.robot.chain, mujoco.MjData(compiled.model), np.random.default_rng(3)
    for step in range(300):
        start = chain.low + rng.uniform(0.1, 0.9, 7) * (chain.high - chain.low)
        hand = chain.motion_at(data, start, np.zeros(7))
        wanted = hand.position + rng.uniform(-0.02, 0.02, 3)
        if step % 2:
            found = chain.solve(data, start, wanted, hand.quaternion, start)
            plain = plainly_solved(chain, data, start, wanted, hand.quaternion, start)
        else:
            found = chain.solve(data, start, wanted, None, start)
            plain = plainly_solved(chain, data, start, wanted, None, start)
            if ((plain <= chain.low) | (plain >= chain.high)).any():
                continue  # there the others compensate
        np.testing.assert_allclose(found, plain, atol=1e-8)
