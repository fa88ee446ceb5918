"""A small arm of its own at a wall, as three files, each of which a test may change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from openral_core.scene import DeployScene, load_scene

MODEL = """
<mujoco model="small">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.002" integrator="implicitfast"/>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="2 2 0.1"/>
    <body name="base" pos="0.1 0.2 0" euler="0 0 0.5">
      <geom type="cylinder" size="0.05 0.05" pos="0 0 0.05" contype="0" conaffinity="0"/>
      <body name="upper" pos="0 0 0.3" gravcomp="1">
        <joint name="pan" axis="0 0 1" range="-3 3" damping="1" armature="0.1"/>
        <geom type="sphere" size="0.03" mass="0.5"/>
        <body name="lower" gravcomp="1">
          <joint name="lift" axis="0 1 0" range="-1.5 1.5" damping="1" armature="0.1"/>
          <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="1"/>
          <body name="wrist" pos="0.3 0 0" gravcomp="1">
            <joint name="reach" type="slide" axis="1 0 0" range="0 0.3" damping="5" armature="0.5"/>
            <geom type="box" size="0.02 0.04 0.02" mass="0.3"/>
            <site name="tool" pos="0.05 0 0"/>
            <camera name="eye" pos="0.05 0 0.05" xyaxes="0 -1 0 0 0 1" fovy="60"/>
            <body name="finger" gravcomp="1">
              <joint name="finger" type="slide" axis="0 1 0" range="0 0.05" damping="5" armature="0.05"/>
              <geom type="box" size="0.03 0.005 0.01" pos="0.04 0.01 0" mass="0.05"/>
            </body>
          </body>
        </body>
      </body>
    </body>
    <body name="ball" pos="0.6 0.4 0.03">
      <freejoint/>
      <geom type="sphere" size="0.03" mass="0.05"/>
      <camera name="on_ball"/>
    </body>
    <body name="box" pos="0.6 0.0 0.03">
      <freejoint/>
      <geom type="box" size="0.03 0.03 0.03" mass="0.05"/>
    </body>
    <camera name="front" pos="2 0 0.8" xyaxes="0 1 0 -0.3 0 1"/>
    <camera name="turns" mode="targetbody" target="base" pos="1 1 1"/>
  </worldbody>
  <actuator>
    <position name="pan" joint="pan" kp="200" kv="20"/>
    <position name="lift" joint="lift" kp="200" kv="20"/>
    <position name="reach" joint="reach" kp="500" kv="50"/>
    <position name="finger" joint="finger" kp="50" kv="5"/>
  </actuator>
  <keyframe>
    <key name="home" qpos="0.1 0.2 0.1 0.05  0.6 0.4 0.03 1 0 0 0  0.6 0 0.03 1 0 0 0" ctrl="0.1 0.2 0.1 0.05"/>
    <key name="low" qpos="0.1 0.4 0.1 0.05  0.6 0.4 0.03 1 0 0 0  0.6 0 0.03 1 0 0 0" ctrl="0.1 0.4 0.1 0.05"/>
  </keyframe>
</mujoco>
"""
ROBOT: dict[str, Any] = {
    "name": "small_arm",
    "description": "Three joints and a finger",
    "embodiment_kind": "manipulator",
    "embodiment_tags": ["custom"],
    "base_frame": "base",
    "joints": [
        {
            "name": "pan",
            "joint_type": "revolute",
            "parent_link": "base",
            "child_link": "upper",
            "position_limits": [-3.0, 3.0],
            "velocity_limit": 2.0,
        },
        {
            "name": "lift",
            "joint_type": "revolute",
            "parent_link": "upper",
            "child_link": "lower",
            "position_limits": [-1.5, 1.5],
            "velocity_limit": 2.0,
        },
        {
            "name": "reach",
            "joint_type": "prismatic",
            "parent_link": "lower",
            "child_link": "wrist",
            "position_limits": [0.0, 0.3],
            "velocity_limit": 1.0,
        },
        {
            "name": "finger",
            "joint_type": "prismatic",
            "role": "gripper",
            "parent_link": "wrist",
            "child_link": "finger",
            "position_limits": [0.0, 0.05],
        },
    ],
    "end_effectors": [
        {
            "name": "finger",
            "kind": "parallel_gripper",
            "frame": "tool",
            "gripper_joint": "finger",
            "max_opening_m": 0.05,
        }
    ],
    "capabilities": {"supported_control_modes": ["cartesian_delta", "joint_position", "gripper_position"]},
    "safety": {"max_ee_speed_m_s": 2.0},
}
OPTIONS: dict[str, Any] = {
    "family": "mjcf",
    "model": "model.xml",
    "tasks": ["touch"],
    "render_profile": "fast",
    "success": {
        "touch": {"touching": ["ball", "finger"]},
        "raise": {"height": {"of": "wrist", "above": 0.5}},
    },
    "gripper": {"joints": ["finger"]},
    "place": {
        "ball": {"x": [0.5, 0.8], "y": [0.3, 0.6]},
        "box": {"x": [0.5, 0.8], "y": [-0.3, 0.3], "yaw": [-1, 1]},
    },
    "apart_m": 0.1,
}
ACTION: dict[str, Any] = {
    "representation": "delta_ee_3d_plus_gripper",
    "dim": 4,
    "low": [-1] * 4,
    "high": [1] * 4,
    "step_m": 0.02,
}
JOINT_ACTION: dict[str, Any] = {
    "representation": "joint_positions",
    "dim": 4,
    "low": [-3.0, -1.5, 0.0, -1.0],
    "high": [3.0, 1.5, 0.3, 1.0],
}


def write_scene(
    folder: Path,
    *,
    model: str = MODEL,
    robot: dict[str, Any] = ROBOT,
    action: dict[str, Any] = ACTION,
    cameras: tuple[str, ...] = ("front",),
    control_hz: float = 50,
    **options: Any,
) -> Path:
    """Write scene.yaml, model.xml and robot.yaml, with options changed; None takes one out."""
    merged = {key: value for key, value in (OPTIONS | options).items() if value is not None}
    scene = {
        "scene": {
            "id": "small",
            "backend": "mujoco",
            "observation_height": 48,
            "observation_width": 64,
            "cameras": [{"name": name, "rate_hz": control_hz} for name in cameras],
            "backend_options": merged,
        },
        "robot_id": "robot.yaml",
        "control_hz": control_hz,
        "action": action,
        "workspace": {"low": [-1.0, -1.0, -0.1], "high": [1.5, 1.5, 1.0]},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.xml").write_text(model)
    (folder / "robot.yaml").write_text(yaml.safe_dump(robot))
    path = folder / "scene.yaml"
    path.write_text(yaml.safe_dump(scene, sort_keys=False))
    return path


def small_scene(folder: Path, **changes: Any) -> DeployScene:
    """Write the small scene with changes, and load it."""
    return load_scene(write_scene(folder, **changes))
