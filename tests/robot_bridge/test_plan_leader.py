"""Trajectories that replace one another, as a joint trajectory controller interpolates them: messages come late."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from openral_control.safety.clear_path import ClearPathCheck
from openral_control.safety.joint_limits import ArmLimits, Vector, limits_of
from openral_control.safety.online_trajectory import OnlineTrajectory
from openral_control.safety.safety_filter import SafetyFilter
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_robot_bridge.driver import TrajectoryPoint
from openral_robot_bridge.drivers.fake import FakeDriver
from openral_robot_bridge.mujoco_geometry import MujocoGeometry
from openral_robot_bridge.process_main import used_limits
from openral_robot_bridge.setpoint_streaming import PlanLeader, StreamLeader
from openral_robot_bridge.trajectory_plan import FINE_S
from openral_robot_bridge.twins.trajectory_controller import FollowedTrajectory
from openral_sim_bridge.backends.mjcf.world import CompiledScene

ARM = limits_of(load_robot("fr3"))
MOVED, BRAKED = (used_limits(ARM, ARM, share) for share in (0.5, 0.6))
START = np.array([0.0, 0.21, 0.0, -2.33, 0.0, 2.54, 0.785398])
DT, POINT_S, CONTROLLER_S = 0.05, 0.02, 0.001
GEOMETRY = MujocoGeometry(CompiledScene(load_scene("fr3_tabletop"), load_robot("fr3")), elbow_joint=3)


@dataclass
class Controller(FakeDriver):
    """A trajectory controller behind a network: each message takes one to three milliseconds."""

    limits: ArmLimits = ARM
    led: list[tuple[Vector, Vector, Vector]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(self.limits, START)
        self.now_s = 0.0
        self.followed_trajectory = FollowedTrajectory(START)
        self._coming: list[tuple[float, list[TrajectoryPoint]]] = []
        self._random = np.random.default_rng(3)

    def follow_plan(self, points: Sequence[TrajectoryPoint]) -> None:
        self._coming.append((self.now_s + self._random.uniform(0.001, 0.003), list(points)))

    def advance(self, seconds: float) -> None:
        """Let time pass, cycle by cycle of the controller."""
        for _ in range(round(seconds / CONTROLLER_S)):
            self.now_s += CONTROLLER_S
            while self._coming and self._coming[0][0] <= self.now_s:
                assert self.followed_trajectory.replace(self.now_s, self._coming.pop(0)[1]) == ""
            self.led.append(self.followed_trajectory.at(self.now_s))


@pytest.fixture
def controller() -> Controller:
    return Controller()


@pytest.fixture
def leader(controller: Controller) -> PlanLeader:
    made = PlanLeader(controller, OnlineTrajectory(MOVED, FINE_S, BRAKED), POINT_S, lambda: controller.now_s)
    made.restart(START)
    return made


def swing(times: Vector) -> tuple[Vector, Vector]:
    """Return positions and velocities (k, 7) of joints that swing, at times (k,) [s]."""
    rates = 2 * np.pi * np.array([0.3, 0.2, 0.35, 0.25, 0.4, 0.3, 0.45])
    share, turned = np.minimum(1.0, times / 1.5)[:, None], times[:, None] * rates
    grown, growing = 0.2 * share**2, 0.4 * share / 1.5 * (share < 1.0)
    return START + grown * np.sin(turned), grown * rates * np.cos(turned) + growing * np.sin(turned)


def lead(leader: PlanLeader, controller: Controller, steps: int, ahead: int, each: int) -> None:
    """Tell the way `ahead` steps ahead, every `each` steps, from a bridge that is late by up to 8 ms."""
    random = np.random.default_rng(4)
    for step in range(0, steps, each):
        late = random.uniform(0.0, 0.008)
        controller.advance(late)
        leader.lead(*swing(DT * (step + 1 + np.arange(ahead))), DT)
        for _ in range(each - 1):
            leader.go_on()
        controller.advance(each * DT - late)


@pytest.mark.parametrize(("ahead", "each"), [(10, 5), (16, 8), (1, 1)])
def test_joints_pass_seams_without_a_jerk(
    leader: PlanLeader, controller: Controller, ahead: int, each: int
) -> None:
    lead(leader, controller, 80, ahead, each)
    positions, velocities, accelerations = (np.stack(column) for column in zip(*controller.led, strict=True))
    assert np.abs(velocities).max() > 0.3
    assert (np.abs(accelerations) < ARM.acceleration).all()
    # Between two cycles of the controller: an acceleration that jumped would count as a thousandfold of itself.
    assert (np.abs(np.diff(accelerations, axis=0)) / CONTROLLER_S < ARM.jerk).all()
    times = CONTROLLER_S * np.arange(1, len(positions) + 1)
    wanted, _ = swing(times)
    assert np.abs(positions - wanted).max() < 0.03


def test_a_bridge_that_falls_behind_does_not_turn_the_arm_back(
    leader: PlanLeader, controller: Controller
) -> None:
    goes = np.full((1, 7), 0.2)
    for step in range(0, 40, 5):
        steps = step + 1 + np.arange(16)[:, None]
        leader.lead(START + DT * steps * goes, np.repeat(goes, 16, axis=0), DT)
        for _ in range(4):
            leader.go_on()
        controller.advance(5 * DT * 1.1)
    velocities = np.stack([led[1] for led in controller.led])
    assert velocities.min() > -0.02
    assert np.abs(velocities[1000:] - 0.2).max() < 0.1


def test_joints_that_are_streamed_keep_up_where_a_step_is_no_whole_number_of_cycles() -> None:
    driver, cycle_s, now = FakeDriver(ARM, START), 0.004, [0.0]
    streamed = StreamLeader(driver, OnlineTrajectory(MOVED, cycle_s), lambda: now[0])
    guard, random, wanted = (
        SafetyFilter([], [], ClearPathCheck(GEOMETRY, -1.0), MOVED, GEOMETRY, DT),
        np.random.default_rng(0),
        START,
    )
    guard.restart(START)
    streamed.restart(START)
    for step in range(200):
        if step % 12 == 0:  # joints accelerate at all that the filter plans with
            speeds = random.uniform(-0.7, 0.7, 7)
        wanted = wanted + DT * speeds
        target = guard.next(wanted, guard.led, np.zeros(7), 0.0)
        streamed.lead(target.positions[None], target.velocities[None], DT)
        for _ in range(12 + step % 2):
            streamed.cycle()
            now[0] += cycle_s
        assert np.abs(driver.positions - target.positions).max() < 0.01


def test_a_halt_replaces_what_was_told_ahead(leader: PlanLeader, controller: Controller) -> None:
    lead(leader, controller, 40, 10, 5)
    leader.lead(*swing(DT * (41 + np.arange(10))), DT)
    controller.advance(0.02)
    before = len(controller.led)
    leader.halt()
    assert not leader.at_rest
    controller.advance(0.3)
    assert leader.at_rest
    _, velocities, accelerations = (np.stack(column) for column in zip(*controller.led[before:], strict=True))
    speed = np.linalg.norm(velocities, axis=1)
    assert speed[0] > 0.3
    assert speed[20] < 0.98 * speed[0]
    assert speed[-1] == 0.0
    assert (np.abs(accelerations) < ARM.acceleration).all()


def test_a_way_that_nobody_goes_on_with_ends_at_rest_where_it_was_told(
    leader: PlanLeader, controller: Controller
) -> None:
    positions, velocities = swing(DT * (1 + np.arange(10)))
    velocities[-1] = 0.0
    leader.lead(positions, velocities, DT)
    controller.advance(2.0)
    rest, speed, _ = controller.led[-1]
    assert np.abs(rest - positions[-1]).max() < 1e-6
    assert not speed.any()


def test_a_silent_bridge_is_told_to_rest_once(leader: PlanLeader, controller: Controller) -> None:
    lead(leader, controller, 10, 10, 10)
    leader.stop()
    leader.stop()
    controller.advance(1.0)
    assert leader.at_rest
    assert not controller.led[-1][1].any()


def test_points_are_no_closer_than_the_samples_of_a_plan(controller: Controller) -> None:
    """`stream_hz` of a scene may be that of the arm's controller, such as 1000."""
    leader = PlanLeader(controller, OnlineTrajectory(MOVED, FINE_S, BRAKED), 0.001, lambda: controller.now_s)
    leader.restart(START)
    lead(leader, controller, 20, 10, 5)
    positions = np.stack([led[0] for led in controller.led])
    wanted, _ = swing(CONTROLLER_S * np.arange(1, len(positions) + 1))
    assert np.abs(positions - wanted).max() < 0.03
