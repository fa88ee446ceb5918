"""A blank observation, with which a policy is warmed up before the robot has sent one."""

from __future__ import annotations

import numpy as np

from openral_core.adapters.observation_adapter import cameras_for
from openral_core.manifest import RSkillManifest
from openral_core.robot import load_robot
from openral_core.scene import DeployScene
from openral_core.types import RobotState
from openral_policy_nodes.inference import SensorSet


def blank_sensors(manifest: RSkillManifest, scene: DeployScene) -> SensorSet:
    """Return black images in the sizes of the scene's cameras and a robot state with every joint at zero, at stamp 0.

    Raises:
        ContractError: the scene lacks a camera of the skill.
        NotFoundError: there is no description of the scene's robot.
    """
    names = load_robot(scene.robot_id).joint_names
    state = RobotState(
        stamp_s=0.0,
        joint_names=names,
        joint_positions=np.zeros(len(names)),
        ee_position=np.zeros(3),
        ee_quaternion=np.array([0.0, 0.0, 0.0, 1.0]),
        gripper_opening=0.0,
    )
    images = {
        camera.name: np.zeros((camera.height, camera.width, 3), np.uint8)
        for camera in cameras_for(manifest, scene)
    }
    return SensorSet(0, images, state)
