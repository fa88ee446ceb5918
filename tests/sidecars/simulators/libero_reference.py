"""LIBERO as its own evaluation runs it, in the sidecar's interpreter: what our worlds are compared with.

    python libero_reference.py <assets> <scratch> <task> <init_id> <out.npz>

Hard resets, LIBERO's own environment class, its own renderer and its own arithmetic; nothing of ours but `prepare`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from openral_sim_bridge.backends.libero.upstream import load_task, prepare

STEPS = 12


def main(assets: str, scratch: str, task_id: str, init_id: str, out: str) -> None:
    prepare(Path(assets), Path(scratch))
    import mujoco
    from libero.libero.envs import OffScreenRenderEnv
    from robosuite.utils.transform_utils import quat2axisangle

    task = load_task(task_id)
    np.random.seed(0)
    env = OffScreenRenderEnv(bddl_file_name=str(task.bddl), camera_heights=256, camera_widths=256)
    env.seed(0)
    env.reset()
    seen = env.set_init_state(task.states[int(init_id)])
    for _ in range(10):
        seen, _, _, _ = env.step([0, 0, 0, 0, 0, 0, -1])
    actions = np.random.default_rng(0).uniform(-1, 1, (STEPS, 7))
    states, done = [], []
    for action in actions:
        seen, _, success, _ = env.step(action)
        turn = quat2axisangle(seen["robot0_eef_quat"].copy())
        states.append(np.concatenate([seen["robot0_eef_pos"], turn, seen["robot0_gripper_qpos"]]))
        done.append(success)
    eyes = ("agentview", "robot0_eye_in_hand")
    pictures = [env.sim.render(width=256, height=256, camera_name=eye)[::-1] for eye in eyes]
    model, data = env.sim.model._model, mujoco.MjData(env.sim.model._model)
    joints = [model.joint(i).name for i in range(model.njnt)]
    robot = [i for i, name in enumerate(joints) if name.startswith(("robot0_", "gripper0_"))]
    rng, poses, positions = np.random.default_rng(1), [], []
    for _ in range(20):
        values = rng.uniform(*model.jnt_range[robot].T)
        data.qpos[model.jnt_qposadr[robot]] = values
        mujoco.mj_kinematics(model, data)
        poses.append(np.concatenate([data.xpos, data.xmat], axis=1))
        positions.append(values)
    np.savez(
        out,
        actions=actions,
        states=np.array(states),
        done=np.array(done),
        qpos=env.sim.data.qpos.copy(),
        pictures=np.array(pictures),
        joints=np.array(joints),
        addresses=model.jnt_qposadr,
        ranges=model.jnt_range,
        robot=np.array(robot),
        positions=np.array(positions),
        poses=np.array(poses),
        bodies=np.array([model.body(i).name for i in range(model.nbody)]),
    )
    env.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
