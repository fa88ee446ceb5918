"""The loop that one writes first, and two better ones: the policy loaded once, one stock environment.

What differs is how the pictures come about: as gymnasium draws them at each step, in the look that MetaWorld ships; in
the look of the scene at each step; or in that look only when the policy is asked. Whether a task is solved says nothing
here: what counts is the time of a control step.
"""

from __future__ import annotations

import time
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.adapters.action_adapter import ActionAdapter
from openral_core.adapters.observation_adapter import ObservationAdapter
from openral_core.scene import BenchmarkScene
from openral_core.types import Observation, Policy, RobotState
from openral_rskill.registry import RSkillPackage
from openral_sim_bridge.rendering.renderer import OffscreenRenderer, profile

CORNER2 = (0.75, 0.075, 0.7)
"""[m] where the skill's camera hangs, which is also where lerobot puts it; MetaWorld's own is farther away."""
UPSIDE_DOWN = "corner2"
OPENING_M = 0.1
"""[m] of the gripper where MetaWorld's observation says 1."""


class Pictures(Enum):
    """How a loop comes to its pictures."""

    GYMNASIUM = "gymnasium's pictures"
    SAME_LOOK = "the same look"
    LAZY = "the same look, drawn when the policy is asked"


def steps_per_s(
    policy: Policy, package: RSkillPackage, scene: BenchmarkScene, steps: int, pictures: Pictures
) -> float:
    """Run the first control steps of an episode of the scene's task; making environment and renderer is not counted."""
    env = _stock(scene)
    world = scene.scene
    look = profile(str(world.backend_options["render_profile"]))
    renderer = OffscreenRenderer(env.unwrapped.model, world.observation_width, world.observation_height, look)
    observe, act = ObservationAdapter(package.manifest, scene), ActionAdapter(package.manifest, scene)
    cameras = [camera.name for camera in observe.cameras]
    if pictures is not Pictures.GYMNASIUM:
        renderer.render(env.unwrapped.data, cameras[0])  # llvmpipe compiles its shaders
    start = time.perf_counter()
    numbers, _ = env.reset()
    for step in range(steps):
        asked = step % package.manifest.replay_steps == 0
        if asked or pictures is not Pictures.LAZY:
            drawn = None if pictures is Pictures.GYMNASIUM else renderer
            images = {camera: _picture(env, camera, drawn) for camera in cameras}
        if asked:
            seen = Observation(0.0, images, _state(numbers), scene.task.instruction)
            chunk = act(policy.predict(observe.batch([seen]))[0])
        numbers, *_ = env.step(chunk[step % package.manifest.replay_steps])
    rate = steps / (time.perf_counter() - start)
    renderer.close()
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


def _picture(env: Any, camera: str, renderer: OffscreenRenderer | None) -> NDArray[np.uint8]:
    """Return (H, W, 3) as a person would hold it; without a renderer from gymnasium's own."""
    bare, turn = env.unwrapped, -1 if camera == UPSIDE_DOWN else 1
    if renderer is not None:
        return renderer.render(bare.data, camera)[::turn, ::turn]
    bare.mujoco_renderer.camera_id = bare.model.camera(camera).id
    image: NDArray[np.uint8] = env.render()[::turn, ::turn]
    return image


def _state(numbers: NDArray[np.float64]) -> RobotState:
    """Return what MetaWorld's observation (39,) says of the hand, which is all that the skill asks for."""
    opening = float(numbers[3]) * OPENING_M
    return RobotState(0.0, (), np.zeros(0), numbers[:3], np.array([0.0, 0.0, 0.0, 1.0]), opening)
