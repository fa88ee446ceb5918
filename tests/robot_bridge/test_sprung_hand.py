"""An arm with less acceleration than the spring of its actions asks for: it is later, and does not overshoot."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from openral_control.safety.joint_limits import ArmLimits
from openral_core.scene import DeployScene, SceneAction
from openral_robot_bridge.driver import ArmInfo, ArmState
from openral_robot_bridge.drivers.fake import FakeDriver
from openral_robot_bridge.process_main import HostSettings, used_limits
from openral_robot_bridge.robot_arm import RobotArm

Scenes = Callable[..., DeployScene]
SPRING = {"step_m": 0.05, "counts_from": "hand", "stiffness": 150.0}
GAIN = 1.6
"""Of the displacement to the goal over that of a command of 1, as robosuite's experts command and the policies that
were trained on them."""


class PerfectArm:
    """An arm that is at the end of each control step where it was led, and remembers what its hand was told."""

    def __init__(self, settings: HostSettings) -> None:
        self._driver = FakeDriver(settings.limits, settings.start)
        self.info: ArmInfo = self._driver.connect()
        share = settings.arm.safety.dynamics_share
        self.limits: ArmLimits = used_limits(self.info.limits, settings.limits, share)
        self.grips: list[float] = []

    def read(self) -> ArmState:
        return self._driver.read()

    def lead(self, positions: np.ndarray, velocities: np.ndarray, duration_s: float) -> ArmState:
        self._driver.follow(positions, velocities)
        return self.read()

    def go_on(self) -> ArmState:
        return self.read()

    def halt(self) -> None:
        self._driver.stop()

    def release(self) -> None: ...

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> ArmState:
        self.grips.append(width_m)
        self._driver.grip(width_m, speed_m_s, force_n)
        return self.read()

    def recover(self) -> ArmState:
        self._driver.recover()
        return self.read()

    def close(self) -> None: ...


def arm_of(scene: DeployScene, **action: object) -> tuple[RobotArm, PerfectArm]:
    made: list[PerfectArm] = []

    def connect(settings: HostSettings) -> PerfectArm:
        made.append(PerfectArm(settings))
        return made[0]

    changed = SceneAction.model_validate({**scene.action.model_dump(), **action})
    return RobotArm(scene.model_copy(update={"action": changed}), connect=connect), made[0]


ASIDE, DOWN = np.array([0.0, 0.12, 0.0]), np.array([0.08, -0.06, -0.05])
"""[m]"""


@pytest.mark.parametrize(
    ("dynamics_share", "way", "most_m"), [(0.3, DOWN, 0.04), (0.5, ASIDE, 0.012), (0.5, DOWN, 0.025)]
)
def test_a_policy_that_heads_for_a_point_gets_there_though_the_arm_is_slower_than_the_spring(
    scene_with: Scenes, dynamics_share: float, way: np.ndarray, most_m: float
) -> None:
    """A spring that runs ahead of the arm swings about the point for ever, at half of its acceleration by 5 cm."""
    scene = scene_with("fake", slow_start_s=0.0, hold_to_run=False, dynamics_share=dynamics_share)
    arm, _ = arm_of(scene, **SPRING)
    hand = arm.robot_state().ee_position
    goal, along, farthest = hand + way, way / np.linalg.norm(way), -np.inf
    for _ in range(40):
        command = np.clip(GAIN * (goal - hand) / SPRING["step_m"], -1.0, 1.0)
        hand = arm.step(np.array([*command, 0.0, 0.0, 0.0, -1.0])).ee_position
        farthest = max(farthest, float((hand - goal) @ along))
        assert arm.stopped_by == ""
    assert np.linalg.norm(hand - goal) < 3e-3
    assert farthest < most_m


def test_the_sign_of_the_grippers_number_opens_and_closes_the_fingers_all_the_way(scene_with: Scenes) -> None:
    scene = scene_with("fake", slow_start_s=0.0, hold_to_run=False)
    for says, widths in (("sign", [0.08, 0.0, 0.08]), ("between", [0.08, 0.028, 0.004, 0.072, 0.04])):
        arm, fingers = arm_of(scene, gripper=says)
        for number in (-1.0, 0.3, 0.9, 0.75, -0.8, 0.0):
            arm.step(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, number]))
        assert fingers.grips == pytest.approx(widths), says
