"""Builds a `RobotState` from the joint and end-effector messages, matching joints by name and not by index."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from openral_core.errors import ContractError
from openral_core.types import RobotState


class StateAssembler:
    """Builds states of one robot. Messages may list its joints in any order, and other joints besides."""

    def __init__(self, joint_names: Sequence[str], gripper_joint: str) -> None:
        """Take the joints of the robot description.

        Args:
            joint_names: all joints of a state, in its order.
            gripper_joint: joint of role `gripper`, whose position is the opening between the fingers [m].
        """
        self._names = tuple(joint_names)
        self._gripper = gripper_joint

    def assemble(
        self,
        stamp_ns: int,
        names: Sequence[str],
        positions: Sequence[float],
        ee_position: Sequence[float],
        ee_quaternion: Sequence[float],
    ) -> RobotState:
        """Return the state at `stamp_ns`.

        Args:
            stamp_ns: [ns] common stamp of both messages.
            names: (n,) joint names of the message.
            positions: (n,) of these joints, in rad or m.
            ee_position: (3,) [m] in the frame of the pose message.
            ee_quaternion: (4,) as x, y, z, w.

        Raises:
            ContractError: a joint of the robot is missing, names and positions differ in length, or a value that the
                state holds is not finite.
        """
        if len(names) != len(positions):
            raise ContractError(
                f"/joint_states has {len(names)} names but {len(positions)} positions; fix its publisher"
            )
        by_name = dict(zip(names, positions, strict=True))
        missing = [name for name in (*self._names, self._gripper) if name not in by_name]
        if missing:
            raise ContractError(
                f"/joint_states lacks {', '.join(dict.fromkeys(missing))}; it has {_shown(names)}. "
                "Make the robot description and the publisher agree"
            )
        pose = (*ee_position, *ee_quaternion)
        broken = [name for name in (*self._names, self._gripper) if not math.isfinite(by_name[name])]
        if broken or not all(map(math.isfinite, pose)):
            where = f"{broken[0]} on /joint_states" if broken else "the hand's pose on ee_pose"
            raise ContractError(f"{where} is not finite; fix its publisher")
        return RobotState(
            stamp_s=stamp_ns * 1e-9,
            joint_names=self._names,
            joint_positions=np.array([by_name[name] for name in self._names], np.float64),
            ee_position=np.array(ee_position, np.float64),
            ee_quaternion=np.array(ee_quaternion, np.float64),
            gripper_opening=float(by_name[self._gripper]),
        )


def _shown(names: Sequence[str]) -> str:
    """Return names for an error message: at most 20 of them and 300 characters, as ASCII."""
    text = ascii(", ".join(names[:20]))[1:-1]
    return f"{text[:300]}{' …' if len(names) > 20 or len(text) > 300 else ''}" or "no joints"
