"""What a scene says to its simulator is looked at when the scene is loaded: one line a fault, with its fix."""

from __future__ import annotations

from pathlib import Path

import pytest
from metaworld.env_dict import ALL_V3_ENVIRONMENTS

from openral_core.errors import ManifestError, NotFoundError
from openral_core.files.share import share_directory
from openral_core.scene import load_scene
from openral_core.simulator_options.names import LOOKS, METAWORLD_TASKS, ROBOSUITE_TASKS
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.backends.robosuite.world import TASKS
from openral_sim_bridge.rendering.renderer import PROFILES

DEPLOY = share_directory() / "scenes/deploy"
DRAWER, LIFT, GOAL, TABLETOP = (
    (DEPLOY / f"{name}.yaml").read_text()
    for name in ("metaworld_drawer", "robosuite_lift", "libero_goal", "tabletop_sawyer")
)
TWO = "tasks: [drawer-open-v3, drawer-close-v3]"
LIBERO_TASK = "libero_goal/open_the_middle_drawer_of_the_cabinet"


def load(folder: Path, text: str, old: str, new: str) -> str:
    """Write a scene with one change, load it, and return the error that comes of it."""
    assert old in text
    path = folder / "copy.yaml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ManifestError) as caught:
        load_scene(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ("init_id: abc", "init_id: 'abc': input should be a valid integer; write a whole number"),
        ("init_id: 1.5", "init_id: 1.5: input should be a valid integer; write a whole number"),
        (
            "init_id: -1",
            "init_id: -1: input should be greater than or equal to 0; write a number of 0 or more",
        ),
        (
            "init_id: 1000000",
            "init_id: 1000000: input should be less than or equal to 999999; write at most 999999",
        ),
        ("initt_id: 1000", "initt_id: unknown key; did you mean 'init_id'?"),
        ("object_outside: 1", "object_outside: 1: input should be a valid boolean; write true or false"),
        ("settle_s: 0.1", "settle_s: unknown key; use one of family, tasks, init_id, render_profile"),
    ],
)
def test_an_option_of_metaworld_that_does_not_fit_is_one_line(tmp_path: Path, new: str, words: str) -> None:
    said = load(tmp_path, DRAWER, "init_id: 1000", new)
    assert said.startswith(f"{tmp_path}/copy.yaml:12: scene.backend_options.{words}")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("new", "key", "words"),
    [
        ("tasks: []", "tasks", "names no task; write one or more, such as [drawer-open-v3]"),
        ("tasks: drawer-open-v3", "tasks", "'drawer-open-v3' is not a list; write [drawer-open-v3]"),
        (
            "tasks: [drawer-open-v3, drawer-close-v]",
            "tasks[1]",
            "MetaWorld has no task 'drawer-close-v'; did you mean 'drawer-close-v3'?",
        ),
        ("tasks: [fly]", "tasks[0]", "MetaWorld has no task 'fly'; use one of assembly-v3, basketball-v3"),
        ("tasks: [3]", "tasks[0]", "3: input should be a valid string; write text"),
    ],
)
def test_the_tasks_are_a_list_of_tasks_that_there_are(tmp_path: Path, new: str, key: str, words: str) -> None:
    said = load(tmp_path, DRAWER, TWO, new)
    assert said.startswith(f"{tmp_path}/copy.yaml:11: scene.backend_options.{key}: {words}")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "family: metaworld",
            "famly: metaworld",
            "10: scene.backend_options.famly: unknown key; did you mean 'family'?",
        ),
        (
            "family: metaworld",
            "family: metaword",
            "10: scene.backend_options.family: there is no simulator 'metaword'; did you mean 'metaworld'?",
        ),
        (
            "    family: metaworld\n",
            "",
            "9: scene.backend_options.family: is missing; name a simulator: metaworld, libero,",
        ),
        (
            "family: metaworld",
            "family: [metaworld]",
            "10: scene.backend_options.family: is no word; name a simulator: metaworld, libero,",
        ),
        (TWO, "", "9: scene.backend_options.tasks: is missing; add it"),
        (
            "render_profile: fast",
            "render_profile: fats",
            "13: scene.backend_options.render_profile: 'fats' is not known here; did you mean 'fast'?",
        ),
        (
            "observation_height: 128",
            "observation_height: 999999999",
            "5: scene.observation_height: 999999999: input should be less than or equal to 4096; write at most",
        ),
        (
            "observation_width: 128",
            "observation_width: wide",
            "6: scene.observation_width: 'wide': input should be a valid integer; write a whole number",
        ),
    ],
)
def test_a_fault_of_the_world_is_one_line(tmp_path: Path, old: str, new: str, words: str) -> None:
    said = load(tmp_path, DRAWER, old, new)
    assert said.startswith(f"{tmp_path}/copy.yaml:{words}")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "old", "new", "words"),
    [
        (LIFT, "[Lift]", "[Lif]", "tasks[0]: robosuite has no task 'Lif' here; did you mean 'Lift'?"),
        (LIFT, "init_id: 1000", "init_id: abc", "init_id: 'abc': input should be a valid integer"),
        (LIFT, "init_id: 1000", "distractors: 2", "distractors: unknown key; use one of family, tasks"),
        (
            GOAL,
            LIBERO_TASK,
            "open_it",
            "tasks[0]: 'open_it' names no suite; write suite/task, such as libero_",
        ),
        (GOAL, "family: libero", "family: libero\n    object_outside: true", "object_outside: unknown key"),
        (
            TABLETOP,
            "tasks: [lift",
            "init_id: abc\n    tasks: [lift",
            "init_id: 'abc': input should be a valid integer",
        ),
    ],
)
def test_other_simulators_say_it_in_the_same_way(
    tmp_path: Path, text: str, old: str, new: str, words: str
) -> None:
    said = load(tmp_path, text, old, new)
    assert f": scene.backend_options.{words}" in said
    assert "\n" not in said


def test_all_faults_of_a_file_are_said_at_once(tmp_path: Path) -> None:
    broken = DRAWER.replace("init_id: 1000", "init_id: abc").replace("fast", "fats")
    lines = load(tmp_path, broken, "control_hz: 80", "control_hz: -80").splitlines()
    assert [line.split(": ")[1] for line in lines] == [
        "scene.backend_options.init_id",
        "scene.backend_options.render_profile",
        "control_hz",
    ]


def test_a_simulator_that_nobody_knows_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "copy.yaml"
    path.write_text(DRAWER.replace("family: metaworld", "family: moon", 1))
    with pytest.raises(NotFoundError) as caught:
        make_backend(load_scene(path))
    where = f"{path}:10: scene.backend_options.family"
    assert str(caught.value) == (
        f"{where}: there is no simulator 'moon'; use one of metaworld, libero, robosuite, mjcf, fake"
    )


def test_what_is_known_of_simulators_is_what_they_have() -> None:
    assert set(METAWORLD_TASKS) == set(ALL_V3_ENVIRONMENTS)
    assert ROBOSUITE_TASKS == TASKS
    assert set(LOOKS) == set(PROFILES)
