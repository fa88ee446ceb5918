"""LIBERO's server with worlds that need no LIBERO: a Panda of boxes whose hand goes exactly where it is told.

The model has robosuite's names, so everything but the physics is the real thing.
"""

from __future__ import annotations

import argparse
import sys

import mujoco
import numpy as np

from openral_core.errors import NotFoundError, SimulationError
from openral_sim_bridge.backends.libero.arguments import libero_parser
from openral_sim_bridge.backends.remote_sim.arm_models import PANDA
from openral_sim_bridge.backends.remote_sim.command_modes import CommandMode, named_control
from openral_sim_bridge.backends.remote_sim.world_server_main import main
from openral_sim_bridge.backends.remote_sim.world_service import WorldState

AXES = ("0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1")
ARM = "".join(
    f"""
    <body name="robot0_link{i}" pos="0 0 0.1">
      <joint name="robot0_joint{i}" axis="{axis}" range="-2.9 2.9" limited="true"/>
      <geom type="box" size="0.02 0.02 0.05" group="1"/><geom type="sphere" size="0.3" group="0"/>"""
    for i, axis in enumerate(AXES, start=1)
)
FINGERS = "".join(
    f"""
    <body name="gripper0_{side}finger" pos="0 0 0.05">
      <joint name="gripper0_finger_joint{i}" type="slide" axis="0 1 0" range="{span}" limited="true"/>
      <geom type="box" size="0.01 0.01 0.02" group="1"/>
    </body>"""
    for i, (side, span) in enumerate((("left", "0 0.04"), ("right", "-0.04 0")), start=1)
)
MJCF = f"""
<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <camera name="agentview" pos="0.4 0 2.3" xyaxes="0 1 0 -0.7 0 0.7" fovy="45"/>
    <body name="robot0_base" pos="-0.6 0 0.9">
      <body name="robot0_link0"><geom type="box" size="0.1 0.1 0.05" group="1"/>{ARM}
        <body name="robot0_right_hand" pos="0 0 0.1" quat="0.924 0 0 -0.383">
          <camera name="robot0_eye_in_hand" pos="0.05 0 0" quat="0 0.707108 0.707108 0" fovy="75"/>
          <body name="gripper0_right_gripper">
            <body name="gripper0_eef" pos="0 0 0.097"><geom type="sphere" size="0.01" group="1"/></body>{FINGERS}
          </body>
        </body>{"</body>" * len(AXES)}
      </body>
    </body>
  </worldbody>
</mujoco>
"""


class ScriptedWorld:
    """An action adds a hundredth of its first three numbers to the first three joints; the last one moves the fingers.

    Task k is done when the first joint is at k + 1 tenths [rad].
    """

    scene = "boxes"
    arm = PANDA

    def __init__(self, tasks: list[str], control: CommandMode) -> None:
        self.tasks, self.control, self.steps, self.reward = tasks, control, 0, 0.0
        self.model = mujoco.MjModel.from_xml_string(MJCF)
        self.data = mujoco.MjData(self.model)

    def reset(self, task_id: str, init_id: int) -> None:
        if task_id not in self.tasks:
            raise NotFoundError(f"task '{task_id}' is not of this scene, which has {', '.join(self.tasks)}")
        if init_id >= 50:
            raise SimulationError(f"init_id must be >= 0 and at most 49, not {init_id}")
        self.steps = 0
        self.data.qpos[:] = [0.001 * init_id, 0.2, 0, 0.5, 0, 0.3, 0, 0.04, -0.04]
        mujoco.mj_forward(self.model, self.data)

    def step(self, action: np.ndarray) -> None:
        self.steps += 1
        if self.control.name == "absolute":
            self.data.qpos[:3] = action[:3]
        else:
            self.data.qpos[:3] += 0.01 * action[:3]
        self.data.qpos[7:] = np.clip(self.data.qpos[7] - 0.01 * action[6], 0, 0.04) * np.array([1, -1])
        self.reward = float(self.data.qpos[0])
        mujoco.mj_forward(self.model, self.data)

    def state(self) -> WorldState:
        w, x, y, z = self.data.body("robot0_right_hand").xquat
        return WorldState(
            joint_positions=self.data.qpos.copy(),
            ee_position=self.data.body("gripper0_eef").xpos.copy(),
            ee_quaternion=np.array([x, y, z, w]),
            hold_pose=np.array([*self.data.qpos[:3], 0, 0, 0]),
        )

    def judge(self) -> list[bool]:
        return [bool(self.data.qpos[0] > 0.1 * (k + 1) - 0.005) for k in range(len(self.tasks))]


def build(args: argparse.Namespace) -> list[ScriptedWorld]:
    if not args.assets.is_dir():
        raise SimulationError(f"no assets at {args.assets}")
    control = named_control(args.control)
    return [ScriptedWorld(args.tasks.split(","), control) for _ in range(args.num_envs)]


if __name__ == "__main__":
    sys.exit(main("scripted-libero", build, libero_parser("scripted-libero")))
