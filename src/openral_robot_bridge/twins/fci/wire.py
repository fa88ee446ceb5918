"""Layouts of the Franka Control Interface (FCI), version 10: what an FR3 of system image 5.9 or newer speaks.

All is packed and little endian. Source: libfranka-common, `include/research_interface/robot/{service_types,rbk_types,
error}.h` and `include/research_interface/gripper/types.h`. Matrices are column-major.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Any

import numpy as np

ARM_VERSION, GRIPPER_VERSION = 10, 3
ARM_PORT, GRIPPER_PORT = 1337, 1338
"""TCP ports; the client cannot be told others."""
CYCLE_S = 1e-3
"""[s] between two states."""
JOINTS = 7
ARM_HEADER, GRIPPER_HEADER = struct.Struct("<III"), struct.Struct("<HII")
"""Command, its id, and the size [bytes] of the whole message."""
ARM_REPLY, GRIPPER_REPLY = struct.Struct("<B"), struct.Struct("<H")
"""What an answer begins with after its header."""
CONNECT = struct.Struct("<HH")
"""Version and the UDP port of the client."""
MOVE = struct.Struct("<II6d?7d")
"""Controller, motion generator, six deviations, whether the robot generates the motion, and its greatest velocities."""
GRASP, GRIPPER_MOVE = struct.Struct("<5d"), struct.Struct("<2d")
"""Width, inner and outer tolerance [m], speed [m/s], force [N]; width [m], speed [m/s]."""
GRIPPER_STATE = struct.Struct("<Idd?H")
"""Message id, width, greatest width [m], whether something is held, temperature."""


class Command(IntEnum):
    """What the client may ask of the arm."""

    CONNECT = 0
    MOVE = 1
    STOP_MOVE = 2
    SET_COLLISION_BEHAVIOR = 3
    SET_JOINT_IMPEDANCE = 4
    SET_CARTESIAN_IMPEDANCE = 5
    SET_GUIDING_MODE = 6
    SET_EE_TO_K = 7
    SET_NE_TO_EE = 8
    SET_LOAD = 9
    AUTOMATIC_ERROR_RECOVERY = 10
    GET_ROBOT_MODEL = 11


class GripperCommand(IntEnum):
    """What the client may ask of the hand."""

    CONNECT = 0
    HOMING = 1
    GRASP = 2
    MOVE = 3
    STOP = 4


class ArmReply(IntEnum):
    """First byte of the arm's answer to a command other than Move."""

    SUCCESS = 0
    NOT_POSSIBLE = 1
    INVALID_ARGUMENT = 2


class GripperReply(IntEnum):
    """First number of the hand's answer."""

    SUCCESS = 0
    FAIL = 1
    UNSUCCESSFUL = 2
    ABORTED = 3


class MoveReply(IntEnum):
    """First byte of the two answers to a Move."""

    SUCCESS = 0
    MOTION_STARTED = 1
    PREEMPTED = 2
    PREEMPTED_BY_SAFETY = 3
    REJECTED_BY_SAFETY = 4
    NOT_POSSIBLE = 5
    SINGULAR_START = 6
    INVALID_ARGUMENT = 7
    REFLEX_ABORTED = 8
    EMERGENCY_ABORTED = 9
    INPUT_ERROR = 10
    ABORTED = 11


class Mode(IntEnum):
    """`robot_mode` of the state."""

    OTHER = 0
    IDLE = 1
    MOVE = 2
    GUIDING = 3
    REFLEX = 4
    USER_STOPPED = 5
    RECOVERY = 6


class Generator(IntEnum):
    """`motion_generator_mode` of a Move; in the state it is one more, and 0 while nothing moves."""

    JOINT_POSITION = 0
    JOINT_VELOCITY = 1
    CARTESIAN_POSITION = 2
    CARTESIAN_VELOCITY = 3
    NONE = 4


class Controller(IntEnum):
    """`controller_mode` of a Move and of the state."""

    JOINT_IMPEDANCE = 0
    CARTESIAN_IMPEDANCE = 1
    EXTERNAL = 2
    OTHER = 3


class FciFault(IntEnum):
    """Places in `errors` and `reflex_reason` of the state, of those that the twin raises."""

    JOINT_POSITION_LIMITS_VIOLATION = 0
    JOINT_VELOCITY_VIOLATION = 3
    JOINT_REFLEX = 6
    JOINT_MOTION_GENERATOR_POSITION_LIMITS_VIOLATION = 12
    JOINT_MOTION_GENERATOR_VELOCITY_LIMITS_VIOLATION = 13
    JOINT_MOTION_GENERATOR_VELOCITY_DISCONTINUITY = 14
    COMMUNICATION_CONSTRAINTS_VIOLATION = 25
    CONTROLLER_TORQUE_DISCONTINUITY = 32


FAULTS = 41
_STATE = (
    "O_T_EE:16 O_T_EE_d:16 F_T_EE:16 EE_T_K:16 F_T_NE:16 NE_T_EE:16 m_ee:1 I_ee:9 F_x_Cee:3 m_load:1 I_load:9 "
    "F_x_Cload:3 elbow:2 elbow_d:2 tau_J:7 tau_J_d:7 dtau_J:7 q:7 q_d:7 dq:7 dq_d:7 ddq_d:7 joint_contact:7 "
    "cartesian_contact:6 joint_collision:7 cartesian_collision:6 tau_ext_hat_filtered:7 O_F_ext_hat_K:6 "
    "K_F_ext_hat_K:6 O_dP_EE_d:6 O_ddP_O:3 elbow_c:2 delbow_c:2 ddelbow_c:2 O_T_EE_c:16 O_dP_EE_c:6 O_ddP_EE_c:6 "
    "theta:7 dtheta:7 accelerometer_top:18 accelerometer_bottom:18 "
)


def _numbers(fields: str, kind: str) -> list[Any]:
    """Return the fields of a structured type from `name:count` words."""
    pairs = [word.split(":") for word in fields.split()]
    return [(name, kind) if count == "1" else (name, kind, (int(count),)) for name, count in pairs]


STATE = np.dtype(
    [
        ("message_id", "<u8"),
        *_numbers(_STATE, "<f4"),
        ("motion_generator_mode", "u1"),
        ("controller_mode", "u1"),
        ("errors", "?", (FAULTS,)),
        ("reflex_reason", "?", (FAULTS,)),
        ("robot_mode", "u1"),
        ("control_command_success_rate", "<f4"),
    ]
)
"""RobotState, 1377 bytes."""
COMMAND = np.dtype(
    [
        ("message_id", "<u8"),
        *_numbers("q_c:7 dq_c:7 O_T_EE_c:16 O_dP_EE_c:6 elbow_c:2", "<f8"),
        ("valid_elbow", "?"),
        ("motion_finished", "?"),
        ("tau_J_d", "<f8", (7,)),
        ("torque_finished", "?"),
    ]
)
"""RobotCommand, 371 bytes."""
