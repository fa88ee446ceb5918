"""Whole runs: killed and gone on with, recorded and filmed; and one that must make a policy better."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any

import pytest
from rl_settings import PPO, SEEING, metrics, small
from safetensors.torch import load_file

from openral_benchmark.row_log import RunLock
from openral_core.errors import ContractError, ManifestError, NotFoundError, WeightsError
from openral_core.files.output_folder import disk_fault
from openral_training.rl.config import load_config, with_changes
from openral_training.rl.metrics_log import MetricsLog
from openral_training.rl.policies.state_mlp import load_state_mlp
from openral_training.rl.run import STATE, train

LONGER = {"env": {"max_episode_steps": 60}}
"""The expert of reach needs some fifty steps to show what it does."""
TWICE = {**LONGER, "runner": {"max_epochs": 2}}


class Killed(Exception):
    """The end of a run that did not choose it."""


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unbroken")
    train(small(folder, TWICE, PPO))
    return folder / "small"


@pytest.mark.slow
def test_a_killed_run_goes_on_as_if_nothing_had_been(unbroken: Path, tmp_path: Path) -> None:
    config = small(tmp_path, TWICE, PPO)

    def kill(done: int, note: str) -> None:
        if done == 2:
            raise Killed

    with pytest.raises(Killed):
        train(config, progress_callback=kill)
    with pytest.raises(ManifestError, match="add --resume"):
        train(config)
    with pytest.raises(ContractError, match=r"has other settings: actor\.seed \(\d+ there, 5 here\);"):
        train(with_changes(config, out=None, seed=5, epochs=None), resume=True)
    train(config, resume=True)
    assert metrics(tmp_path / "small") == metrics(unbroken)
    for name in ("policy.safetensors", "base.safetensors"):
        one, other = (load_file(folder / name) for folder in (unbroken, tmp_path / "small"))
        assert all((one[key] == other[key]).all() for key in one)


def test_a_run_that_was_moved_is_made_longer_and_ends_as_one_that_was_long(
    unbroken: Path, tmp_path: Path
) -> None:
    train(small(tmp_path, LONGER, {"runner": {"max_epochs": 1}}, PPO))
    (tmp_path / "moved").mkdir()
    (tmp_path / "small").rename(tmp_path / "moved" / "small")
    config = small(tmp_path / "moved", TWICE, PPO)
    ended = json.loads((config.folder / "eval" / "policy.json").read_text())
    train(config, resume=True)
    longer, before = metrics(config.folder), f"{ended['all_episodes']['success_rate']}"
    assert longer[1]["eval/success_once"] == longer[1]["eval/success_once/reach-v3"] == before
    evaluated = {name: "" for name in longer[1] if name.startswith("eval/")}
    assert [longer[0], longer[1] | evaluated, longer[2]] == metrics(unbroken)
    assert json.loads((config.folder / "eval" / "eval_1.json").read_text()) == ended
    assert "<td>after update 1<td>" in (config.folder / "report.html").read_text(encoding="utf-8")
    assert load_config(config.folder / "config.yaml").runner.max_epochs == 2
    with pytest.raises(ContractError, match="has made 2 updates; give --epochs 2 or more"):
        train(with_changes(config, out=None, seed=None, epochs=1), resume=True)
    whole = (config.folder / STATE).read_bytes()
    (config.folder / STATE).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(
        WeightsError, match=r"run\.safetensors lacks \d+ bytes at its end; copy it back whole"
    ):
        train(config, resume=True)


def test_no_run_is_no_run_to_go_on_with(tmp_path: Path) -> None:
    config = small(tmp_path, TWICE, PPO)
    with pytest.raises(ManifestError, match=r"there is no run to go on with; .* leave out --resume"):
        train(config, resume=True)
    assert not config.folder.exists()


@pytest.mark.parametrize("there", [False, True])
def test_a_run_that_cannot_begin_leaves_nothing_to_go_on_with(tmp_path: Path, there: bool) -> None:
    missing = {"actor": {"model": {**SEEING["actor"]["model"], "model_path": "no-such-skill"}}}
    config = small(tmp_path, SEEING, missing)
    if there:
        config.folder.mkdir()
    with pytest.raises(NotFoundError, match="no-such-skill"):
        train(config)
    assert config.folder.exists() == there
    assert not list(config.folder.glob("*"))


def test_a_folder_in_which_another_process_runs_is_refused(tmp_path: Path) -> None:
    config = small(tmp_path, PPO)
    config.folder.mkdir()
    lock = RunLock(config.folder)
    try:
        with pytest.raises(ManifestError, match="another process runs episodes into this folder"):
            train(config)
    finally:
        lock.release()


@pytest.mark.slow
def test_a_disk_that_fills_up_is_told_and_what_was_saved_is_gone_on_with(
    unbroken: Path, tmp_path: Path
) -> None:
    config = small(tmp_path, TWICE, PPO)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(done: int, note: str) -> None:
        if done == 2:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))

    try:
        with pytest.raises(OSError) as failure:  # noqa: PT011
            train(config, progress_callback=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert disk_fault(failure.value) == (
        f"{config.folder / STATE}: File too large; name a place that takes files of this size"
    )
    train(config, resume=True)
    assert metrics(config.folder) == metrics(unbroken)


def test_a_run_leaves_what_one_needs_to_judge_it(unbroken: Path) -> None:
    rows = metrics(unbroken)
    assert [row["step"] for row in rows] == ["0", "1", "2"]
    assert rows[0]["eval/success_once"] != ""
    known = {"train/actor/approx_kl", "train/critic/explained_variance", "env/success_once/reach-v3"}
    assert known <= set(rows[0])
    result = json.loads((unbroken / "result.json").read_text())
    last = f"{result['policy']['all_episodes']['success_rate']}"
    assert [row["eval/success_once"] for row in rows[1:]] == ["", last]
    assert result["env_steps"] == sum(float(row["env/steps"] or 0) for row in rows)
    assert [row["init_id"] for row in result["episodes"]] == [1000, 1001, 1002]
    assert load_state_mlp(unbroken / "policy.safetensors").shape.value_width == 4


def test_the_page_shows_what_was_judged_and_needs_no_network(unbroken: Path) -> None:
    text = (unbroken / "report.html").read_text(encoding="utf-8")
    base, policy = (
        json.loads((unbroken / "eval" / f"{name}.json").read_text()) for name in ("base", "policy")
    )
    evaluations = text[text.index("id=evaluations") : text.index("<h2>The result")]
    assert "after update" not in evaluations  # that after the last one is the policy's
    for evaluation in (base, policy):
        for entry in (evaluation["all_episodes"], evaluation["tasks"]["reach-v3"]):
            assert f"{entry['successes']}/{entry['n_episodes']}" in evaluations
            assert "{:.3f} to {:.3f}".format(*entry["wilson_95"]) in evaluations
    assert text.count("class='e") == policy["all_episodes"]["n_episodes"]
    for caption in (
        "Success while exploring, over updates",
        "KL of an update",
        "Explained variance of the critic",
    ):
        assert caption in text
    assert "adv_type: gae" in text
    assert "src=" not in text  # no film was asked for, and nothing else comes from elsewhere
    assert "http" not in text


def test_the_metrics_go_on_where_the_saved_policy_is(tmp_path: Path) -> None:
    book = MetricsLog(tmp_path, ("csv", "tensorboard"), 0)
    book.add(0, {"eval/success_once": 0.25})
    book.add(1, {"train/loss": 0.5, "env/steps": 100})
    book.add(2, {"train/loss": 9.0, "env/steps": 100})
    book.close()
    book = MetricsLog(tmp_path, ("csv", "tensorboard"), 2)
    book.add(2, {"train/loss": 0.125, "env/steps": 50})
    assert book.env_steps == 150
    book.close()
    assert [row["train/loss"] for row in metrics(tmp_path)] == ["", "0.5", "0.125"]
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    assert [(event.step, event.value) for event in events.Scalars("train/loss")] == [(1, 0.5), (2, 0.125)]


def test_grpo_asks_for_more_groups_and_learns_nothing_from_hopeless_ones(tmp_path: Path) -> None:
    again = {"adv_type": "grpo", "group_size": 2, "informative_share": 1.0, "max_rounds": 2, "kl_beta": 0.1}
    with_video = {"env": {"max_episode_steps": 60, "eval": {"video_cfg": {"save_video": True}}}}
    hopeless = {"algorithm": again, "base": {"steps": 1}, "runner": {"max_epochs": 1}}
    train(small(tmp_path, with_video, hopeless))
    [_, row] = metrics(tmp_path / "small")
    assert float(row["env/num_trajectories"]) == 8  # two rounds: nobody succeeded
    assert float(row["rollout/informative_groups"]) == 0
    assert "train/loss" not in row
    [video] = (tmp_path / "small" / "video").iterdir()
    assert video.name == "reach-v3-1000.mp4"
    assert video.stat().st_size > 1000
    text = (tmp_path / "small" / "report.html").read_text(encoding="utf-8")
    assert text.count("<video") == text.count("src='data:video/mp4;base64,") == 1


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_learning_raises_success_on_reach(tmp_path: Path) -> None:
    """On unseen states the lower end of the policy's interval is above the upper end of its base's."""
    result: dict[str, Any] = train(
        with_changes(load_config("reach_ci"), out=tmp_path / "run", seed=None, epochs=None)
    )
    base, policy = result["base"]["all_episodes"], result["policy"]["all_episodes"]
    assert base["success_rate"] <= 0.6
    assert policy["wilson_95"][0] > base["wilson_95"][1]
