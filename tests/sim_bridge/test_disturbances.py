"""Disturbances of a real simulated world: a grasp that opens in the lift, and a puck that is pushed away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from openral_core.errors import SimulationError, UsageError
from openral_core.robot import load_robot
from openral_core.scene import BenchmarkScene, load_scene
from openral_core.suite import load_suite
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend
from openral_sim_bridge.backends.metaworld.world import make_expert
from openral_sim_bridge.disturbances import OPEN_S, PUSH_M, make_disturbance
from openral_sim_bridge.simulated_arm import SimulatedArm

TASK, INIT = "pick-place-v3", 990


@pytest.fixture(scope="module")
def scene() -> BenchmarkScene:
    return next(s for s in load_suite("metaworld_mt10_fast").scenes if s.task.id.endswith(TASK))


@pytest.fixture(scope="module")
def backend(scene: BenchmarkScene) -> Iterator[MetaWorldBackend]:
    made = make_backend(scene)
    assert isinstance(made, MetaWorldBackend)
    yield made
    made.close()


def disturbed(backend: MetaWorldBackend, scene: BenchmarkScene, name: str) -> SimulatedArm:
    arm = SimulatedArm(backend)
    arm.reset(TASK, INIT)
    arm.disturbance = make_disturbance(name, scene, load_robot(scene.robot_id), backend, seed=1)
    return arm


def run_expert(arm: SimulatedArm, backend: MetaWorldBackend, steps: int = 100) -> list[float]:
    """Let the expert work; return the openings [m] after each step."""
    expert = make_expert(TASK)
    world = backend.world(0)
    return [arm.step(world.expert_action(TASK, expert)).gripper_opening for _ in range(steps)]


def test_the_gripper_opens_in_the_lift_once_and_the_puck_falls(backend, scene) -> None:
    arm = disturbed(backend, scene, "open_in_lift")
    openings = run_expert(arm, backend, 50)
    assert arm.disturbance is not None
    assert "opened" in arm.disturbance.done
    closed = int(np.argmin(openings))
    assert max(openings[closed:]) > openings[closed] + 0.03
    run_expert(arm, backend, round(OPEN_S * scene.control_hz))
    assert backend.object_positions()["puck"][2] < 0.03  # it lies on the table
    arm.reset(TASK, INIT)
    assert not arm.disturbance.done


def test_the_gripper_stays_as_it_is_told_before_the_lift(backend, scene) -> None:
    arm = disturbed(backend, scene, "open_in_lift")
    closing = np.array([0.0, 0.0, 0.0, 1.0])
    openings = [arm.step(closing).gripper_opening for _ in range(60)]
    assert arm.disturbance is not None
    assert not arm.disturbance.done
    assert openings[-1] < 0.04


def test_the_puck_is_pushed_once_when_the_hand_comes_near(backend, scene) -> None:
    arm = disturbed(backend, scene, "push_away")
    before = backend.object_positions()["puck"]
    aside = np.array([1.0, 0.0, 0.0, -1.0])
    for _ in range(10):
        arm.step(-aside if before[0] > 0 else aside)
    assert arm.disturbance is not None
    run_expert(arm, backend, 30)
    assert "moved" in arm.disturbance.done
    moved = np.linalg.norm((backend.object_positions()["puck"] - before)[:2])
    assert moved == pytest.approx(np.mean(PUSH_M), abs=0.03)


def test_what_cannot_be_disturbed_says_so(backend, scene) -> None:
    robot = load_robot(scene.robot_id)
    with pytest.raises(UsageError, match="open_in_lift, push_away"):
        make_disturbance("flood", scene, robot, backend)
    drawer = load_scene("metaworld_drawer")
    world = make_backend(drawer)
    world.reset(["drawer-open-v3"], [0])
    arm = SimulatedArm(world)
    state = arm.reset("drawer-open-v3", 0)
    pushed = make_disturbance("push_away", drawer, robot, world)
    there = replace(state, ee_position=world.object_positions()["drawer handle"])
    with pytest.raises(SimulationError, match="nothing in this scene is loose"):
        pushed.act(there, np.zeros(4))
    world.close()
