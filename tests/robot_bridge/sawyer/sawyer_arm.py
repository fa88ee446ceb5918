"""A Sawyer's driver in its own process, for tests."""

from __future__ import annotations

import numpy as np
from leading import STILL

from openral_control.safety.joint_limits import limits_of
from openral_core.robot import load_robot
from openral_core.scene_arm import SafetyLimits, SceneArm
from openral_robot_bridge.process import ArmProcess
from openral_robot_bridge.process_main import HostSettings

LIMITS = limits_of(load_robot("sawyer_rethink"))
OFFSET = np.array([0.2, -0.1, 0.1, 0.1, 0.2, -0.1, 0.3])


def connect(address: str) -> ArmProcess:
    arm = SceneArm(
        driver="sawyer", address=address, stream_hz=100, safety=SafetyLimits(command_timeout_s=0.3)
    )
    return ArmProcess(HostSettings(arm, LIMITS, STILL))
