"""The real MetaWorld behind Backend: repeatable, judged by its own code, seen through a known camera."""

from __future__ import annotations

import subprocess
import sys

import mujoco
import numpy as np
import pytest

from openral_core.errors import NotFoundError, SimulationError
from openral_core.scene import load_scene
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend
from openral_sim_bridge.backends.metaworld.initial_states import random_vector
from openral_sim_bridge.backends.metaworld.world import MetaWorldWorld, make_expert

DRAWER = ("drawer-open-v3", "drawer-close-v3")


@pytest.fixture(scope="module")
def backend() -> MetaWorldBackend:
    made = make_backend(load_scene("metaworld_drawer"), num_envs=2)
    assert isinstance(made, MetaWorldBackend)
    yield made
    made.close()


def play(backend: MetaWorldBackend, seed: int) -> bytes:
    rng = np.random.default_rng(seed)
    backend.reset([DRAWER[0]] * 2, [1003, 1003])
    for _ in range(20):
        backend.step(np.tile(rng.uniform(-1, 1, 4), (2, 1)))
    data = backend.world(0).data
    return data.qpos.tobytes() + data.qvel.tobytes() + backend.render(["corner2"], [0])["corner2"].tobytes()


def test_worlds_that_are_not_named_stand_still(backend: MetaWorldBackend) -> None:
    backend.reset([DRAWER[0]] * 2, [1003, 1003])
    before = backend.snapshot(0).qpos
    result = backend.step(np.ones((1, 4)), [1])
    assert [state.stamp_s for state in result.states] == [0.0125]
    assert result.success.shape == (1, 2)
    np.testing.assert_array_equal(backend.snapshot(0).qpos, before)
    assert not np.array_equal(backend.snapshot(1).qpos, before)


def test_same_state_and_actions_give_the_same_bytes(backend: MetaWorldBackend) -> None:
    first = play(backend, 7)
    play(backend, 8)
    assert play(backend, 7) == first
    a, b = (backend.snapshot(env).qpos for env in (0, 1))
    np.testing.assert_array_equal(a, b)


def test_a_snapshot_brings_the_same_picture_back(backend: MetaWorldBackend) -> None:
    play(backend, 7)
    snapshot, picture = backend.snapshot(1), backend.render(["corner2"], [1])["corner2"]
    play(backend, 8)
    assert not np.array_equal(backend.render(["corner2"], [1])["corner2"], picture)
    backend.restore(snapshot, 1)
    np.testing.assert_array_equal(backend.render(["corner2"], [1])["corner2"], picture)


def test_rewards_are_those_of_a_bare_environment(backend: MetaWorldBackend) -> None:
    import metaworld

    benchmark = metaworld.MT1(DRAWER[0], seed=42)
    env = benchmark.train_classes[DRAWER[0]]()
    env.set_task(benchmark.train_tasks[3])
    env.reset()
    backend.reset([DRAWER[0]] * 2, [3, 3])
    expert = make_expert(DRAWER[0])
    for _ in range(60):
        action = backend.world(0).expert_action(DRAWER[0], expert)
        reward = backend.step(np.stack([action, action])).reward
        assert reward is not None
        assert reward[0, 0] == reward[1, 0] == pytest.approx(env.step(action.astype(np.float32))[1], rel=1e-5)
    env.close()


@pytest.mark.parametrize(
    "task",
    [
        "peg-insert-side-v3",
        *(pytest.param(task, marks=pytest.mark.slow) for task in ("basketball-v3", "hammer-v3")),
    ],
)
def test_what_judges_look_at_is_metaworlds_own_observation(task: str) -> None:
    """Of tasks with one and two objects, to the byte: rewards and experts hang on it."""
    world = MetaWorldWorld((task,))
    world.reset(task, 1003)
    for action in np.random.default_rng(0).uniform(-1, 1, (3, 4)):
        world.step(action)
        now = world.env._get_curr_obs_combined_no_goal()
        assert world.look(task)[:18].tobytes() == world.look(task)[18:36].tobytes() == now.tobytes()
    world.close()


@pytest.mark.parametrize(
    "task",
    [
        DRAWER[0],
        *(pytest.param(task, marks=pytest.mark.slow) for task in ("lever-pull-v3", "pick-place-wall-v3")),
    ],
)
def test_initial_states_differ_and_the_first_fifty_are_metaworlds_own(task: str) -> None:
    """One task draws once, one measures its lever while it draws, one draws again where object and goal are near."""
    import metaworld

    benchmark = metaworld.MT1(task, seed=42)
    env = benchmark.train_classes[task]()
    for number in (0, 7, 49):
        env.set_task(benchmark.train_tasks[number])
        np.testing.assert_array_equal(random_vector(task, number), env._last_rand_vec)
    assert len({random_vector(task, number).tobytes() for number in range(45, 55)}) == 10


def test_one_world_goes_from_task_to_task_and_each_is_judged(backend: MetaWorldBackend) -> None:
    backend.reset([DRAWER[0]] * 2, [1000, 1001])
    verdicts = []
    for task_id in DRAWER:
        expert, world = make_expert(task_id), backend.world(0)
        for _ in range(200):
            action = world.expert_action(task_id, expert)
            result = backend.step(np.stack([action, backend.hold_action(None)]))
            if result.success[0, DRAWER.index(task_id)]:
                break
        verdicts.append(result.success[0].tolist())
    assert verdicts == [[True, False], [False, True]]
    assert not result.success[1, 0], "the second world held still"


def test_camera_model_says_where_a_thing_is_seen(backend: MetaWorldBackend) -> None:
    backend.reset([DRAWER[0]] * 2, [1000, 1000])
    model, data = backend.world(0).model, backend.world(0).data
    camera = backend.camera("corner2")
    with mujoco.Renderer(model, camera.height, camera.width) as renderer:
        renderer.enable_segmentation_rendering()
        renderer.update_scene(data, camera="corner2")
        geoms = renderer.render()[::-1, ::-1, 0]
    focal = camera.height / 2 / np.tan(np.deg2rad(camera.fovy_deg) / 2)
    offsets = []
    for geom in np.unique(geoms[geoms >= 0]):
        rows, columns = np.nonzero(geoms == geom)
        if len(rows) < 40 or not 0 < model.geom_rbound[geom] < 0.25:
            continue
        x, y, z = camera.rotation.T @ (data.geom_xpos[geom] - camera.position)
        column, row = camera.width / 2 + focal * x / z, camera.height / 2 + focal * y / z
        offsets.append(np.hypot(column - columns.mean(), row - rows.mean()))
    assert len(offsets) >= 5
    assert np.median(offsets) < 4, offsets


def test_robot_state_is_metaworlds_own_proprioception(backend: MetaWorldBackend) -> None:
    [state, _] = backend.reset([DRAWER[0]] * 2, [1000, 1000])
    seen = backend.world(0).look(DRAWER[0])
    np.testing.assert_allclose(state.ee_position, seen[:3])
    assert min(state.gripper_opening / 0.1, 1.0) == pytest.approx(seen[3])
    assert np.linalg.norm(state.ee_quaternion) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda b: b.reset(["push-v3"] * 2, [0, 0]), NotFoundError, "has drawer-open-v3, drawer-close-v3"),
        (lambda b: b.reset([DRAWER[0]] * 2, [-1, 0]), SimulationError, "init_id must be >= 0"),
        (lambda b: b.render(["nose"]), NotFoundError, "no camera 'nose'; it has .*corner2"),
        (lambda b: b.step(np.zeros((2, 3))), SimulationError, r"needed \(2, 4\)"),
        (lambda b: MetaWorldBackend(["fly-v3"]), NotFoundError, "no task 'fly-v3'; it has .*drawer-open-v3"),
        (
            lambda b: MetaWorldBackend(["drawer-open-v3", "window-open-v3"]),
            SimulationError,
            "do not share one scene",
        ),
        (
            lambda b: MetaWorldBackend(["reach-v3"], render_profile="cinema"),
            NotFoundError,
            "use one of published",
        ),
    ],
)
def test_bad_input_names_the_fix(backend: MetaWorldBackend, call, error, text) -> None:
    with pytest.raises(error, match=text):
        call(backend)


@pytest.mark.slow
def test_importing_the_simulator_starts_no_process():
    """Ctrl-C in the middle of an import must not reach children with tracebacks of their own."""
    code = (
        "import subprocess, sys\n"
        "def refuse(*words, **more): raise SystemExit(f'started {words}')\n"
        "subprocess.Popen = refuse\n"
        "import openral_sim_bridge.backends.metaworld.backend\n"
        "assert 'glfw' in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_more_loose_objects_than_the_table_has_room_for_are_refused() -> None:
    world = MetaWorldWorld(("drawer-open-v3",), distractors=20)
    try:
        with pytest.raises(SimulationError, match="20 distractors found no room; write fewer"):
            world.reset("drawer-open-v3", 0)
    finally:
        world.close()
