"""Collect, clone and evaluate on a small scale, with the real simulator, through the same functions as the CLI."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import psutil
import pytest
import torch
from safetensors.torch import load_file

from openral_core.errors import ContractError, ManifestError, NotFoundError
from openral_data.episode import decode_png, encode_png
from openral_data.lerobot_v3 import Dataset, DatasetWriter, open_dataset
from openral_rskill.mini import WEIGHTS
from openral_rskill.mini.checkpoint import read_metadata
from openral_rskill.store.lockfile import sha256_of
from openral_training import bc, collect, reward
from openral_training.disturbed_expert import noisy_actor
from openral_training.frames import frame_cache
from openral_training.training_recipe import Recipe, load_recipe, metadata_of

pytestmark = pytest.mark.usefixtures("warm_workers")

RECORD_EVERY = 4
"""Control steps of a frame: 80 Hz and 20 Hz."""
SMALL = {
    "train_init_ids": {"first": 0, "count": 2},
    "heldout_init_ids": {"first": 1000, "count": 2},
    "tasks": {
        "drawer-open-v3": {
            "scene": "metaworld_drawer",
            "train": ["open the drawer"],
            "heldout": ["pull it open"],
        },
        "drawer-close-v3": {
            "scene": "metaworld_drawer",
            "train": ["close the drawer"],
            "heldout": ["push it shut"],
        },
    },
}


@pytest.fixture(scope="module")
def recipe() -> Recipe:
    return Recipe.model_validate({**SMALL, "record_every": RECORD_EVERY})


@pytest.fixture(scope="module")
def dataset(recipe: Recipe, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    root = tmp_path_factory.mktemp("small")
    units = collect.plan(recipe, starts=2, failures=1)
    shards = list(collect.collect(recipe, root / "shards", units, workers=2))
    writer = DatasetWriter(root, metadata_of(recipe))
    for episode in collect.read(shards):
        writer.add(episode)
    writer.close()
    return open_dataset(root)


def test_dataset_holds_what_was_done(dataset: Dataset, recipe: Recipe) -> None:
    episodes = dataset.episodes
    assert episodes["behaviour"] == 2 * (4 * ["expert"] + 4 * ["noisy_expert"] + ["stuck"])
    assert episodes["leg"] == 2 * [0, 1, 2, 3, 0, 1, 2, 3, 0]
    asked = [recipe.task_ids.index(task_id) for task_id in episodes["sim_task"]]
    assert asked == [1, 0, 1, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1]
    columns = dataset.columns(
        ["label.success", "task_index", "episode_index", "index", "action", "observation.state"]
    )
    assert columns["index"].tolist() == list(range(len(dataset)))
    for first, last, behaviour in zip(
        episodes["dataset_from_index"], episodes["dataset_to_index"], episodes["behaviour"], strict=True
    ):
        task = columns["task_index"][first]
        solved = bool(columns["label.success"][first:last, task].any())
        assert solved == (behaviour != "stuck"), (behaviour, first)
    first, last = episodes["dataset_from_index"][0], episodes["dataset_to_index"][0]
    assert not columns["action"][first:last, :3].any(), "a closed drawer is not closed again"
    first, last = episodes["dataset_from_index"][1], episodes["dataset_to_index"][1]
    assert columns["action"][first, :3].any()
    assert not columns["action"][last - 1, :3].any(), "done, the demonstrator stands still"
    assert np.abs(columns["action"]).max() <= 1.0
    assert columns["observation.state"][:, 3].min() >= 0
    (camera,) = dataset.cameras
    images = list(dataset.images(camera))
    assert len(images) == len(dataset)
    assert images[0].shape == (128, 128, 3)


def test_dataset_opens_with_the_datasets_convention(dataset: Dataset) -> None:
    info = dataset.info
    assert info["codebase_version"] == "v3.0"
    assert info["fps"] == 20.0
    assert info["total_frames"] == len(dataset) == dataset.episodes["dataset_to_index"][-1]
    assert info["features"]["observation.images.camera1"]["dtype"] == "image"


def test_pictures_are_seen_late_within_their_episode(dataset: Dataset, recipe: Recipe) -> None:
    rows = np.arange(len(dataset))
    rng = np.random.default_rng(0)
    assert bc.cloning_data(dataset, recipe).pictured(rows, rng) is rows
    late = bc.cloning_data(dataset, recipe.model_copy(update={"picture_delay_s": 0.2}))
    drawn = np.stack([late.pictured(rows, rng) for _ in range(60)])
    episode = dataset.columns(["episode_index"])["episode_index"]
    assert (episode[drawn] == episode[rows]).all()
    begin = np.array(dataset.episodes["dataset_from_index"])[episode]
    assert ((rows - drawn).max(0) <= np.minimum(4, rows - begin)).all()
    ages = (rows - drawn)[:, rows - begin >= 4]
    assert set(ages.ravel().tolist()) == set(range(5))
    assert (ages == 0).mean() == pytest.approx(1 / 3 + 2 / 3 / 5, abs=0.03)


@pytest.mark.slow
def test_killed_collection_goes_on_and_gives_the_same_bytes(
    dataset: Dataset, recipe: Recipe, tmp_path: Path
) -> None:
    units = collect.plan(recipe, starts=1, failures=0)
    again = list(collect.collect(recipe, tmp_path / "shards", units[:1]))
    assert again[0].read_bytes() == (dataset.root / "shards" / again[0].name).read_bytes()
    stamp = again[0].stat().st_mtime_ns
    done: list[int] = []
    list(
        collect.collect(
            recipe, tmp_path / "shards", units[:1], progress=lambda unit, frames: done.append(frames)
        )
    )
    assert done == [0]
    assert again[0].stat().st_mtime_ns == stamp


def test_unfinished_dataset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="openral train collect"):
        open_dataset(tmp_path)


def test_a_disk_without_room_for_the_frames_is_an_error_and_no_crash(
    dataset: Dataset, tmp_path: Path
) -> None:
    files = [path for path in dataset.root.rglob("*") if path.is_file() and ".cache" not in path.parts]
    used_kb = sum(4 * (path.stat().st_size // 4096 + 1) for path in files)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={used_kb + 512}k", "tmpfs", str(tmp_path)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    try:
        shutil.copytree(dataset.root, tmp_path / "data", ignore=shutil.ignore_patterns(".cache"))
        small = open_dataset(tmp_path / "data")
        with pytest.raises(OSError, match="No space left on device") as full:
            frame_cache(small, small.cameras[0], 96)
        assert Path(full.value.filename).parent == tmp_path / "data" / ".cache"
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def test_png_is_lossless() -> None:
    image = np.random.default_rng(0).integers(0, 256, (20, 30, 3)).astype(np.uint8)
    np.testing.assert_array_equal(decode_png(encode_png(image)), image)


@pytest.mark.parametrize("module", [pytest.param(bc, marks=pytest.mark.slow), reward])
def test_resumed_training_equals_unbroken_training(
    module, dataset: Dataset, recipe: Recipe, tmp_path: Path
) -> None:
    def run(out: Path, steps: int, total: int, save_every: int = 2) -> None:
        config = bc.BcConfig(steps=total, batch_size=8, save_every=save_every)
        seen = []

        def stop(step: int, loss: float) -> None:
            seen.append(loss)
            if step == steps and steps < total:
                raise KeyboardInterrupt

        module.train(dataset, recipe, out, config, progress=stop)

    run(tmp_path / "whole", 4, 4)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "broken", 3, 4)
    with pytest.raises(ContractError, match="belongs to another run; choose another --out"):
        run(tmp_path / "broken", 5, 5)
    run(tmp_path / "broken", 4, 4, save_every=3)
    assert not list(tmp_path.glob("*/run.safetensors"))
    whole, broken = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "broken"))
    for name in whole:
        assert torch.equal(whole[name], broken[name]), name


def test_chunks_end_with_the_episode(dataset: Dataset) -> None:
    demos = bc.load_demonstrations(dataset)
    end = dataset.episodes["dataset_to_index"][0]
    last = int(demos.ahead[end - 1])
    assert 1 <= last <= RECORD_EVERY
    assert demos.ahead[end - 3 : end].tolist() == [last + 2 * RECORD_EVERY, last + RECORD_EVERY, last]
    assert demos.ahead[0] == demos.chunk.shape[1] == 16
    actions = dataset.columns(["action"])["action"]
    chunk, left = demos.chunk[end - 2], last + RECORD_EVERY
    np.testing.assert_array_equal(chunk[:left:RECORD_EVERY], actions[end - 2 : end])
    np.testing.assert_array_equal(chunk[left:], np.repeat(chunk[left - 1 : left], 16 - left, axis=0))
    stuck = dataset.episodes["behaviour"].index("stuck")
    assert dataset.episodes["dataset_from_index"][stuck] not in demos.frames


def test_landmarks_tell_object_and_target(dataset: Dataset) -> None:
    columns = dataset.columns(["label.landmarks", "label.hand_to_object", "observation.state", "task_index"])
    rows, task = np.arange(len(dataset)), columns["task_index"]
    reach = np.linalg.norm(columns["label.landmarks"][:, :3] - columns["observation.state"][:, :3], axis=1)
    np.testing.assert_allclose(reach, columns["label.hand_to_object"][rows, task], atol=1e-5)


@pytest.mark.slow
def test_frames_may_be_fewer_than_control_steps(dataset: Dataset, recipe: Recipe, tmp_path: Path) -> None:
    unit = next(unit for unit in collect.plan(recipe, starts=0, failures=1) if unit.behaviour == "stuck")
    sparse = recipe.model_copy(update={"record_every": 2 * RECORD_EVERY})
    (every,) = collect.read([dataset.root / "shards" / f"{unit.name}.npz"])
    (second,) = collect.read(list(collect.collect(sparse, tmp_path, [unit])))
    assert len(second) == (len(every) + 1) // 2
    np.testing.assert_array_equal(second.chunk, every.chunk[::2])
    np.testing.assert_array_equal(second.state, every.state[::2])
    (camera,) = every.images
    assert second.images[camera] == every.images[camera][::2]


@pytest.mark.parametrize("trained", [bc, pytest.param(reward, marks=pytest.mark.slow)])
def test_warm_start_goes_on_from_a_checkpoint(
    dataset: Dataset, recipe: Recipe, tmp_path: Path, trained: ModuleType
) -> None:
    first = trained.train(dataset, recipe, tmp_path / "first", bc.BcConfig(steps=1, batch_size=4))
    config = bc.BcConfig(steps=1, batch_size=4, learning_rate=1e-12)
    second = trained.train(dataset, recipe, tmp_path / "second", config, warm_start=tmp_path / "first")
    for (name, a), b in zip(first.state_dict().items(), second.state_dict().values(), strict=True):
        torch.testing.assert_close(a.bfloat16().float(), b.bfloat16().float(), msg=name)
    made_of, before = (read_metadata(tmp_path / name / WEIGHTS) for name in ("second", "first"))
    assert made_of["warm_start_sha256"] == sha256_of(tmp_path / "first" / WEIGHTS)
    assert json.loads(made_of["warm_start_made_of"]) == before
    assert "warm_start_sha256" not in before
    assert str(tmp_path) not in json.dumps(made_of)


def test_hindsight_counts_down_to_the_next_success() -> None:
    flags = np.array([False] * 16 + [True, True])
    progress = reward.hindsight(flags, reference=160.0)
    assert progress[-1] == progress[16] == 1.0
    assert progress[0] == pytest.approx(1 - 16 / 160)
    assert (np.diff(progress) >= 0).all()


def test_labels_know_the_other_task_of_the_scene(dataset: Dataset, recipe: Recipe) -> None:
    labels = reward.label(dataset, recipe)
    assert labels.scenes == [[0, 1], [0, 1]]
    first = dataset.episodes["dataset_from_index"][0]
    assert labels.success[first].tolist() == [0.0, 1.0], "a closed drawer is closed, and not open"
    assert labels.progress[first, 1] == 1.0
    assert np.isnan(labels.progress[first, 0])


def test_some_of_a_recipe_s_tasks_may_be_collected(recipe: Recipe) -> None:
    units = collect.plan(recipe, starts=1, failures=1, tasks=["drawer-open-v3"])
    assert units == [
        unit for unit in collect.plan(recipe, starts=1, failures=1) if unit.task_id == "drawer-open-v3"
    ]
    assert units
    with pytest.raises(NotFoundError, match="no task 'door-open-v3'; it has drawer-open-v3"):
        collect.plan(recipe, starts=1, failures=1, tasks=["door-open-v3"])


def test_more_episodes_than_the_states_of_a_recipe_give_are_told(
    recipe: Recipe, caplog: pytest.LogCaptureFixture
) -> None:
    states = recipe.train_init_ids
    few = Recipe.model_validate(SMALL | {"train_init_ids": {"first": states.first, "count": 3}})
    assert len(collect.plan(few, starts=3, failures=0)) == 3 * len(few.tasks)
    assert caplog.messages == []
    assert len(collect.plan(few, starts=5, failures=0)) == 3 * len(few.tasks)
    assert caplog.messages == [
        f"{2 * len(few.tasks)} of {5 * len(few.tasks)} units would be the same episodes as others, so "
        f"{3 * len(few.tasks)} are collected: train_init_ids of the recipe are {few.train_init_ids}; give it more "
        "states, or ask for fewer episodes"
    ]


@pytest.mark.slow
def test_a_recipe_may_have_some_of_the_tasks_of_a_scene(tmp_path: Path) -> None:
    tasks = {"drawer-open-v3": SMALL["tasks"]["drawer-open-v3"]}
    one = Recipe.model_validate({**SMALL, "tasks": tasks, "record_every": 2 * RECORD_EVERY})
    units = collect.plan(one, starts=1, failures=0)
    episodes = list(collect.read(list(collect.collect(one, tmp_path, units, workers=1))))
    assert {episode.task_id for episode in episodes} == {"drawer-open-v3"}
    assert all(episode.success.shape[1] == 1 for episode in episodes)
    assert any(episode.success[-1, 0] for episode in episodes)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"heldout_init_ids": {"first": 1, "count": 5}}, "overlaps train_init_ids"),
        ({"heldout_init_ids": {"first": 1, "count": 10**12}}, "overlaps train_init_ids"),
        ({"record_every": 0}, "record_every"),
        ({"speed": 3}, "speed"),
        (
            {
                "tasks": {
                    "drawer-open-v3": {
                        "scene": "metaworld_drawer",
                        "train": ["Open it"],
                        "heldout": ["open it"],
                    }
                }
            },
            "also in train: open it",
        ),
    ],
)
def test_bad_recipe_names_the_key(change: dict, text: str, tmp_path: Path) -> None:
    import yaml

    path = tmp_path / "bad.yaml"
    path.write_text(yaml.safe_dump(SMALL | change))
    with pytest.raises(ManifestError, match=text):
        load_recipe(path)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", ":1: file: empty, needed keys with values; "),
        ("- a", ":1: file: a list, needed keys with values; "),
        ("words_of: [a]", ":1: words_of: is no name; "),
        ("words_of: mini_metaworld\ntasks: [a]", ":2: tasks: "),
        ("cameras: [a]\nchunk_size: x", ":2: chunk_size: "),
    ],
)
def test_a_file_that_is_no_recipe_is_told_by_its_lines(content: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(content)
    with pytest.raises(ManifestError) as caught:
        load_recipe(tmp_path / "bad.yaml")
    assert f"{tmp_path / 'bad.yaml'}{why}" in str(caught.value)
    assert "pydantic" not in str(caught.value)


def test_words_that_two_recipes_seek_in_each_other_are_told_by_their_line(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{name}.yaml").write_text(f"words_of: {tmp_path / other}.yaml\n")
    with pytest.raises(ManifestError, match=r"b\.yaml:1: words_of: leads back to this recipe; name one with"):
        load_recipe(tmp_path / "a.yaml")


def test_shipped_recipe_keeps_words_and_states_apart() -> None:
    shipped = load_recipe("mini_metaworld")
    assert not set(shipped.train_init_ids.ids()) & set(shipped.heldout_init_ids.ids())
    assert "pull the drawer open" in shipped.tasks["drawer-open-v3"].heldout
    with pytest.raises(NotFoundError, match=r"openral ships .*mini_metaworld"):
        load_recipe("nothing")


def test_a_recipe_may_take_the_words_of_another_and_some_of_the_cameras() -> None:
    watched, cloned = load_recipe("mini_progress_mt10"), load_recipe("mini_metaworld_mt10")
    assert watched.task_ids == cloned.task_ids
    assert watched.tasks["reach-v3"].heldout == cloned.tasks["reach-v3"].heldout
    assert watched.world_of("drawer-open-v3") == ("drawer-open-v3", "drawer-close-v3")
    assert len(metadata_of(watched).cameras) == len(metadata_of(cloned).cameras) == 2
    assert list(metadata_of(load_recipe("mini_progress")).cameras) == ["observation.images.camera1"]
    unknown = watched.model_copy(update={"cameras": ("head",)})
    with pytest.raises(NotFoundError, match=r"no camera 'head'; it has corner2, behindGripper"):
        unknown.scene_for("reach-v3")


def test_killed_collection_leaves_no_worker(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).parent / "openral"), "train", "collect", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    workers: list[psutil.Process] = []
    deadline = time.monotonic() + 60
    while len(workers) < 2 and time.monotonic() < deadline:
        children = psutil.Process(process.pid).children(recursive=True)
        workers = [child for child in children if "spawn_main" in " ".join(child.cmdline())]
        time.sleep(0.1)
    process.kill()
    process.wait()
    assert len(workers) == 2
    _, alive = psutil.wait_procs(workers, timeout=90)
    assert not alive


def test_a_recipe_says_how_much_the_expert_is_turned_aside() -> None:
    label = np.array([0.5, 0.0, 0.0, 0.2, -0.1, 0.0, -1.0])
    executed = {}
    for turn_noise in (0.05, 0.3):
        act = noisy_actor(np.random.default_rng(0), turn_noise)
        executed[turn_noise] = np.stack([act(step, label) for step in range(500)])
    for turn_noise, actions in executed.items():
        turned = actions[:, 3:6] - label[3:6]
        turned = turned[np.any(turned != 0, axis=1)]  # a burst moves the hand and turns it not
        assert 0.9 * turn_noise < turned.std() < 1.1 * turn_noise
        assert (actions[:, 6] == -1.0).all()
    np.testing.assert_allclose(executed[0.05][:, :3].std(), executed[0.3][:, :3].std(), rtol=1e-9)
