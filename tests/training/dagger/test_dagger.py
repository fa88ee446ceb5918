"""A policy that stands still is corrected by the operator, and learns from what he did; a real simulator throughout."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openral_benchmark.plan import chosen_scenes
from openral_benchmark.row_log import RunLock
from openral_control.handover_blend import SEAM_S
from openral_core.errors import ContractError, DatasetError, ManifestError
from openral_core.manifest import MANIFEST_NAME
from openral_core.scene import load_scene
from openral_core.schema import InitRange
from openral_core.suite import load_suite
from openral_data.datasets.check import dataset_faults
from openral_data.lerobot_v3 import Dataset, open_dataset
from openral_rskill.checks.unseen_states import unseen_states
from openral_rskill.registry import load_package
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend
from openral_training.dagger.collection import CorrectionWorld
from openral_training.dagger.config import Cloning, DaggerConfig, load_config
from openral_training.dagger.run import DaggerRun
from openral_training.dagger.trained_states import with_trained_states
from openral_training.mapping.mapped_data import mapped_data

pytestmark = pytest.mark.usefixtures("warm_workers")

SUITE = """\
heldout_init_ids: {first: 1000, count: 1}
train_init_ids: {first: 0, count: 20}
scenes: [metaworld_mini]
"""
PATIENCE_S = 120.0
FRAME_STEPS = 4
"""Control steps of a frame: 80 Hz and 20 Hz."""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> DaggerConfig:
    """Far too few steps to learn anything, so that the policy stands still."""
    suite = tmp_path_factory.mktemp("suite") / "drawer_here.yaml"
    suite.write_text(SUITE)
    changes: dict[str, Any] = {
        "suite": str(suite),
        "demonstrations": 2,
        "rounds": 1,
        "interventions": 1,
        "cloning": Cloning(steps=3, round_steps=2, batch_size=4),
    }
    shipped = load_config("drawer_open")
    manifest = shipped.skill.manifest.model_copy(update={"trained_init_ids": {}})
    changes["skill"] = shipped.skill.model_copy(update={"manifest": manifest})
    return shipped.model_copy(update=changes)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, config: DaggerConfig) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("dagger") / "run"
    return folder, DaggerRun(config, folder, seed=3, plain=False, command="openral train dagger").go()


@pytest.fixture(scope="module")
def recording(run: tuple[Path, dict[str, Any]]) -> Dataset:
    return open_dataset(run[0] / "dataset")


def test_the_operator_takes_over_where_the_policy_stands_still_and_does_the_task(
    run: tuple[Path, dict[str, Any]], recording: Dataset
) -> None:
    shown, helped = run[1]["rounds"]
    assert (shown["interventions"], helped["interventions"]) == (2, 1)
    assert [row["taken_over"] for row in shown["rows"]] == [0, 0]
    corrected = helped["rows"][-1]
    assert corrected["success"]
    assert 100 < corrected["taken_over"] < corrected["steps"], "a standstill is seen over two seconds"
    assert recording.episodes["outcome"] == ["success"] * 3
    by_hand = recording.columns(["intervention"])["intervention"].ravel()
    first, end = recording.episodes["dataset_from_index"][2], recording.episodes["dataset_to_index"][2]
    begun = corrected["taken_over"] // FRAME_STEPS
    assert not by_hand[first : first + begun - 1].any()
    assert by_hand[first + begun : end].all()
    assert by_hand[:first].all(), "demonstrations are by hand from the beginning"
    assert list(dataset_faults(recording.root)) == []


def test_only_what_the_operator_did_is_learnt_from(config: DaggerConfig, recording: Dataset) -> None:
    demos = mapped_data(recording, config.skill).demonstrations
    columns = recording.columns(["intervention", "action.held", "action.executed"])
    taught, held = columns["intervention"].ravel(), columns["action.held"].any(axis=1)
    first = recording.episodes["dataset_from_index"][2]
    taken_over = first + int(np.argmax(taught[first:]))
    taught[taken_over : taken_over + config.skill.seam_frames] = False
    assert config.skill.seam_frames * FRAME_STEPS >= SEAM_S * 80, "the policy's motion has faded out"
    assert demos.frames.tolist() == np.flatnonzero(taught & ~held).tolist()
    assert len(demos.frames) < len(recording)
    executed = columns["action.executed"].reshape(len(recording), FRAME_STEPS, -1)
    for row in demos.frames[[0, len(demos.frames) // 2, -1]]:
        ahead = int(demos.ahead[row])
        steps = executed[row : row + 4].reshape(-1, executed.shape[2])[:ahead]
        np.testing.assert_array_equal(demos.chunk[row, :ahead], steps)
    assert demos.ahead[demos.frames[0]] == config.skill.manifest.chunk_size
    assert demos.ahead[recording.episodes["dataset_to_index"][0] - 1] == FRAME_STEPS


def test_nothing_is_learnt_from_a_correction_that_failed(config: DaggerConfig, recording: Dataset) -> None:
    failed = replace(recording, episodes={**recording.episodes, "outcome": ["success", "failure", "success"]})
    first, end = (recording.episodes[f"dataset_{name}_index"][1] for name in ("from", "to"))
    everything = mapped_data(recording, config.skill).demonstrations.frames
    frames = mapped_data(failed, config.skill).demonstrations.frames
    assert frames.tolist() == [row for row in everything if not first <= row < end]
    nothing = config.skill.model_copy(update={"only_outcome": "unknown"})
    with pytest.raises(DatasetError, match="ended in unknown; they say success; remove the line"):
        mapped_data(recording, nothing)


def test_an_attempt_whose_time_is_up_is_taken_over_too(
    run: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    steps = 40  # shorter than a standstill takes to be seen
    world = CorrectionWorld(
        load_scene("metaworld_drawer"), "metaworld_drawer", "drawer-open-v3", "open the drawer", steps
    )
    with closing(world):
        [row] = world.correct(tmp_path, load_package(run[0] / "round-0"), [19], 1)
    assert (row.taken_over, row.steps, row.success) == (steps, 2 * steps, False)


def test_each_round_leaves_a_skill_that_was_judged_on_states_it_never_saw(
    run: tuple[Path, dict[str, Any]], config: DaggerConfig
) -> None:
    folder, result = run
    assert json.loads((folder / "result.json").read_text()) == result
    for number, told in enumerate(result["rounds"]):
        package = load_package(folder / f"round-{number}")
        judged = json.loads((package.folder / "eval" / "drawer_here.json").read_text())
        assert judged["results"]["all_episodes"] == told["all_episodes"]
        assert [row["init_id"] for row in judged["results"]["episodes"]] == [1000]
        assert package.manifest.action_contract is not None
        assert package.manifest.action_contract.control_hz == 80
        assert package.manifest.trained_init_ids == {config.task: InitRange(first=0, count=20)}
    tried = [row["init_id"] for told in result["rounds"] for row in told["rows"]]
    assert len(set(tried)) == len(tried), "each state is tried once"
    assert max(tried) < 20
    assert (folder / "round-1" / MANIFEST_NAME).read_text().count("3 episodes")


@pytest.mark.long
def test_a_run_that_was_killed_in_a_round_goes_on_and_ends_as_if_it_had_not_been(
    run: tuple[Path, dict[str, Any]], config: DaggerConfig, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run[0], folder)
    # The round's episodes are recorded, but neither what became of them nor its skill is there.
    shutil.rmtree(folder / "round-1")
    (folder / "recordings" / "round-1" / "attempts.json").unlink()
    finished = {**run[1], "rounds": run[1]["rounds"][:1]}
    (folder / "result.json").write_text(json.dumps(finished))
    resumed = DaggerRun(config, folder, seed=3, plain=False, command="openral train dagger", resume=True).go()
    for before, after in zip(run[1]["rounds"], resumed["rounds"], strict=True):
        assert {**before, "provenance": ""} == {**after, "provenance": ""}
        made = (told["provenance"]["weights_sha256"] for told in (before, after))
        assert len(set(made)) == 1, "the same weights, byte for byte"


def test_no_round_is_begun_after_one_that_solved_enough(
    run: tuple[Path, dict[str, Any]], config: DaggerConfig, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run[0], folder)
    solved = json.loads((folder / "result.json").read_text())
    solved["rounds"][-1]["all_episodes"] |= {"success_rate": 0.95, "successes": 19, "n_episodes": 20}
    (folder / "result.json").write_text(json.dumps(solved))
    further = config.model_copy(update={"rounds": 3, "enough": 0.9})
    result = DaggerRun(further, folder, seed=3, plain=False, command="", resume=True).go()
    assert result["rounds"] == solved["rounds"]
    assert not (folder / "round-2").exists()


def test_a_run_that_asks_for_more_states_than_the_suite_has_is_told(
    run: tuple[Path, dict[str, Any]], config: DaggerConfig, tmp_path: Path
) -> None:
    many = config.model_copy(update={"demonstrations": 21})
    with pytest.raises(
        ContractError, match="has 20 states, 20 of which are left for 21 demonstrations; lower"
    ):
        DaggerRun(many, tmp_path / "new", seed=3, plain=False, command="")
    assert not (tmp_path / "new").exists()
    shutil.copytree(run[0], tmp_path / "run")
    used = json.loads((tmp_path / "run" / "result.json").read_text())
    used["rounds"][-1]["attempts"] = 18
    (tmp_path / "run" / "result.json").write_text(json.dumps(used))
    further = config.model_copy(update={"rounds": 2})
    with pytest.raises(ContractError, match="0 of which are left for 1 corrections in round 2; lower"):
        DaggerRun(further, tmp_path / "run", seed=3, plain=False, command="", resume=True).go()


def test_a_run_is_gone_on_with_only_when_it_is_asked_for_and_has_the_same_settings(
    run: tuple[Path, dict[str, Any]], config: DaggerConfig
) -> None:
    with pytest.raises(ManifestError, match="there is a run already; add --resume, or name another --out"):
        DaggerRun(config, run[0], seed=3, plain=False, command="")
    for seed, plain in ((4, False), (3, True)):
        with pytest.raises(
            ContractError, match=r"that run has other settings: (seed|help) \(\w+ there, \w+ here\);"
        ):
            DaggerRun(config, run[0], seed=seed, plain=plain, command="", resume=True)


def test_a_run_that_could_not_begin_does_not_refuse_the_next_one(
    config: DaggerConfig, tmp_path: Path
) -> None:
    unwatched = config.model_copy(update={"scene": "metaworld_mini"})
    for _ in range(2):
        with pytest.raises(ContractError, match="metaworld_mini: reward_skill is needed"):
            DaggerRun(unwatched, tmp_path / "run", seed=3, plain=False, command="").go()
    assert not (tmp_path / "run").exists()


def test_a_scene_without_the_task_is_told_and_its_world_is_closed(
    config: DaggerConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[MetaWorldBackend] = []
    close = MetaWorldBackend.close

    def noted(backend: MetaWorldBackend) -> None:
        closed.append(backend)
        close(backend)

    monkeypatch.setattr(MetaWorldBackend, "close", noted)
    elsewhere = config.model_copy(update={"scene": "metaworld_button"})
    with pytest.raises(ContractError, match="metaworld_button: has no task drawer-open-v3, but button-press"):
        DaggerRun(elsewhere, tmp_path / "run", seed=3, plain=False, command="").go()
    assert len(closed) == 1


def test_two_processes_do_not_run_in_one_folder(config: DaggerConfig, tmp_path: Path) -> None:
    """The second one would delete what the first one records."""
    begun = DaggerRun(config, tmp_path, seed=3, plain=False, command="")
    lock = RunLock(tmp_path)
    try:
        with pytest.raises(ManifestError, match="another process runs episodes into this folder"):
            begun.go()
    finally:
        lock.release()
    assert not (tmp_path / "recordings").exists()


def test_no_run_is_no_run_to_go_on_with(config: DaggerConfig, tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="there is no run to go on with"):
        DaggerRun(config, tmp_path / "typo", seed=3, plain=False, command="", resume=True)
    assert not (tmp_path / "typo").exists()


@pytest.mark.slow
def test_a_run_that_is_stopped_says_how_it_is_taken_up_again(tmp_path: Path) -> None:
    words = ["train", "dagger", "--config", "drawer_open", "--rounds", "1", "--out", str(tmp_path / "run")]
    work = [sys.executable, "-c", "from openral_cli.app import main; main()", *words]
    with subprocess.Popen(work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while not (tmp_path / "run" / "recordings").is_dir():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=PATIENCE_S)[1]
    assert "stopped; the same command with --resume goes on from what is kept" in told.splitlines()
    assert process.returncode


def test_states_that_a_manifest_names_already_are_not_named_twice(config: DaggerConfig) -> None:
    recipe = load_config("drawer_open").skill
    [scene] = chosen_scenes(load_suite("metaworld_mini"), [config.task])
    states = InitRange(first=0, count=1000)
    assert with_trained_states(recipe, scene, states) is recipe
    more = with_trained_states(recipe, scene, InitRange(first=10, count=1500)).manifest.trained_init_ids
    assert more == {"metaworld": states, scene.task.id: InitRange(first=10, count=1500)}


@pytest.mark.parametrize("name", ["drawer_open", "button_press", "window_open", "window_close"])
def test_shipped_configs_judge_on_states_that_they_do_not_learn_from(name: str) -> None:
    shipped = load_config(name)
    [scene] = chosen_scenes(load_suite(shipped.suite), [shipped.task])
    states = range(scene.seed, scene.seed + scene.n_episodes)
    assert unseen_states(shipped.skill.manifest, scene, states).ok
