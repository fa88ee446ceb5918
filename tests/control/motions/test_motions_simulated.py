"""Motions in the simulators that ship, as the node feeds them: no set point, an answer every 50 ms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from openral_control.motions import MotionArm, MotionEnd, make_motion
from openral_core.robot import load_robot
from openral_core.scene import DeployScene, load_scene
from openral_core.types import RobotState
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.disturbances import Disturbance, make_disturbance

REPLAN_S = 0.05


@dataclass
class SimulatedScene:
    """A world with a thing in it, and the hand's state."""

    scene: DeployScene
    arm: MotionArm
    backend: Any
    state: RobotState
    thing: str
    """Body that can be picked up."""
    disturbance: Disturbance | None = None

    def where(self) -> np.ndarray:
        return np.array(self.backend._worlds[0].data.body(self.thing).xpos)

    def do(self, name: str, **params: Any) -> MotionEnd:
        motion, replay = make_motion(name, params, self.arm), max(1, round(REPLAN_S * self.scene.control_hz))
        for _ in range(round(30.0 / REPLAN_S)):
            answer = motion.advance(replace(self.state, ee_target=None))
            if isinstance(answer, MotionEnd):
                return answer
            for action in answer[:replay]:
                if self.disturbance is not None:
                    action = self.disturbance.act(self.state, action)
                self.state = self.backend.step(action[None]).states[0]
        raise AssertionError(f"{name} did not end within 30 s")


@pytest.fixture(scope="module", params=["metaworld_pick_place", "tabletop_panda"])
def world(request: pytest.FixtureRequest) -> Iterator[SimulatedScene]:
    scene = load_scene(request.param)
    home = scene.home or load_scene("metaworld_drawer").home
    arm = replace(MotionArm.of(scene, load_robot(scene.robot_id)), home=home)
    backend = make_backend(scene)
    state = backend.reset([backend.task_ids[0]], [1003])[0]
    yield SimulatedScene(scene, arm, backend, state, "cube" if "panda" in request.param else "obj")
    backend.close()


@pytest.fixture(autouse=True)
def _begins_anew(world: SimulatedScene) -> None:
    world.state = world.backend.reset([world.backend.task_ids[0]], [1003])[0]


def test_the_hand_goes_where_it_is_sent_and_home_again(world: SimulatedScene) -> None:
    assert world.arm.home is not None
    target = np.add(world.arm.home, [0.1, 0.08, 0.1])
    assert world.do("move_to", position=target.tolist()).succeeded
    np.testing.assert_allclose(world.state.ee_position, target, atol=0.01)
    assert world.do("home").succeeded
    np.testing.assert_allclose(world.state.ee_position, world.arm.home, atol=0.01)
    assert world.do("nudge", direction="+y", distance_m=0.05).succeeded
    assert world.state.ee_position[1] - world.arm.home[1] == pytest.approx(0.05, abs=0.01)
    below = world.state.ee_position[2]
    assert world.do("retract", height_m=0.15).succeeded
    assert world.state.ee_position[2] - below == pytest.approx(0.15, abs=0.012)


def test_a_thing_is_picked_up_carried_and_put_down(world: SimulatedScene) -> None:
    thing = world.where()
    picked = world.do("pick_at", point=thing.tolist())
    assert picked.succeeded, picked.message
    assert "they hold something" in picked.message
    assert world.where()[2] - thing[2] > 0.05
    place = np.add(thing, [-0.05, 0.08, 0.01])
    put = world.do("place_at", point=place.tolist())
    assert put.succeeded, put.message
    np.testing.assert_allclose(world.where()[:2], place[:2], atol=0.015)
    assert world.arm.is_open(world.state.gripper_opening)


def test_a_grasp_that_opens_in_the_lift_is_none(world: SimulatedScene) -> None:
    robot = load_robot(world.scene.robot_id)
    world.disturbance = make_disturbance("open_in_lift", world.scene, robot, world.backend, 0)
    lost = world.do("pick_at", point=world.where().tolist(), speed_m_s=0.5)
    assert world.disturbance.done
    world.disturbance = None
    assert not lost.succeeded
    assert "let go since" in lost.message


def test_what_is_lost_on_the_way_is_noticed_where_it_is_lost(world: SimulatedScene) -> None:
    thing = world.where()
    assert world.do("pick_at", point=thing.tolist()).succeeded
    begun, world.disturbance = world.state.ee_position.copy(), OpenedAtOnce()
    away = np.add(begun, [-0.15, 0.1, 0.0])
    lost = world.do("move_to", position=away.tolist())
    world.disturbance = None
    assert not lost.succeeded
    assert "what they held is lost" in lost.message
    assert np.linalg.norm(world.state.ee_position - begun) < 0.1


class OpenedAtOnce:
    """Keeps the fingers open, whatever they are told."""

    done = ""

    def begin(self) -> None:
        """Nothing to begin."""

    def act(self, state: RobotState, action: np.ndarray) -> np.ndarray:
        """Return the action with open fingers."""
        return np.append(action[:-1], -1.0)


def test_where_nothing_is_nothing_is_picked_up(world: SimulatedScene) -> None:
    beside = np.add(world.where(), [0.0, 0.12, 0.03])
    missed = world.do("pick_at", point=beside.tolist())
    assert not missed.succeeded
    assert "they closed on nothing" in missed.message


def test_the_table_stops_the_hand_and_the_motion_says_so(world: SimulatedScene) -> None:
    arm, world.arm = world.arm, replace(world.arm, box_low=world.arm.box_low - [0.0, 0.0, 0.2])
    under = [*np.add(world.where()[:2], [0.0, 0.1]), -0.1]
    stopped = world.do("move_to", position=under)
    world.arm = arm
    assert not stopped.succeeded
    assert "short of the target and no longer comes nearer" in stopped.message


def test_the_hand_looks_from_above_and_the_fingers_obey(world: SimulatedScene) -> None:
    thing = world.where()
    assert world.do("look_from", point=thing.tolist(), height_m=0.2).succeeded
    np.testing.assert_allclose(world.state.ee_position, np.add(thing, [0.0, 0.0, 0.2]), atol=0.011)
    assert world.do("set_gripper", fingers="closed").succeeded
    assert not world.arm.holds_something(world.state.gripper_opening)
    assert world.do("set_gripper", fingers="open").succeeded
    assert world.arm.is_open(world.state.gripper_opening)


def test_a_hand_that_can_be_turned_is_turned(world: SimulatedScene) -> None:
    if not world.arm.turns:
        pytest.skip("three numbers displace this hand, and none turns it")
    before = world.state.ee_quaternion
    assert world.do("move_to", position=world.state.ee_position.tolist(), yaw=0.8).succeeded
    turned = 2 * np.arccos(np.clip(abs(before @ world.state.ee_quaternion), 0.0, 1.0))
    assert turned == pytest.approx(0.8, abs=0.08)
