"""The loop that one writes first: the policy loaded once, one stock environment, a look through both cameras each step.

MetaWorld as gymnasium makes and draws it, in the look that it ships. The skill was trained in another look, so whether
it solves anything here says nothing: what counts is the time of a control step.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.adapters.action_adapter import ActionAdapter
from openral_core.adapters.observation_adapter import ObservationAdapter
from openral_core.scene import BenchmarkScene
from openral_core.types import Observation, Policy, RobotState
from openral_rskill.registry import RSkillPackage

CORNER2 = (0.75, 0.075, 0.7)
"""[m] where the skill's camera hangs, which is also where lerobot puts it; MetaWorld's own is farther away."""
UPSIDE_DOWN = "corner2"
OPENING_M = 0.1
"""[m] of the gripper where MetaWorld's observation says 1."""


def steps_per_s(policy: Policy, package: RSkillPackage, scene: BenchmarkScene, steps: int) -> float:
    """Run the first control steps of an episode of the scene's task; making the environment is not counted."""
    env = _stock(scene)
    observe, act = ObservationAdapter(package.manifest, scene), ActionAdapter(package.manifest, scene)
    cameras = [camera.name for camera in observe.cameras]
    start = time.perf_counter()
    numbers, _ = env.reset()
    for step in range(steps):
        images = {camera: _picture(env, camera) for camera in cameras}
        if step % package.manifest.replay_steps == 0:
            seen = Observation(0.0, images, _state(numbers), scene.task.instruction)
            chunk = act(policy.predict(observe.batch([seen]))[0])
        numbers, *_ = env.step(chunk[step % package.manifest.replay_steps])
    rate = steps / (time.perf_counter() - start)
    env.close()
    return rate


def _stock(scene: BenchmarkScene) -> Any:
    """Return MetaWorld's environment of a scene's task, which draws to arrays."""
    import gymnasium  # after openral_sim_bridge, which chooses the OpenGL that MuJoCo takes at its import
    import metaworld  # noqa: F401  (registers its environments)

    env = gymnasium.make(
        "Meta-World/MT1",
        env_name=scene.task.id.removeprefix("metaworld/"),
        seed=42,
        render_mode="rgb_array",
        camera_name=UPSIDE_DOWN,
        width=scene.scene.observation_width,
        height=scene.scene.observation_height,
    )
    env.unwrapped.model.camera(UPSIDE_DOWN).pos[:] = CORNER2
    return env


def _picture(env: Any, camera: str) -> NDArray[np.uint8]:
    """Return (H, W, 3) as a person would hold it, from gymnasium's own renderer."""
    env.unwrapped.mujoco_renderer.camera_id = env.unwrapped.model.camera(camera).id
    turn = -1 if camera == UPSIDE_DOWN else 1
    image: NDArray[np.uint8] = env.render()[::turn, ::turn]
    return image


def _state(numbers: NDArray[np.float64]) -> RobotState:
    """Return what MetaWorld's observation (39,) says of the hand, which is all that the skill asks for."""
    opening = float(numbers[3]) * OPENING_M
    return RobotState(0.0, (), np.zeros(0), numbers[:3], np.array([0.0, 0.0, 0.0, 1.0]), opening)
