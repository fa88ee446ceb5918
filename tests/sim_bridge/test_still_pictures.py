"""Pictures of a world at rest are those that were drawn before, and of one that moves they are not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from openral_core.scene import load_scene
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend
from openral_sim_bridge.simulated_arm import SimulatedArm

CAMERA, TASK = ["corner2"], "drawer-open-v3"
STILL_STEPS, MOVING_STEPS = 400, 40


class CountingBackend(MetaWorldBackend):
    """Counts how often it draws."""

    drawn = 0

    def render(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> Mapping[str, NDArray[np.uint8]]:
        self.drawn += 1
        return super().render(cameras, envs)


@pytest.fixture
def world() -> Iterator[tuple[CountingBackend, SimulatedArm]]:
    backend: Any = make_backend(load_scene("metaworld_drawer"))
    backend.__class__ = CountingBackend
    arm = SimulatedArm(backend)
    arm.reset(TASK, 1000)
    yield backend, arm
    backend.close()


def test_a_world_at_rest_is_drawn_once_and_looks_as_if_it_were_drawn_now(world) -> None:
    backend, arm = world
    for _ in range(STILL_STEPS):
        arm.step(np.zeros(4))
    shown, before = arm.images(CAMERA)["corner2"], backend.drawn
    for _ in range(MOVING_STEPS):
        arm.step(np.zeros(4))
        assert arm.images(CAMERA)["corner2"] is shown
    assert backend.drawn == before
    np.testing.assert_array_equal(shown, backend.render(CAMERA)["corner2"][0])


def test_a_world_that_moves_or_was_reset_is_drawn_anew(world) -> None:
    backend, arm = world
    for _ in range(MOVING_STEPS // 4):
        arm.step(np.array([0.0, 0.5, 0.0, 0.0]))
        before = backend.drawn
        shown = arm.images(CAMERA)["corner2"]
        assert backend.drawn == before + 1
        np.testing.assert_array_equal(shown, backend.render(CAMERA)["corner2"][0])
    depth = arm.depth_images(CAMERA)["corner2"]
    np.testing.assert_array_equal(depth, backend.render_depth(CAMERA)["corner2"][0])
    arm.reset(TASK, 1001)
    np.testing.assert_array_equal(arm.images(CAMERA)["corner2"], backend.render(CAMERA)["corner2"][0])
    np.testing.assert_array_equal(
        arm.depth_images(CAMERA)["corner2"], backend.render_depth(CAMERA)["corner2"][0]
    )
