"""Robots, scenes and suites: those that ship load, and what does not fit is refused with its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from metaworld.env_dict import ALL_V3_ENVIRONMENTS

from openral_core.errors import ManifestError, NotFoundError
from openral_core.files.share import share_directory
from openral_core.robot import load_robot
from openral_core.scene import BenchmarkScene, DeployScene, SimScene, load_scene
from openral_core.schema import InitRange
from openral_core.suite import load_suite, suite_with_task
from openral_rskill.checks.unseen_states import unseen_states
from openral_rskill.registry import resolve
from openral_sim_bridge.backends.libero.suites import MAX_STEPS
from openral_training.training_recipe import load_recipe

SHARE = share_directory()
DRAWER = (SHARE / "scenes/deploy/metaworld_drawer.yaml").read_text()


@pytest.mark.parametrize("path", sorted(SHARE.glob("scenes/*/*.yaml")), ids=lambda path: path.stem)
def test_every_scene_loads_and_its_robot_exists(path: Path) -> None:
    scene = load_scene(path)
    assert load_robot(scene.robot_id).name == scene.robot_id
    assert scene.task_ids


def test_drawer_scene_is_what_the_bridge_relies_on() -> None:
    scene = load_scene("metaworld_drawer")
    assert type(scene) is DeployScene
    assert scene.dt == pytest.approx(0.0125)
    assert [(c.name, c.feature_key, c.width, c.height, c.rate_hz) for c in scene.cameras] == [
        ("corner2", "observation.images.camera1", 128, 128, 20.0)
    ]
    assert scene.task_ids == ("metaworld/drawer-open-v3", "metaworld/drawer-close-v3")
    assert load_scene("scenes/deploy/metaworld_drawer.yaml") == scene


def test_a_bare_camera_name_takes_the_scene_defaults(tmp_path: Path) -> None:
    path = tmp_path / "scene.yaml"
    document = yaml.safe_load(DRAWER)
    document["scene"]["cameras"] = ["corner2", "topview"]
    path.write_text(yaml.safe_dump(document))
    second = load_scene(path).cameras[1]
    assert (second.feature_key, second.width, second.rate_hz) == ("observation.images.camera2", 128, 20.0)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("rate_hz: 20", "rate_hz: 30", "30 Hz does not divide control_hz 80"),
        (
            "rate_hz: 20, depth: true, depth_rate_hz: 5",
            "rate_hz: 1e-320",
            "9.99989e-321 Hz does not divide control",
        ),
        ("depth_rate_hz: 5", "depth_rate_hz: 1e-320", "9.99989e-321 Hz does not divide rate_hz 20"),
        ("high: [1, 1, 1, 1]", "high: [1, 1, 1]", "action.high: has 3 numbers for dim 4"),
        (
            "delta_ee_3d_plus_gripper",
            "delta_ee_6d_plus_gripper",
            "action.dim: 4, but an action of delta_ee_6d_plus_gripper has 7 numbers; write 7",
        ),
        ("low: [-1, -1, -1, -1]", "low: [1, -1, -1, -1]", "is not above low"),
        ("  step_m: 0.01\n", "", "action.step_m: is missing"),
        ("observation_width: 128", "observation_width: 0", "observation_width"),
        ("rate_hz: 20", "rate_hz: 20, width: 64", "64x128, rendered 128x128"),
        ("control_hz: 80", "control_hz: 80\nvla: x", "vla: unknown key"),
        ("{name: corner2,", "{name: 'a/b',", "cameras[0].name"),
        ("low: [-0.55, 0.35, -0.1]", "low: [0.9, 0.35, -0.1]", "workspace.high"),
        (
            "low: [-0.55, 0.35, -0.1]",
            "low: [-550, 0.35, -0.1]",
            "workspace.low[0]: -550 m is out of every arm's reach",
        ),
        ("step_m: 0.01", "step_m: 0", "action.step_m: 0"),
        (
            "step_m: 0.01",
            "step_m: 10",
            "action.step_m: 10 leads 10 m in one control step, which nothing follows; write",
        ),
        (
            "step_m: 0.01",
            "step_m: 0.01\n  step_rad: 15",
            "action.step_rad: 15 leads 15 rad in one control step",
        ),
        (
            "robot_id: sawyer",
            "robot_id: sawer",
            "scene.yaml:14: robot_id: robot 'sawer' was not found; did you mean 'sawyer'?",
        ),
        (
            "home: [0.005, 0.601,",
            "home: [5, 0.601,",
            "27: home: x = 5 m is outside the workspace; write -0.55 to",
        ),
        (
            "home: [0.005, 0.601, 0.195]",
            "home: [0, 5, -5]",
            "home: y = 5 m, z = -5 m is outside the workspace",
        ),
        ("cameras:", "cameras: 3\n  junk:", "scene.cameras"),
    ],
)
def test_scene_faults(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "scene.yaml"
    assert old in DRAWER
    path.write_text(DRAWER.replace(old, new, 1))
    with pytest.raises(ManifestError) as caught:
        load_scene(path)
    assert words in str(caught.value)


def test_tiers_extend_each_other() -> None:
    benchmark = load_scene("metaworld_reach", SimScene)
    assert isinstance(benchmark, BenchmarkScene)
    assert benchmark.task_ids == ("metaworld/reach-v3",)
    with pytest.raises(ManifestError, match="task: is missing for a scene of one task"):
        load_scene("metaworld_drawer", SimScene)
    with pytest.raises(ManifestError) as caught:
        load_scene("metaworld_drawer", BenchmarkScene)
    assert re.findall(r": (\w+): is missing for a benchmark; add it", str(caught.value)) == [
        *("task", "seed", "n_episodes", "metadata")
    ]


def test_a_benchmark_of_ones_own_names_a_task_of_its_world_and_needs_no_paper(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    world = (SHARE / "scenes/deploy/tabletop_sawyer.yaml").read_text().split("motions:")[0]
    more = (
        "task: {{id: {}, scene_id: own, instruction: lift it, max_steps: 9, success_key: success}}\nseed: 7\n"
    )
    path.write_text(
        world + more.format("own/lift-block") + "n_episodes: 2\nmetadata: {honest_scope: A trial.}\n"
    )
    with pytest.raises(
        ManifestError, match=r"task\.id: 'own/lift-block' is none of .*; write mjcf/lift-block or"
    ):
        load_scene(path, BenchmarkScene)
    path.write_text(path.read_text().replace("own/lift-block", "mjcf/lift-block"))
    assert load_scene(path, BenchmarkScene).metadata.paper is None


def test_a_name_of_a_deployment_and_a_benchmark_means_the_one_that_is_needed() -> None:
    assert type(load_scene("libero_spatial")) is DeployScene
    assert type(load_scene("libero_spatial", BenchmarkScene)) is BenchmarkScene


def test_unknown_names_list_what_there_is() -> None:
    with pytest.raises(NotFoundError, match="metaworld_drawer"):
        load_scene("nowhere")
    for name in ("../sawyer", "x" * 5000, "a\0b", ""):
        with pytest.raises(NotFoundError, match="sawyer"):
            load_robot(name)


def test_suite_is_one_protocol(tmp_path: Path) -> None:
    suite = load_suite("metaworld_mt10")
    assert (suite.id, len(suite.scenes), len({scene.task.id for scene in suite.scenes})) == (
        "metaworld_mt10",
        10,
        10,
    )
    path = tmp_path / "twice.yaml"
    path.write_text("- metaworld_reach\n- metaworld_reach\n")
    with pytest.raises(ManifestError, match=r"twice.yaml:2: \[1\]: task metaworld/reach-v3 is there twice"):
        load_suite(path)
    path.write_text("- nowhere\n")
    with pytest.raises(ManifestError, match="scene 'nowhere' was not found"):
        load_suite(path)
    path.write_text("- metaworld_reach\n- ''\n")
    with pytest.raises(
        ManifestError, match=r"twice.yaml:2: scene: '': string should have at least 1 character"
    ):
        load_suite(path)
    path.write_text("- 7\n")
    with pytest.raises(ManifestError, match=r"twice.yaml:1: \[0\]: is neither a name nor a scene with a ta"):
        load_suite(path)
    path.write_text("words\n")
    with pytest.raises(ManifestError, match="is not a list"):
        load_suite(path)


def test_ranges_of_states_overlap_where_one_state_is_in_both() -> None:
    states = InitRange(first=5, count=10**17)  # all that a policy may have seen; a set of them has no room
    for first, count, wanted in (
        (0, 5, False),
        (0, 6, True),
        (5, 1, True),
        (10**17, 5, True),
        (10**17 + 5, 1, False),
    ):
        other = InitRange(first=first, count=count)
        assert (states.overlaps(other), other.overlaps(states)) == (wanted, wanted)


def test_a_suite_names_its_own_states(tmp_path: Path) -> None:
    suite = load_suite("metaworld_mt50")
    assert len({scene.task.id for scene in suite.scenes}) == 50
    assert len({scene.task.instruction for scene in suite.scenes}) == 50
    assert {(scene.seed, scene.n_episodes) for scene in suite.scenes} == {(1000, 10)}
    assert suite.train_init_ids is not None
    assert suite.train_init_ids.ids() == range(1000)
    path = tmp_path / "overlap.yaml"
    states = "heldout_init_ids: {first: 90, count: 20}\ntrain_init_ids: {first: 0, count: 91}\n"
    path.write_text(f"{states}scenes: [metaworld_reach]\n")
    with pytest.raises(
        ManifestError, match=r"overlap.yaml:2: train_init_ids: 0 to 90 overlaps heldout_init_ids 90 to 109"
    ):
        load_suite(path)
    path.write_text("scenes: [metaworld_reach]\n")
    with pytest.raises(ManifestError, match="heldout_init_ids: is missing"):
        load_suite(path)
    path.write_text("heldout_init_ids: {first: 9, count: 1}\nscenes: [metaworld_reach, nowhere]\n")
    with pytest.raises(ManifestError, match=r"overlap.yaml:2: \[1\]: scene 'nowhere' was not found"):
        load_suite(path)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("task: metaworld/push-v3", "task: has no words"),
        ("task: metaworld/push-v3, instruction: push, instructions: [push]", "or two kinds of them"),
        ("instructions: [reach, go there]", "task: has words without a task"),
        ("task: metaworld/push-v3, instruktion: push", "did you mean 'instruction'"),
    ],
)
def test_an_entry_of_a_suite_gives_its_task_words(tmp_path: Path, words: str, what: str) -> None:
    path = tmp_path / "wordless.yaml"
    path.write_text(f"- metaworld_reach\n- {{scene: metaworld_reach, {words}}}\n")
    with pytest.raises(ManifestError, match=r"wordless.yaml:2: ") as caught:
        load_suite(path)
    assert what in str(caught.value)


def test_unheard_words_are_those_that_training_holds_out() -> None:
    plain, unheard = load_suite("metaworld_mini"), load_suite("metaworld_mini_unheard")
    recipe = load_recipe("mini_metaworld")
    for scene, other in zip(plain.scenes, unheard.scenes, strict=True):
        task = recipe.tasks[scene.task.id.removeprefix("metaworld/")]
        assert (scene.task.instruction, list(other.task.instructions)) == (task.train[0], task.heldout)
        assert [other.task.words_of(episode) for episode in (0, 7, 8)] == [
            task.heldout[0],
            task.heldout[7],
            task.heldout[0],
        ]
        same = {"instruction", "instructions"}
        assert other.task.model_dump(exclude=same) == scene.task.model_dump(exclude=same)
        assert other.scene == scene.scene
    assert "eight sentences" in unheard.scenes[0].metadata.honest_scope


def test_metaworlds_words_are_those_of_metaworlds_tasks() -> None:
    """Every task is one that MetaWorld has, and MT10's ten have the words of the suite of ten."""
    fifty = {scene.task.id: scene.task.instruction for scene in load_suite("metaworld_mt50").scenes}
    assert set(fifty) == {f"metaworld/{name}" for name in ALL_V3_ENVIRONMENTS}
    ten = {scene.task.id: scene.task.instruction for scene in load_suite("metaworld_mt10").scenes}
    assert {task: fifty[task] for task in ten} == ten


def test_a_task_is_found_in_the_suites_that_ship() -> None:
    assert "metaworld/hammer-v3" in {scene.task.id for scene in suite_with_task("metaworld/hammer-v3").scenes}
    with pytest.raises(NotFoundError, match="no suite has a task metaworld/juggle-v3; there are libero_10"):
        suite_with_task("metaworld/juggle-v3")


def test_states_of_training_are_not_judged_on() -> None:
    package = resolve("mini-metaworld")
    scene = load_scene("metaworld_mini", BenchmarkScene)
    assert unseen_states(package.manifest, scene, range(1000, 1050)).ok
    finding = unseen_states(package.manifest, scene, range(98, 110))
    assert not finding.ok
    assert (finding.found, finding.needed) == (
        "metaworld/drawer-open-v3: trained on 98, 99",
        "none of 0 to 99",
    )
    elsewhere = load_suite("libero_goal").scenes[0]
    assert unseen_states(package.manifest, elsewhere, range(50)).ok


@pytest.mark.parametrize("name", MAX_STEPS)
def test_liberos_suites_are_one_scene_with_many_tasks(name: str) -> None:
    suite, steps = load_suite(name), MAX_STEPS[name]
    assert len(suite.scenes) == (90 if name == "libero_90" else 10)
    for scene in suite.scenes:
        assert scene.task.id.startswith(f"{name}/")
        assert scene.scene.backend_options["tasks"] == [scene.task.id]
        assert (scene.task.scene_id, scene.task.max_steps, scene.n_episodes, scene.seed) == (
            name,
            steps,
            50,
            0,
        )
        assert scene.task.instruction == scene.task.instruction.lower()
        words = scene.task.id.split("/")[1].lower().replace("_", " ")
        assert words.endswith(scene.task.instruction), "LIBERO takes the words from the task's name"
        assert scene.scene.image_origin == "lower_left"


def test_panda_is_what_libero_says_of_it() -> None:
    robot = load_robot("franka_panda")
    assert robot.joint_names[7:] == ("panda_gripper", "panda_finger_joint1", "panda_finger_joint2")
    assert robot.gripper_joint is not None
    assert (robot.gripper_joint.name, robot.end_effectors[0].frame) == ("panda_gripper", "panda_hand_tcp")
    scene = load_scene("scenes/benchmarks/libero_spatial.yaml")
    full = scene.action.step_m * 3**0.5 / scene.dt  # type: ignore[operator]
    assert full <= robot.safety.max_ee_speed_m_s < 1.01 * full, "a full command, and nothing more, is allowed"


def test_robot_faults(tmp_path: Path) -> None:
    text = (SHARE / "robots/sawyer/robot.yaml").read_text()
    path = tmp_path / "robot.yaml"
    path.write_text(text.replace("gripper_joint: right_gripper", "gripper_joint: left_gripper"))
    with pytest.raises(ManifestError, match="'left_gripper' is no joint"):
        load_robot(path)
    path.write_text(text.replace("name: right_j1,", "name: right_j0,"))
    with pytest.raises(ManifestError, match="a joint is named twice"):
        load_robot(path)
    robot = load_robot("sawyer")
    assert robot.gripper_joint is not None
    assert robot.gripper_joint.name == robot.joint_names[-1] == "right_gripper"


def test_skills_and_motions_may_lie_beside_the_scenes_file(tmp_path: Path) -> None:
    for name in ("mine", "watch", "mini-metaworld"):
        (tmp_path / "skills" / name).mkdir(parents=True)
        (tmp_path / "skills" / name / "rskill.yaml").touch()
    (tmp_path / "scenes").mkdir()
    path = tmp_path / "scenes" / "scene.yaml"
    named = {
        "skills": [
            "../skills/mine",
            "../skills/mini-metaworld/rskill.yaml",
            "mini-metaworld",
            "../skills/none",
        ],
        "motions": ["rskill://rskills/motion-home"],
        "reward_skill": "../skills/watch",
    }
    path.write_text(yaml.safe_dump({**yaml.safe_load(DRAWER), **named}))
    scene = load_scene(path)
    here = tmp_path / "scenes" / ".." / "skills"
    assert scene.skills == (
        str(here / "mine"),
        str(here / "mini-metaworld" / "rskill.yaml"),
        "mini-metaworld",
        "../skills/none",
    )
    assert scene.motions == ("rskill://rskills/motion-home",)
    assert scene.reward_skill == str(here / "watch")
