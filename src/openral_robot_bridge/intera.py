"""Topics and messages of a Sawyer with Intera 5, for both the driver and the twin.

Definitions are those of Rethink's intera_common (intera_core_msgs), with the same md5sums, such as c8c85922… for
JointCommand. That of `gravity_compensation_torques` differs between releases, so that it is read by the definition that
the arm itself sends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

JOINT_STATES: Final = "/robot/joint_states"
STATE: Final = "/robot/state"
LIMITS: Final = "/robot/joint_limits"
ENABLE: Final = "/robot/set_super_enable"
RESET: Final = "/robot/set_super_reset"
STOP: Final = "/robot/set_super_stop"
COMMAND: Final = "/robot/limb/right/joint_command"
COMMAND_TIMEOUT: Final = "/robot/limb/right/joint_command_timeout"
COLLISION: Final = "/robot/limb/right/collision_detection_state"
TORQUES: Final = "/robot/limb/right/gravity_compensation_torques"
GRIPPER_STATE: Final = "/io/end_effector/right_gripper/state"
GRIPPER_COMMAND: Final = "/io/end_effector/right_gripper/command"
VERSION_PARAMETER: Final = "/rethink/software_version"

POSITION_MODE, VELOCITY_MODE = 1, 2
"""Modes of JointCommand; in POSITION mode the arm's own controller holds it."""
BUTTON_UNPRESSED, BUTTON_PRESSED, BUTTON_UNKNOWN, BUTTON_RELEASED = range(4)
"""Values of RobotAssemblyState.estop_button; after RELEASED, the arm stays stopped until it is reset."""
SOURCE_NONE, SOURCE_USER, SOURCE_UNKNOWN, SOURCE_FAULT, SOURCE_ENGINE = range(5)
"""Values of RobotAssemblyState.estop_source."""
GRIPPER_STROKE_M: Final = 0.041667
"""[m] largest opening of the electric gripper (intera_interface, Gripper.MAX_POSITION)."""

SEA_JOINT_STATE: Final = "intera_core_msgs/SEAJointState"
SEA_JOINT_STATE_DEFINITION: Final = """Header header
string[] name
float64[] commanded_position
float64[] commanded_velocity
float64[] commanded_acceleration
float64[] commanded_effort
float64[] actual_position
float64[] actual_velocity
float64[] actual_effort
float64[] gravity_model_effort
float64[] gravity_only
float64[] hysteresis_model_effort
float64[] crosstalk_model_effort
float64 hystState
"""
"""Definition with which the twin publishes; that of Intera 5.3 has more fields."""

DEFINITIONS: Final[Mapping[str, str]] = {
    "intera_core_msgs/JointCommand": """Header header
int32 mode
string[] names
float64[] position
float64[] velocity
float64[] acceleration
float64[] effort
int32 POSITION_MODE=1
int32 VELOCITY_MODE=2
int32 TORQUE_MODE=3
int32 TRAJECTORY_MODE=4
""",
    "intera_core_msgs/JointLimits": """string[] joint_names
float64[] position_lower
float64[] position_upper
float64[] velocity
float64[] accel
float64[] effort
""",
    "intera_core_msgs/CollisionDetectionState": """Header header
bool collision_state
""",
    "intera_core_msgs/RobotAssemblyState": """bool homed
bool ready
bool enabled
bool stopped
bool error
bool lowVoltage
uint8 estop_button
uint8 ESTOP_BUTTON_UNPRESSED=0
uint8 ESTOP_BUTTON_PRESSED=1
uint8 ESTOP_BUTTON_UNKNOWN=2
uint8 ESTOP_BUTTON_RELEASED=3
uint8 estop_source
uint8 ESTOP_SOURCE_NONE=0
uint8 ESTOP_SOURCE_USER=1
uint8 ESTOP_SOURCE_UNKNOWN=2
uint8 ESTOP_SOURCE_FAULT=3
uint8 ESTOP_SOURCE_ENGINE=4
""",
    "intera_core_msgs/IOComponentCommand": """time time
string op
string args
""",
    "intera_core_msgs/IOStatus": """string DOWN=down
string READY=ready
string BUSY=busy
string UNREADY=unready
string ERROR=error
string tag
string id
string detail
""",
    "intera_core_msgs/IOComponentStatus": """string name
IOStatus status
""",
    "intera_core_msgs/IODataStatus": """string name
string format
string data
IOStatus status
""",
    "intera_core_msgs/IODeviceStatus": """time time
IOComponentStatus device
IODataStatus[] ports
IODataStatus[] signals
time[] commands
string[] responses
""",
}
"""Message definitions by name, without their comments, which md5sums ignore."""
