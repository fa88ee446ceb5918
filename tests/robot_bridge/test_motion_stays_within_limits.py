"""No sequence of chunks leads the arm beyond a limit: random ones through filter and follower, cycle by cycle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import pytest

from openral_control.safety.joint_limits import ArmLimits, Vector, limits_of
from openral_control.safety.make_filter import make_filter
from openral_control.safety.online_trajectory import OnlineTrajectory
from openral_core.files.share import share_directory
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_robot_bridge.driver import StreamedDriver
from openral_robot_bridge.mujoco_geometry import MujocoGeometry
from openral_robot_bridge.process_main import used_limits
from openral_robot_bridge.setpoint_streaming import StreamLeader
from openral_robot_bridge.urdf_limits import read_limits
from openral_sim_bridge.backends.mjcf.world import CompiledScene

CYCLE_S = 0.004
SCENE, ROBOT = load_scene("fr3_tabletop"), load_robot("fr3")
assert SCENE.arm is not None
assert SCENE.workspace is not None
SAFETY = SCENE.arm.safety
START = np.array([0.0, 0.21, 0.0, -2.33, 0.0, 2.54, 0.785398])


@dataclass
class Motion:
    """What the arm was told in every cycle, and where it was then."""

    limits: ArmLimits
    geometry: MujocoGeometry
    positions: list[Vector] = field(default_factory=list)
    velocities: list[Vector] = field(default_factory=list)
    measured: list[Vector] = field(default_factory=list)
    slowed_by: set[str] = field(default_factory=set)


def random_targets(rng: np.random.Generator, limits: ArmLimits, start: Vector) -> Iterator[Vector]:
    """Yield where ever new chunks want the joints: towards far postures, at up to thrice the greatest speed."""
    here = start
    while True:
        room = limits.high - limits.low
        goal = limits.low - 0.2 * room + rng.uniform(size=7) * 1.4 * room
        # Half of them stay near the start, where the hand is above the table.
        goal = START + 0.2 * (goal - START) if rng.random() < 0.7 else goal
        speed = rng.uniform(0.05, 3.0) * limits.velocity * SCENE.dt
        for _ in range(rng.integers(1, 8)):
            here = yield here + np.clip(goal - here, -speed, speed)


class LedArm:
    """An arm that follows what it is told with a delay of first order."""

    def __init__(self, lag_s: float) -> None:
        self._kept = np.exp(-CYCLE_S / lag_s) if lag_s else 0.0
        self.told, self.velocities, self.measured, self.now_s = START, np.zeros(7), START, 0.0

    def follow(self, positions: Vector, velocities: Vector) -> None:
        self.told, self.velocities = positions, velocities
        self.measured = positions + self._kept * (self.measured - positions)
        self.now_s += CYCLE_S


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((0.03, 2_500), id="an arm that lags by 30 ms"),
        pytest.param((0.0, 10_000), id="an arm on time", marks=pytest.mark.long),
        pytest.param((0.03, 10_000), id="an arm that lags by 30 ms, for long", marks=pytest.mark.long),
    ],
)
def motion(request: pytest.FixtureRequest) -> Motion:
    lag_s, chunks = request.param
    robot = limits_of(ROBOT)
    own = read_limits((share_directory() / "robots/fr3/fr3.urdf").read_text(), robot.names)
    limits = used_limits(own, robot, SAFETY.dynamics_share)
    geometry = MujocoGeometry(CompiledScene(SCENE, ROBOT), elbow_joint=3)
    guard = make_filter(SAFETY, limits, geometry, SCENE.workspace, SCENE.dt)
    follower = OnlineTrajectory(limits, CYCLE_S)
    arm = LedArm(lag_s)
    leader = StreamLeader(cast(StreamedDriver, arm), follower, lambda: arm.now_s)
    guard.restart(START)
    leader.restart(START)
    rng, made = np.random.default_rng(19), Motion(limits, geometry)
    targets = random_targets(rng, limits, START)
    wanted = next(targets)
    for _ in range(chunks):
        safe = guard.next(wanted, arm.measured, np.zeros(7), 0.0)
        made.slowed_by |= {*safe.slowed_by, safe.stopped_by}
        leader.lead(safe.positions[None], safe.velocities[None], SCENE.dt)
        # A step may come late or early, and now and then the bridge is silent for longer than its timeout.
        silent = rng.random() < 0.02
        for cycle in range(rng.integers(8, 20) + 60 * silent):
            if silent and cycle > SAFETY.command_timeout_s / CYCLE_S:
                leader.stop()
            leader.cycle()
            made.positions.append(arm.told)
            made.velocities.append(arm.velocities)
            made.measured.append(arm.measured)
        if silent:  # as `RobotArm` does
            guard.restart(arm.measured, arm.velocities)
        wanted = targets.send(guard.led)
    return made


def test_every_check_had_something_to_do(motion: Motion) -> None:
    checks = {"joint position", "joint velocity", "workspace", "distance", "singularity", "path"}
    missing = checks - motion.slowed_by
    assert not missing


def test_joints_keep_their_margin(motion: Motion) -> None:
    positions, limits = np.array(motion.positions), motion.limits
    room = np.minimum(positions - limits.low, limits.high - positions)
    assert room.min() > 0.9 * SAFETY.position_margin_rad


def test_velocities_stay_below_what_the_arm_allows_where_it_is(motion: Motion) -> None:
    velocities = np.array(motion.velocities)
    least, greatest = motion.limits.speeds_at(np.array(motion.positions))
    assert ((velocities >= least - 1e-6) & (velocities <= greatest + 1e-6)).all()


def test_accelerations_and_jerks_stay_below_the_limits_across_seams(motion: Motion) -> None:
    velocities = np.array(motion.velocities)
    acceleration = np.diff(velocities, axis=0) / CYCLE_S
    assert (np.abs(acceleration) <= motion.limits.acceleration * (1 + 1e-6)).all()
    # The mean over a cycle of an acceleration that changes no faster than the jerk allows changes by no more than this.
    assert (np.abs(np.diff(acceleration, axis=0)) / CYCLE_S <= motion.limits.jerk * (1 + 1e-6)).all()


def test_positions_are_what_the_velocities_lead_to(motion: Motion) -> None:
    steps = np.diff(np.array(motion.positions), axis=0)
    velocities = np.array(motion.velocities)
    mean = (velocities[1:] + velocities[:-1]) / 2
    assert np.abs(steps / CYCLE_S - mean).max() < motion.limits.acceleration.max() * CYCLE_S


def test_hand_and_elbow_stay_in_their_boxes_and_the_arm_away_from_singularities(motion: Motion) -> None:
    assert SCENE.workspace is not None
    assert SAFETY.elbow is not None
    boxes = [np.array([box.low, box.high]) for box in (SCENE.workspace, SAFETY.elbow)]
    outside, conditions = [], []
    for position in motion.positions[::25]:
        for point, (low, high) in zip(motion.geometry.points(position), boxes, strict=True):
            outside.append(np.maximum(low - point, point - high).max())
        conditions.append(motion.geometry.condition(position))
    # Between two steps the way is not straight, and after steps that came early the joints cut a corner.
    assert max(outside) < 0.02
    assert np.percentile(outside, 99.9) < 0.005
    assert max(conditions) < 1.2 * SAFETY.stop_condition


def test_the_arm_keeps_its_distance_wherever_it_is(motion: Motion) -> None:
    # Every second cycle: near things the arm is slow, and goes less than a millimetre in one.
    nearest = min(motion.geometry.distance(joints, SAFETY.slow_distance_m) for joints in motion.measured[::2])
    assert nearest > SAFETY.stop_distance_m


def test_an_arm_that_sags_as_near_to_things_as_it_may_come_gets_away(motion: Motion) -> None:
    geometry, near, far = motion.geometry, START + np.array([0.0, 0.8, 0.0, 0.0, 0.0, 0.0, 0.0]), START
    for _ in range(30):  # to where 11 mm are left
        middle = (near + far) / 2.0
        near, far = (middle, far) if geometry.distance(middle, 0.05) < 0.011 else (near, middle)
    assert SAFETY.stop_distance_m < geometry.distance(far, 0.05) < 0.0115
    guard, sag = make_filter(SAFETY, motion.limits, geometry, None, SCENE.dt), 0.06 * (near - START)
    guard.restart(far - sag)
    for _ in range(40):
        led = guard.led
        guard.next(led + 0.1 * (START - far), led + sag, np.zeros(7), 0.0)
    assert geometry.distance(guard.led + sag, 0.05) > 0.04
