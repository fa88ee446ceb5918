"""A scene around the fake world, and a ROS domain of these tests' own."""

from __future__ import annotations

import pytest

import openral_sim_bridge  # noqa: F401  (chooses the OpenGL platform, before any test imports mujoco)

SCENE = """
scene:
  id: fake
  backend: mock
  observation_height: 48
  observation_width: 64
  cameras: [{name: corner2, feature_key: observation.images.camera1, rate_hz: 20}]
  backend_options: {family: fake, tasks: [drawer-open-v3, drawer-close-v3], init_id: 3}
robot_id: sawyer
control_hz: 80
action:
  {representation: delta_ee_3d_plus_gripper, dim: 4, low: [-1, -1, -1, -1], high: [1, 1, 1, 1], step_m: 0.01}
workspace: {low: [-0.55, 0.15, -0.05], high: [0.55, 1.05, 0.55]}
"""


@pytest.fixture(scope="session")
def fake_scene(tmp_path_factory):
    """Path of a scene file whose simulator is the fake one."""
    path = tmp_path_factory.mktemp("scene") / "fake.yaml"
    path.write_text(SCENE)
    return path
