"""Missions in real worlds of robosuite: where things are, how they are moved, and what motions make of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from openral_benchmark.harness.mission_harness import MissionHarness
from openral_benchmark.harness.perturbations import VARIANTS
from openral_benchmark.harness.shared_resources import SharedParts
from openral_benchmark.harness.world import DISPLACED_M, ROOMS, begin_world
from openral_core.errors import SimulationError
from openral_core.robot import load_robot
from openral_core.scene import BenchmarkScene
from openral_core.suite import load_suite
from openral_rskill.registry import resolve
from openral_sidecar.errors import SidecarError
from openral_sim_bridge.backends.remote_sim.backend import ArmBackend
from openral_sim_bridge.backends.robosuite.backend import open_robosuite
from openral_sim_bridge.backends.robosuite.things import APART_M, OUTSIDE_M, RANGES_M
from openral_sim_bridge.disturbances import PUSH_M, ObjectPushed

DEVELOPMENT = 4000
"""An initial state that no suite judges on."""
TASKS = ("Lift", "Stack", "PickPlaceCan")
BIN_Y = -0.25
"""[m] middle of the bin in which the can begins; cubes begin beyond it."""
STAY = np.array([[0, 0, 0, 0, 0, 0, -1.0]])


@pytest.fixture(scope="module")
def shared() -> Iterator[SharedParts]:
    parts = SharedParts()
    yield parts
    parts.close()


@pytest.fixture(scope="module")
def scenes() -> dict[str, BenchmarkScene]:
    return dict(zip(TASKS, load_suite("harness_robosuite").scenes, strict=True))


def world_of(shared: SharedParts, scene: BenchmarkScene) -> ArmBackend:
    world = shared.world(scene)
    assert isinstance(world, ArmBackend)
    return world


@pytest.mark.parametrize(
    ("task", "names"),
    [("Lift", ["cube"]), ("Stack", ["red cube", "green cube"]), ("PickPlaceCan", ["can", "bin"])],
)
def test_things_are_where_they_lie_and_can_be_moved_where_there_is_room(shared, scenes, task, names) -> None:
    backend = world_of(shared, scenes[task])
    backend.reset([task], [DEVELOPMENT])
    before = backend.object_positions()
    assert list(before) == names
    assert all(0.8 < position[2] <= 0.9 for position in before.values())
    aside = np.array([0.0, 0.06 if before[names[0]][1] < BIN_Y else -0.06, 0.0])
    backend.move_object(names[0], aside)
    after = backend.object_positions()
    assert np.allclose(after[names[0]] - before[names[0]], aside, atol=1e-6)
    for _ in range(5):
        backend.step(STAY)
    assert np.linalg.norm((backend.object_positions()[names[0]] - after[names[0]])[:2]) < 5e-3, "it rests"
    with pytest.raises(SimulationError, match=f"no drawer that can be moved; it has {names[0]}"):
        backend.move_object("drawer", aside)


def test_a_thing_is_pushed_where_nothing_stands(shared, scenes) -> None:
    backend = world_of(shared, scenes["Stack"])
    backend.reset(["Stack"], [DEVELOPMENT])
    there = backend.object_positions()
    with pytest.raises(SimulationError, match="no room for the red cube"):
        backend.move_object("red cube", there["green cube"] - there["red cube"])
    for seed in range(4):
        [state] = backend.reset(["Stack"], [DEVELOPMENT + seed])
        before = backend.object_positions()
        over = state.ee_position.copy()
        over[:2] = before["red cube"][:2]
        pushed = ObjectPushed(backend, "red cube", seed)
        pushed.act(type(state)(**{**vars(state), "ee_position": over}), STAY[0])
        after = backend.object_positions()
        far = float(np.linalg.norm(after["red cube"] - before["red cube"]))
        assert PUSH_M[0] <= far <= PUSH_M[1]
        assert np.linalg.norm((after["red cube"] - after["green cube"])[:2]) >= APART_M


@pytest.mark.parametrize("task", list(RANGES_M))
def test_a_cube_begins_outside_by_the_states_number(shared, scenes, task: str) -> None:
    backend = world_of(shared, VARIANTS["outside"].scene(scenes[task]))
    for init_id in range(DEVELOPMENT, DEVELOPMENT + 4):
        backend.reset([task], [init_id])
        found = backend.object_positions()
        thing = next(iter(found.values()))
        beyond = np.abs(thing[:2]).max() - RANGES_M[task]
        assert OUTSIDE_M[0] - 1e-6 <= beyond <= OUTSIDE_M[1] + 1e-6
        others = [np.linalg.norm((thing - other)[:2]) for other in list(found.values())[1:]]
        assert all(away >= APART_M for away in others)
        backend.reset([task], [init_id])
        assert all(np.array_equal(found[name], there) for name, there in backend.object_positions().items())


def test_a_can_has_no_outside() -> None:
    with pytest.raises(SidecarError, match="nothing of it can begin outside; use Lift or Stack"):
        open_robosuite(["PickPlaceCan"], representation="delta_ee_6d_plus_gripper", object_outside=True)


@pytest.mark.parametrize("task", TASKS)
def test_a_displaced_hand_begins_above_everything(shared, scenes, task: str) -> None:
    scene = scenes[task]
    backend, robot = world_of(shared, scene), load_robot(scene.robot_id)
    usual, displaced = (
        begin_world(backend, scene, robot, VARIANTS[name], task, DEVELOPMENT)[1].ee_position
        for name in ("usual", "displaced")
    )
    assert DISPLACED_M[0] - 0.02 <= np.linalg.norm(displaced - usual) <= DISPLACED_M[1] + 0.02
    low, high = np.array(ROOMS["robosuite"])
    assert ((low - 0.02 <= displaced) & (displaced <= high + 0.02)).all()


@pytest.mark.parametrize("task", TASKS)
def test_motions_do_each_task_and_the_row_says_whose_truth_it_went_by(shared, scenes, task: str) -> None:
    package = resolve("mini-robosuite-panda")
    harness = MissionHarness(scenes[task], package, attempt_steps=160, shared=shared)
    told, log = harness.run("script", "usual", DEVELOPMENT)
    assert told["success"], log[-1].reason
    assert told["truth"] == ["positions"]
    assert told["attempts"] == 0
    assert told["motions"] >= 2
