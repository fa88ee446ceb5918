"""The closed vocabularies of manifests, robots and scenes."""

from __future__ import annotations

from typing import Literal

SkillKind = Literal["vla", "wam", "ros_action", "ros_service", "detector", "vlm", "reward", "playbook"]
"""vla: a policy on images and instructions; wam: a world-action model; ros_*: a wrapped ROS interface;
detector, vlm: perception; reward: scoring of progress; playbook: a written procedure for the reasoner."""

Role = Literal["s0", "s1", "s2"]
"""s0: reflex, s1: skill, s2: deliberation."""

License = Literal[
    "apache-2.0",
    "mit",
    "bsd",
    "permissive_research",
    "nvidia_non_commercial",
    "nvidia_open_model",
    "rlwrld_non_commercial",
    "proprietary",
    "unknown",
]

Embodiment = Literal[
    "aloha",
    "aloha_agilex",
    "any",
    "custom",
    "franka_panda",
    "g1",
    "google_robot",
    "gr1",
    "h1",
    "mobile_base",
    "openarm",
    "panda_mobile",
    "pusht",
    "rizon4",
    "sawyer",
    "so100_follower",
    "so101_follower",
    "ur10e",
    "ur5e",
    "widowx",
]
"""`any` fits every robot; `custom` is described by `embodiment_extra`."""

Modality = Literal[
    "rgb",
    "depth",
    "rgbd",
    "stereo",
    "lidar_2d",
    "lidar_3d",
    "imu",
    "force_torque",
    "tactile",
    "audio",
    "proprioception",
    "odometry",
    "gps",
    "event_camera",
]

Leaves = Literal["nothing", "object", "anything"]
"""What a skill leaves in the hand: nothing, the object that it grasped, or either."""

ControlMode = Literal[
    "joint_position",
    "joint_velocity",
    "joint_torque",
    "joint_trajectory",
    "cartesian_pose",
    "cartesian_delta",
    "cartesian_twist",
    "body_twist",
    "foot_placement",
    "gripper_binary",
    "gripper_position",
    "dex_hand_joint",
    "composite_mode",
]

GripperConvention = Literal[
    "normalized_open_unit", "normalized_open_symmetric", "binary_close_one", "raw_joint_rad", "width_meters"
]
"""normalized_open_unit: 0 closed, 1 open; normalized_open_symmetric: -1 closed, 1 open;
binary_close_one: 1 closes; raw_joint_rad: [rad]; width_meters: [m] between the fingers."""

Runtime = Literal["pytorch", "onnx", "tensorrt", "trt_llm", "vllm", "gguf", "mlx", "jax"]
Dtype = Literal["fp32", "fp16", "bf16", "int8", "int4", "fp4_nvfp4"]
QuantizationBackend = Literal["pytorch", "onnx", "tensorrt", "gguf", "mlx"]

Representation = Literal[
    "joint_positions",
    "joint_velocities",
    "delta_ee_6d_plus_gripper",
    "delta_ee_6d",
    "delta_ee_3d_plus_gripper",
    "delta_joints_plus_gripper",
    "cartesian_pose",
]
"""Meaning of one action. `delta_ee_*`: displacement of the end effector in units of `step_m`; `delta_joints_*`:
displacement of each joint of the arm in units of `step_rad`."""

ACTION_DIMS = {
    "delta_ee_6d_plus_gripper": 7,
    "delta_ee_6d": 6,
    "delta_ee_3d_plus_gripper": 4,
    "cartesian_pose": 7,
}
"""Length of an action; absent: it depends on the robot's joints."""

StateLayout = Literal[
    "ee_pos3_gripper1",
    "ee_pos3_rot6_gripper1",
    "smolvla_9d",
    "human300_16d",
    "gr1",
    "rc365",
    "simpler_widowx",
    "simpler_google",
    "libero_eef8d",
    "joint_positions",
]
"""ee_pos3_gripper1: end effector x, y, z [m, world frame], finger distance / 0.1 m clipped to 0..1.
ee_pos3_rot6_gripper1: end effector x, y, z [m], first two columns of its rotation matrix, finger distance [m].
joint_positions: all joints of robot.yaml in its order [rad] or [m], as `observation.joints` of a recording has them."""

Benchmark = Literal[
    "aloha",
    "aloha_insertion",
    "aloha_transfer_cube",
    "gr1_tabletop",
    "libero_10",
    "libero_goal",
    "libero_object",
    "libero_spatial",
    "maniskill3_panda",
    "metaworld_mt10",
    "metaworld_mt50",
    "pusht",
    "rlbench",
    "robocasa_pnp",
    "robotwin",
    "simpler_env_widowx",
]

ActionVerb = Literal[
    "pick",
    "place",
    "pick_and_place",
    "transfer",
    "grasp",
    "release",
    "open",
    "close",
    "push",
    "pull",
    "press",
    "slide",
    "insert",
    "pour",
    "wipe",
    "rotate",
    "reach",
    "look",
    "navigate",
    "wave",
    "shake",
    "generalist",
    "detect",
    "query",
    "monitor",
    "plan",
]
