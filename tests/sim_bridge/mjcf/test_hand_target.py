"""A hand on a spring goes as robosuite's controller moves one, and does not run away from a hand that is held."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from openral_core.errors import ManifestError
from openral_core.robot import load_robot
from openral_core.scene import DeployScene, SceneAction, load_scene
from openral_sim_bridge.backends.mjcf.hand_target import LEASH_S, SprungHand
from openral_sim_bridge.backends.mjcf.world import CompiledScene

STIFFNESS, STEP_M, STEP_RAD, DT = 150.0, 0.05, 0.5, 0.05


@pytest.fixture(scope="module")
def scene() -> CompiledScene:
    loaded: DeployScene = load_scene("fr3_tabletop")
    return CompiledScene(loaded, load_robot(loaded.robot_id))


@pytest.fixture
def data(scene: CompiledScene) -> mujoco.MjData:
    data = mujoco.MjData(scene.model)
    scene.states.put(data, scene.options.tasks[0], 0)
    return data


class FollowingChain:
    """A hand that is wherever it is led."""

    def __init__(self) -> None:
        self.pose = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])

    def hand(self, data: object) -> tuple[np.ndarray, np.ndarray]:
        return self.pose


def integrated(commands: np.ndarray, substeps: int = 2000) -> np.ndarray:
    """Where the spring draws the hand (T, 3) [m], by small steps of its differential equation."""
    x, v, seen = np.zeros(3), np.zeros(3), []
    for command in commands:
        goal = x + STEP_M * command
        for _ in range(substeps):
            v = v + (STIFFNESS * (goal - x) - 2.0 * math.sqrt(STIFFNESS) * v) * DT / substeps
            x = x + v * DT / substeps
        seen.append(x)
    return np.array(seen)


def test_the_spring_is_that_of_its_differential_equation() -> None:
    commands = np.random.default_rng(0).uniform(-1.0, 1.0, (12, 3))
    chain = FollowingChain()
    target = SprungHand(chain, STEP_M, STEP_RAD, STIFFNESS, DT)  # type: ignore[arg-type]
    target.restart(None)
    found = []
    for command in commands:
        target.move(None, command)
        chain.pose = target.position.copy(), target.quaternion.copy()
        found.append(target.position.copy())
    np.testing.assert_allclose(found, integrated(commands), atol=2e-5)


def test_a_constant_command_goes_at_half_the_springs_rate() -> None:
    action = SceneAction(
        representation="delta_ee_6d",
        dim=6,
        low=(-1.0,) * 6,
        high=(1.0,) * 6,
        step_m=STEP_M,
        counts_from="hand",
        stiffness=STIFFNESS,
    )
    way = np.diff(integrated(np.tile([1.0, 0.0, 0.0], (40, 1)), 200)[:, 0])
    assert way[-1] == pytest.approx(action.share(DT) * STEP_M, rel=0.15)
    assert way.max() <= action.share(DT) * STEP_M * 1.15


def test_a_hand_that_is_held_is_not_left_behind(scene: CompiledScene, data: mujoco.MjData) -> None:
    target = SprungHand(scene.robot.chain, STEP_M, STEP_RAD, STIFFNESS, DT)
    target.restart(data)
    for _ in range(40):  # the hand stays where it is
        target.move(data, np.array([1.0, 0.0, 0.0, 0.0, 0.0, 1.0]))
    here, _ = scene.robot.chain.hand(data)
    assert np.linalg.norm(target.position - here) == pytest.approx(
        LEASH_S * math.sqrt(STIFFNESS) / 2.0 * STEP_M
    )


def test_a_spring_wants_displacements_from_the_hand(tmp_path: Path) -> None:
    source = load_scene("fr3_tabletop").source
    assert source is not None
    path = tmp_path / "scene.yaml"
    path.write_text(source.path.read_text().replace("step_m: 0.02", "step_m: 0.02\n  stiffness: 150"))
    with pytest.raises(ManifestError, match=r"stiffness: is of displacements that count from the hand"):
        load_scene(str(path))
