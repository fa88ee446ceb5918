"""Message layouts of the Franka Control Interface (FCI), in the two versions that the twin implements.

Version 10 is that of an FR3 of system image 5.9 or newer, version 5 that of a Panda of firmware 4.x. All layouts are
packed and little-endian, and matrices are column-major. Source: libfranka-common,
`include/research_interface/robot/{service_types,rbk_types,error}.h` and `include/research_interface/gripper/types.h`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import Enum, IntEnum, auto
from typing import Any

import numpy as np

GRIPPER_VERSION = 3
ARM_PORT, GRIPPER_PORT = 1337, 1338
"""TCP ports, which are fixed in the client library."""
CYCLE_S = 1e-3
"""[s] between two states."""
JOINTS = 7
ARM_HEADER, GRIPPER_HEADER = struct.Struct("<III"), struct.Struct("<HII")
"""Command, its id, and the size [bytes] of the whole message."""
ARM_REPLY, GRIPPER_REPLY = struct.Struct("<B"), struct.Struct("<H")
"""Status number that follows the header of an answer."""
CONNECT = struct.Struct("<HH")
"""Version and the UDP port of the client."""
GRASP, GRIPPER_MOVE = struct.Struct("<5d"), struct.Struct("<2d")
"""Grasp: width, inner and outer tolerance [m], speed [m/s], force [N]. Move: width [m], speed [m/s]."""
GRIPPER_STATE = struct.Struct("<Idd?H")
"""Message id, width [m], largest width [m], whether an object is held, temperature [°C]."""


class Command(Enum):
    """Requests to the arm; the number of each is its index in `FciProtocol.commands`."""

    CONNECT = auto()
    MOVE = auto()
    STOP_MOVE = auto()
    GET_CARTESIAN_LIMIT = auto()
    SET_COLLISION_BEHAVIOR = auto()
    SET_JOINT_IMPEDANCE = auto()
    SET_CARTESIAN_IMPEDANCE = auto()
    SET_GUIDING_MODE = auto()
    SET_EE_TO_K = auto()
    SET_NE_TO_EE = auto()
    SET_LOAD = auto()
    SET_FILTERS = auto()
    AUTOMATIC_ERROR_RECOVERY = auto()
    GET_ROBOT_MODEL = auto()
    LOAD_MODEL_LIBRARY = auto()


class GripperCommand(IntEnum):
    """Requests to the hand."""

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


class MoveReply(Enum):
    """Status in the two answers to a Move; the number of each is its index in `FciProtocol.move_replies`."""

    SUCCESS = auto()
    MOTION_STARTED = auto()
    PREEMPTED = auto()
    PREEMPTED_BY_SAFETY = auto()
    REJECTED_BY_SAFETY = auto()
    NOT_POSSIBLE = auto()
    SINGULAR_START = auto()
    INVALID_ARGUMENT = auto()
    REFLEX_ABORTED = auto()
    EMERGENCY_ABORTED = auto()
    INPUT_ERROR = auto()
    ABORTED = auto()


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
    """`motion_generator_mode` of a Move; in the state it is greater by one, and 0 without a motion."""

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
    """Errors that the twin triggers, by their indices in `errors` and `reflex_reason` of the state."""

    JOINT_POSITION_LIMITS_VIOLATION = 0
    JOINT_VELOCITY_VIOLATION = 3
    JOINT_REFLEX = 6
    JOINT_MOTION_GENERATOR_POSITION_LIMITS_VIOLATION = 12
    JOINT_MOTION_GENERATOR_VELOCITY_LIMITS_VIOLATION = 13
    JOINT_MOTION_GENERATOR_VELOCITY_DISCONTINUITY = 14
    COMMUNICATION_CONSTRAINTS_VIOLATION = 25
    CONTROLLER_TORQUE_DISCONTINUITY = 32


FAULTS = 41
FINISHED = ("motion_finished", "torque_finished")
"""Fields of a command by which the client ends its motion."""
_MEASURED = (
    "O_T_EE:16 O_T_EE_d:16 F_T_EE:16 EE_T_K:16 F_T_NE:16 NE_T_EE:16 m_ee:1 I_ee:9 F_x_Cee:3 m_load:1 I_load:9 "
    "F_x_Cload:3 elbow:2 elbow_d:2 tau_J:7 tau_J_d:7 dtau_J:7 q:7 q_d:7 dq:7 dq_d:7 ddq_d:7 joint_contact:7 "
    "cartesian_contact:6 joint_collision:7 cartesian_collision:6 tau_ext_hat_filtered:7 O_F_ext_hat_K:6 "
    "K_F_ext_hat_K:6 O_dP_EE_d:6 O_ddP_O:3 elbow_c:2 delbow_c:2 ddelbow_c:2 O_T_EE_c:16 O_dP_EE_c:6 O_ddP_EE_c:6 "
    "theta:7 dtheta:7"
)
_COMMANDED = "q_c:7 dq_c:7 O_T_EE_c:16 O_dP_EE_c:6 elbow_c:2"
_SETTERS = (
    Command.SET_COLLISION_BEHAVIOR,
    Command.SET_JOINT_IMPEDANCE,
    Command.SET_CARTESIAN_IMPEDANCE,
    Command.SET_GUIDING_MODE,
    Command.SET_EE_TO_K,
    Command.SET_NE_TO_EE,
    Command.SET_LOAD,
)
DEVIATIONS = 6
"""Number of elements of a Move with the largest allowed deviations of the arm."""
_WITHOUT_SAFETY = {
    MoveReply.PREEMPTED_BY_SAFETY: MoveReply.EMERGENCY_ABORTED,
    MoveReply.REJECTED_BY_SAFETY: MoveReply.NOT_POSSIBLE,
}
"""Status that an arm without safety functions gives instead."""


def _numbers(fields: str, kind: str) -> list[Any]:
    """Return the fields of a structured dtype from `name:count` words, with numbers of dtype `kind`."""
    pairs = [word.split(":") for word in fields.split()]
    return [(name, kind) if count == "1" else (name, kind, (int(count),)) for name, count in pairs]


def _state(fields: str, kind: str) -> np.dtype[Any]:
    """Return the layout of RobotState, with numbers of dtype `kind`."""
    return np.dtype(
        [
            ("message_id", "<u8"),
            *_numbers(fields, kind),
            ("motion_generator_mode", "u1"),
            ("controller_mode", "u1"),
            ("errors", "?", (FAULTS,)),
            ("reflex_reason", "?", (FAULTS,)),
            ("robot_mode", "u1"),
            ("control_command_success_rate", kind),
        ]
    )


_MOTION = [
    ("message_id", "<u8"),
    *_numbers(_COMMANDED, "<f8"),
    ("valid_elbow", "?"),
    ("motion_finished", "?"),
    ("tau_J_d", "<f8", (7,)),
]


@dataclass(frozen=True)
class FciProtocol:
    """The differences between the versions."""

    version: int
    state: np.dtype[Any]
    """RobotState, from the arm every millisecond."""
    command: np.dtype[Any]
    """RobotCommand, which answers it."""
    move: struct.Struct
    """Payload of Move: controller, motion generator, six deviations; then in version 10 whether the robot generates the
    motion, and the maximum velocities of its joints."""
    commands: tuple[Command, ...]
    move_replies: tuple[MoveReply, ...]

    def number_of(self, reply: MoveReply) -> int:
        """Return the number of a status of a Move, or of its replacement in this version."""
        known = self.move_replies
        return known.index(reply if reply in known else _WITHOUT_SAFETY[reply])


FR3 = FciProtocol(
    10,
    _state(f"{_MEASURED} accelerometer_top:18 accelerometer_bottom:18", "<f4"),
    np.dtype([*_MOTION, ("torque_finished", "?")]),
    struct.Struct("<II6d?7d"),
    (
        *(Command.CONNECT, Command.MOVE, Command.STOP_MOVE),
        *_SETTERS,
        *(Command.AUTOMATIC_ERROR_RECOVERY, Command.GET_ROBOT_MODEL),
    ),
    tuple(MoveReply),
)
"""RobotState has 1377 bytes, RobotCommand 371."""
PANDA = FciProtocol(
    5,
    _state(_MEASURED, "<f8"),
    np.dtype(_MOTION),
    struct.Struct("<II6d"),
    (
        *(Command.CONNECT, Command.MOVE, Command.STOP_MOVE, Command.GET_CARTESIAN_LIMIT),
        *_SETTERS,
        *(Command.SET_FILTERS, Command.AUTOMATIC_ERROR_RECOVERY, Command.LOAD_MODEL_LIBRARY),
    ),
    tuple(reply for reply in MoveReply if reply not in _WITHOUT_SAFETY),
)
"""RobotState has 2373 bytes, RobotCommand 370."""
