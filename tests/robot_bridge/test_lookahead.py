"""An arm that is told its way ahead: it goes on by itself, and is told anew when it shall go elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_core.scene import DeployScene
from openral_robot_bridge.driver import ArmInfo, ArmState, NotLedError
from openral_robot_bridge.drivers.fake import FakeDriver
from openral_robot_bridge.process_main import HostSettings, used_limits
from openral_robot_bridge.robot_arm import RobotArm

AHEAD_S = 0.5
CHUNK = 0.4 * np.tile([[0.6, -0.3, 0.2, 0.0, 0.0, 0.0, -1.0]], (16, 1))


@dataclass
class ToldArm:
    """`ArmLink` of an arm that is where its way leads it, one control step later each time."""

    info: ArmInfo
    limits: ArmLimits
    driver: FakeDriver
    told: list[tuple[Vector, Vector]] = field(default_factory=list)
    """Ways (k, n) and velocities (k, n), each in place of the one before."""
    went_on: int = 0
    silent: bool = False
    """The arm came to rest, since its bridge was too late."""

    def read(self) -> ArmState:
        return self.driver.read()

    def lead(self, positions: Vector, velocities: Vector, duration_s: float) -> ArmState:
        self.told.append((positions, velocities))
        self._place = 0
        return self._pass()

    def go_on(self) -> ArmState:
        if self.silent:
            self.silent = False
            raise NotLedError
        self.went_on += 1
        self._place += 1
        return self._pass()

    def _pass(self) -> ArmState:
        positions, velocities = self.told[-1]
        self.driver.follow(positions[self._place], velocities[self._place])
        return self.driver.read()

    def halt(self) -> None: ...

    def release(self) -> None: ...

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> ArmState:
        return self.driver.read()

    def recover(self) -> ArmState:
        return self.driver.read()

    def close(self) -> None: ...


@dataclass
class Policy:
    """What is planned, and the arm that executes it."""

    arm: RobotArm
    link: ToldArm
    clock: list[float]
    planned: np.ndarray = field(default_factory=lambda: CHUNK.copy())
    amid: Callable[[], object] = lambda: None
    """Is called amid each step, after the arm's own target and before the targets ahead."""

    def step(self, beats: bool = True) -> None:
        """Execute the next action, or hold where nothing is planned."""
        if beats:
            self.arm.beat()
        action, self.planned = (
            (self.planned[0], self.planned[1:]) if len(self.planned) else (np.zeros(7), self.planned)
        )
        self.arm.step(action)
        self.clock[0] += 0.05


@pytest.fixture
def policy(scene_with: Callable[..., DeployScene]) -> Policy:
    links: list[ToldArm] = []

    def connect(settings: HostSettings) -> ToldArm:
        driver = FakeDriver(settings.limits, settings.start)
        limits = used_limits(settings.limits, settings.limits, settings.arm.safety.dynamics_share)
        links.append(ToldArm(ArmInfo(settings.limits, 0.08, AHEAD_S), limits, driver))
        return links[0]

    clock = [0.0]
    scene = scene_with("fake", slow_start_s=0.0)
    made = Policy(
        RobotArm(scene, connect=connect, clock=lambda: clock[0], report=lambda _: made.amid()),
        links[0],
        clock,
    )
    made.arm.set_lookahead(lambda: made.planned)
    return made


def test_a_chunk_is_told_at_once_and_its_steps_lead_where_was_told(policy: Policy) -> None:
    led = []
    for _ in range(len(CHUNK)):
        policy.step()
        led.append(policy.arm.led)
    told, _ = policy.link.told[0]
    assert len(told) == 1 + round(AHEAD_S / 0.05)
    assert np.abs(np.stack(led[: len(told)]) - told).max() < 2e-3
    assert np.abs(led[-1] - led[0]).max() > 0.05
    assert len(policy.link.told) <= 4
    assert policy.link.went_on >= 12


def test_a_sign_of_life_that_comes_amid_a_step_does_not_shorten_the_way(
    policy: Policy,
) -> None:
    def beat() -> None:
        policy.clock[0] += 0.003
        policy.arm.beat()

    policy.amid = beat
    policy.step()
    positions, _ = policy.link.told[0]
    assert len(positions) == 1 + round(AHEAD_S / 0.05)


def test_another_chunk_replaces_the_way(policy: Policy) -> None:
    for _ in range(3):
        policy.step()
    before = len(policy.link.told)
    policy.planned = -CHUNK
    policy.step()
    assert len(policy.link.told) == before + 1
    positions, _ = policy.link.told[-1]
    assert len(positions) > 5
    assert (
        np.sign(positions[-1] - positions[4]) == -np.sign(positions[0] - policy.link.told[0][0][0])
    ).sum() >= 4


def test_an_arm_that_a_check_stops_is_told_to_brake_at_once(policy: Policy) -> None:
    for _ in range(4):
        policy.step()
    policy.clock[0] += 1.0  # nobody says any more that they are there
    before = len(policy.link.told)
    policy.step(beats=False)
    assert policy.arm.stopped_by == "hold to run"
    positions, velocities = policy.link.told[-1]
    assert len(policy.link.told) == before + 1
    assert len(positions) == 1
    assert np.abs(velocities).max() < np.abs(policy.link.told[-2][1]).max()


def test_an_arm_that_is_slow_when_a_check_stops_it_is_told_so_at_once(policy: Policy) -> None:
    policy.planned = 0.1 * np.vstack([CHUNK, CHUNK, CHUNK])
    policy.planned[:, -1] = -1.0
    for _ in range(4):
        policy.step()
    while not policy.arm.stopped_by:  # nobody says any more that they are there
        went_on = policy.link.went_on
        policy.step(beats=False)
    assert policy.arm.stopped_by == "hold to run"
    assert policy.link.went_on == went_on
    assert len(policy.link.told[-1][0]) == 1


def test_an_arm_that_came_to_rest_is_told_its_way_anew(policy: Policy) -> None:
    policy.step()
    policy.step()
    assert len(policy.link.told) == 1
    policy.link.silent = True
    policy.step()
    assert len(policy.link.told) == 2
    assert len(policy.link.told[-1][0]) > 5


def test_a_chunk_that_ends_leads_to_rest(policy: Policy) -> None:
    for _ in range(len(CHUNK) + 12):
        policy.step()
    assert np.abs(policy.link.told[-1][1][-1]).max() < 0.02
    rests = policy.arm.led.copy()
    policy.step()
    assert np.abs(policy.arm.led - rests).max() < 2e-3
