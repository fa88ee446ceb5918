"""A world model learns what pushing does and what each task means; a killed training goes on."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from dot_world import CAMERA, LEFT, RIGHT, SIZE, WORDS, dot_rollouts, episode
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor

from openral_core.errors import ContractError, NotFoundError, PolicyError
from openral_data.dataset_schema import DatasetMetadata
from openral_data.episode import Episode, encode_png
from openral_data.lerobot_v3 import Dataset, DatasetWriter, open_dataset
from openral_training.frames import frame_cache
from openral_training.world_model.checkpoint import (
    CONFIG,
    WorldModelConfig,
    load_network,
    save_world_model,
    trained_init_ids,
)
from openral_training.world_model.env import WorldModelEnv
from openral_training.world_model.evaluate import (
    RESULT,
    VIDEO,
    WorldComparison,
    by_horizon,
    compare,
    evaluate,
    write_video,
)
from openral_training.world_model.experience import load_rollouts
from openral_training.world_model.learn import train
from openral_training.world_model.learning import LearnConfig
from openral_training.world_model.model import FRAME, LatentWorld, resize
from openral_training.world_model.nearest_baseline import RecordedAttempts
from openral_training.world_model.network import WorldNetwork, WorldShape
from openral_training.world_model.open import open_world_model
from openral_training.world_model.starts import Start, Starts, load_starts, save_starts
from openral_training.world_model.statistics import FILE_NAME, action_scale

QUICK = LearnConfig(
    picture_steps=100, picture_batch=16, steps=200, drawing_steps=40, batch_size=16, held_out=0.2
)
SHORT = LearnConfig(picture_steps=6, picture_batch=4, steps=6, drawing_steps=6, batch_size=4, save_every=4)


@pytest.fixture(scope="module")
def rollouts(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return dot_rollouts(tmp_path_factory.mktemp("rollouts"))


def trained(rollouts: Dataset, folder: Path, config: LearnConfig) -> Path:
    with pytest.MonkeyPatch.context() as small:
        small.setattr("openral_training.world_model.learn.WorldShape", partial(WorldShape, layers=1))
        train(rollouts, folder, config, size=SIZE, latent=16)
    return folder


@pytest.fixture(scope="module")
def learnt(rollouts: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(rollouts, tmp_path_factory.mktemp("learnt"), QUICK)


@pytest.fixture(scope="module")
def begun(rollouts: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world model that has learnt next to nothing."""
    return trained(rollouts, tmp_path_factory.mktemp("begun"), replace(SHORT, held_out=QUICK.held_out))


@pytest.mark.long
def test_imagination_is_nearer_to_the_world_than_a_still_picture(
    learnt: Path, rollouts: Dataset, tmp_path: Path
) -> None:
    result = evaluate(learnt, rollouts, tmp_path)
    by_step = {row["step"]: row for row in result["horizons"]}
    assert by_step[8]["hand_error_m"] < 0.25 * 8 * 0.7 * 0.08  # a quarter of how far the dot drifts
    for step in (8, 16):  # after one step a dot of whole pixels may not have moved in the picture at all
        assert by_step[step]["psnr_db"] > by_step[step]["psnr_still_db"] + 1
    assert result["reward"]["auroc_frames_real"] > 0.95
    assert result["reward"]["auroc_frames_imagined"] > 0.9
    assert (tmp_path / RESULT).is_file()
    assert (tmp_path / VIDEO).read_bytes()[:4] == b"GIF8"


def test_attempts_of_other_rollouts_count_as_unseen_by_the_states_of_the_training(
    begun: Path, rollouts: Dataset, tmp_path: Path
) -> None:
    """Of ten states the last two are held out, none of which is among the eight of the other rollouts."""
    fewer = dot_rollouts(tmp_path / "fewer", episodes=16, steps=8)
    with pytest.raises(ContractError, match="no initial state is held out"):
        evaluate(begun, fewer, tmp_path / "of-the-training")
    assert evaluate(begun, rollouts, tmp_path / "unseen")["episodes"] == 8
    later = dot_rollouts(tmp_path / "later", episodes=4, steps=8, first=8)
    result = evaluate(begun, later, tmp_path / "later-eval")
    assert result["episodes"] == 4
    assert "psnr_nearest_db" not in result["horizons"][0]


@pytest.mark.parametrize(
    "change", [{"doubt_limit": "high"}, {"doubt_limit": -1.0}, {"words": []}, {"shape": {"heads": 0}}]
)
def test_a_config_that_cannot_be_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    shape = WorldShape(2, 4, 16, 8, width=8, layers=1, heads=1, members=1)
    scale = action_scale(np.ones((2, 4), np.float32))
    config = WorldModelConfig(shape, WORDS, CAMERA, 0.1, 0.5)
    save_world_model(tmp_path, WorldNetwork(shape), config, scale, Starts([]))
    assert load_network(tmp_path)[1] == config
    path = tmp_path / CONFIG
    content = json.loads(path.read_text(encoding="utf-8"))
    changed = {**content, **change, "shape": content["shape"] | change.get("shape", {})}
    path.write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(PolicyError, match="not a world model of openral"):
        load_network(tmp_path)


def test_a_world_model_that_is_trained_anew_begins_in_no_state_of_the_earlier_one(tmp_path: Path) -> None:
    frame = np.zeros((4, 4, 3), np.uint8)
    earlier = [Start(frame, "push", "push", number, np.zeros(1, np.float32)) for number in range(12)]
    save_starts(tmp_path, Starts(earlier))
    save_starts(tmp_path, Starts(earlier[3:5]))
    assert load_starts(tmp_path).init_ids("push") == [3, 4]


class StillWorld(LatentWorld):
    """Imagines that nothing moves."""

    def frames(
        self, latents: Tensor, first: NDArray[np.uint8], states: NDArray[np.float32], size: int = FRAME
    ) -> NDArray[np.uint8]:
        shown = [resize(frame, size) for frame in first for _ in range(latents.shape[1])]
        return np.stack(shown).reshape(*latents.shape[:2], size, size, 3)


@pytest.mark.parametrize("steps", [1, 9])
def test_a_short_attempt_is_filmed(steps: int, tmp_path: Path) -> None:
    frames, flags = np.zeros((steps, 16, 16, 3), np.uint8), np.zeros(steps, np.float32)
    states, truth = np.zeros((steps, 2), np.float32), np.zeros(steps, np.bool_)
    pictures, curves = (
        (frames[0], frames, frames, frames, states, states),
        (flags, truth, flags, flags, flags),
    )
    write_video(tmp_path / VIDEO, [WorldComparison(LEFT, WORDS[LEFT], 0, *pictures, *curves)])
    assert (tmp_path / VIDEO).read_bytes()[:4] == b"GIF8"


def test_a_still_picture_that_is_imagined_is_as_near_as_one_that_was_kept(
    begun: Path, rollouts: Dataset
) -> None:
    found, frames = load_rollouts(rollouts), frame_cache(rollouts, CAMERA, SIZE)
    episodes = np.arange(len(found.first))
    scale = action_scale(found.action[found.rows(episodes, executed=True)])
    recorded = RecordedAttempts(found, scale, episodes)
    row = by_horizon([compare(StillWorld(begun), scale, found, recorded, frames, 0)])[1]
    assert row["psnr_db"] == row["psnr_still_db"] < 60


def test_the_nearest_recorded_attempt_is_found_by_its_start_and_by_where_its_actions_led(
    rollouts: Dataset,
) -> None:
    found = load_rollouts(rollouts)
    episodes = np.arange(len(found.first))
    scale = action_scale(found.action[found.rows(episodes, executed=True)])
    every = RecordedAttempts(found, scale, episodes)
    own = np.arange(found.first[3] + 1, found.last[3] + 1)
    assert every.rows(3, len(own)).tolist() == own.tolist()
    others = RecordedAttempts(found, scale, np.flatnonzero(episodes != 3)).rows(3, len(own))
    apart = np.abs(found.state[others, :2] - found.state[own, :2]).max(1)
    chance = np.abs(found.state[found.first[0] + 1 : found.last[0] + 1, :2] - found.state[own, :2]).max(1)
    assert not set(others) & set(own)
    assert apart.mean() < 0.5 * chance.mean()


@pytest.mark.slow
def test_the_same_frames_are_a_success_for_one_sentence_and_not_for_the_other(learnt: Path) -> None:
    model, starts, scale = open_world_model(learnt)
    env = WorldModelEnv(model, starts, scale, num_envs=2, horizon=24)
    number = starts.init_ids(RIGHT)[0]
    env.reset([RIGHT, LEFT], [number, number])
    push = np.tile(np.array([1, 0, 0, 0], np.float32), (1, 8, 1))
    asked_right = env.chunk_step(push, [0])
    if not asked_right.success[0]:
        asked_right = env.chunk_step(push, [0])
    asked_left = [env.chunk_step(push, [1]) for _ in range(2)]
    assert asked_right.success[0]
    assert not any(chunk.success[0] for chunk in asked_left)
    assert asked_left[-1].states[0, -1, 0] > 0.5  # there, too, the dot lies on the right


@pytest.mark.slow
def test_it_knows_where_it_has_been_and_doubts_where_it_has_not(learnt: Path) -> None:
    model, starts, _ = open_world_model(learnt)
    start = starts.at(RIGHT, starts.init_ids(RIGHT)[0])
    known = model.begin(start.frame[None], start.state[None]).repeat(4, 1)[None]
    elsewhere = known.clone()
    elsewhere[..., -4:] = 9.0  # the dot is nine frames' widths away
    still, past_actions = np.zeros((1, 8, 4), np.float32), np.zeros((1, 4, 4), np.float32)
    assert (model.imagine(known, past_actions, still, [0]).uncertainty < 1).all()
    assert model.imagine(elsewhere, past_actions, still, [0]).uncertainty.max() > 1


def test_frames_have_the_contract_s_form(begun: Path) -> None:
    model, starts, scale = open_world_model(begun)
    env = WorldModelEnv(model, starts, scale, num_envs=3, horizon=24)
    env.reset([RIGHT] * 3, starts.init_ids(RIGHT)[:3])
    chunk = env.chunk_step(np.zeros((3, 8, 4), np.float32))
    assert chunk.frames().shape == (3, 8, 256, 256, 3)
    assert chunk.frames().dtype == np.uint8
    assert chunk.rewards.shape == chunk.executed.shape == (3, 8)


@pytest.mark.long
def test_a_killed_training_ends_where_an_unbroken_one_ends(rollouts: Dataset, tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    def kill(step: int, note: str) -> None:
        if step == 6 + 5:
            raise Killed

    train(rollouts, tmp_path / "one", SHORT, size=16, latent=8)
    with pytest.raises(Killed):
        train(rollouts, tmp_path / "other", SHORT, size=16, latent=8, progress=kill)
    train(rollouts, tmp_path / "other", SHORT, size=16, latent=8)
    one, other = (load_file(tmp_path / name / "model.safetensors") for name in ("one", "other"))
    assert all(torch.equal(one[name], other[name]) for name in one)
    kinds = {value.dtype for name, value in one.items() if name.endswith("weight")}
    assert kinds == {torch.bfloat16, torch.float32}


@pytest.mark.slow
def test_what_is_held_out_changes_nothing_of_what_is_learnt(tmp_path: Path) -> None:
    """In the second data the attempts from the last two of the ten states go three times as far."""
    for name, reach in (("near", 1.0), ("far", 3.0)):
        form = DatasetMetadata(10, {CAMERA: (SIZE, SIZE)}, "ee_pos3_gripper1", 4, 1, WORDS, "dot")
        writer, rng = DatasetWriter(tmp_path / name, form), np.random.default_rng(0)
        for number in range(20):
            made = episode((RIGHT, LEFT)[number % 2], number // 2, 8, rng)
            unlike = replace(made, state=reach * made.state, chunk=reach * made.chunk)
            writer.add(unlike if made.init_id >= 8 else made)
        writer.close()
        train(
            open_dataset(tmp_path / name),
            tmp_path / f"of-{name}",
            replace(SHORT, held_out=0.2),
            size=SIZE,
            latent=8,
        )
    near, far = (load_file(tmp_path / f"of-{name}" / "model.safetensors") for name in ("near", "far"))
    assert [name for name in near if not torch.equal(near[name], far[name])] == []
    scales = [(tmp_path / f"of-{name}" / FILE_NAME).read_text() for name in ("near", "far")]
    assert scales[0] == scales[1]


def test_each_task_has_its_own_words_in_whatever_order_the_file_names_them(tmp_path: Path) -> None:
    dataset = dot_rollouts(tmp_path, episodes=2, steps=4)
    path = dataset.root / "meta" / "tasks.parquet"
    table = pq.read_table(path)
    pq.write_table(table.take([1, 0]), path)
    assert load_rollouts(dataset).words == WORDS
    pq.write_table(table.slice(0, 1), path)
    with pytest.raises(ContractError, match=r"tasks\.parquet: has no sentence of left; add it"):
        load_rollouts(dataset)


def test_a_folder_whose_config_is_no_mapping_is_no_world_model(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(NotFoundError, match="family: is not known"):
        open_world_model(tmp_path)


def test_a_world_model_without_a_config_was_trained_on_all_but_a_tenth(tmp_path: Path) -> None:
    """As of RLinf's layout, whose config nothing else is read from."""
    assert trained_init_ids(tmp_path, Starts([]), range(20)) == set(range(18))
    for content in ('{"held_out": "x"}', '{"held_out": NaN}', "[]"):
        (tmp_path / "config.json").write_text(content)
        with pytest.raises(PolicyError, match=r"config\.json(: held_out is| is not a JSON object)"):
            trained_init_ids(tmp_path, Starts([]), range(20))


def test_demonstrations_are_no_rollouts(tmp_path: Path) -> None:
    form = DatasetMetadata(10, {CAMERA: (SIZE, SIZE)}, "ee_pos3_gripper1", 4, 1, WORDS, "dot")
    writer, nothing = DatasetWriter(tmp_path, form), np.zeros((2, 2), np.float32)
    images = {CAMERA: [encode_png(np.zeros((SIZE, SIZE, 3), np.uint8))] * 2}
    shown = Episode(
        RIGHT,
        "expert",
        0,
        0,
        images,
        np.zeros((2, 4), np.float32),
        np.zeros((2, 1, 4), np.float32),
        np.ones(2, np.int64),
        np.zeros((2, 2), bool),
        nothing,
        nothing,
        np.zeros((2, 6), np.float32),
    )
    writer.add(shown)
    writer.close()
    with pytest.raises(ContractError, match="labels of experts"):
        train(open_dataset(tmp_path), tmp_path / "model", SHORT)
