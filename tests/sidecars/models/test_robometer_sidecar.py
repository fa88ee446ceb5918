"""The reward model over its real sidecar, with a tiny checkpoint (random weights, proves plumbing only)."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml

from openral_core.errors import PolicyError
from openral_reward_monitor.models.reward_model import RewardScores, checked, load_reward_model
from openral_reward_monitor.models.robometer.model import RobometerRewardModel, server_arguments
from openral_reward_monitor.models.robometer.spec import SPEC
from openral_rskill.registry import load_package
from openral_sidecar.errors import SidecarRefused
from openral_sidecar.server_announcement import announcements
from openral_sidecar.settings import SidecarSettings
from openral_sidecar.sidecar import Sidecar

TASK = "open the drawer"
PATIENCE_S = 300.0


def frames(count: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 255, (count, 96, 128, 3), dtype=np.uint8)


@pytest.fixture
def load() -> Iterator[Callable[[Path], RobometerRewardModel]]:
    models = []

    def run(folder: Path) -> RobometerRewardModel:
        model = load_reward_model(load_package(folder))
        assert isinstance(model, RobometerRewardModel)
        models.append(model)
        return model

    yield run
    for model in models:
        model.close()


def same(one: RewardScores, other: RewardScores) -> bool:
    return bool((one.progress == other.progress).all() and (one.success == other.success).all())


def servers(folder: Path) -> list[int]:
    """Process ids of the servers of a checkpoint."""
    return [found.pid for found in announcements() if found.identity.model == str(folder)]


def wait_for(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.1)


def test_a_skill_scores_an_attempt_and_gives_the_same_bits_in_every_process(
    packed_robometer: Path, load: Callable[[Path], RobometerRewardModel]
) -> None:
    model = load(packed_robometer)
    attempt = frames(20)
    first = checked(model.score(attempt, TASK), 20)
    assert len(set(first.progress.tolist())) > 8  # eight scores and what lies between them
    assert same(first, model.score(attempt, TASK))
    assert not same(first, model.score(attempt, "close the window"))
    short = checked(model.score(attempt[:1], TASK), 1)
    assert short.progress[0] == first.progress[0]  # causal: the first frame knows nothing of the later ones
    (before,) = servers(packed_robometer)
    model.close()
    wait_for(lambda: not servers(packed_robometer), "the server's end")
    again = load(packed_robometer)
    assert servers(packed_robometer) != [before]
    assert same(first, again.score(attempt, TASK))


def test_weights_packed_in_place_score_as_the_packed_file_does(
    packed_robometer: Path, tiny_robometer: Path, tmp_path: Path, load: Callable[[Path], RobometerRewardModel]
) -> None:
    plain = tmp_path / "plain"
    shutil.copytree(tiny_robometer, plain)
    manifest = yaml.safe_load((packed_robometer / "rskill.yaml").read_text())
    manifest["quantization"]["extra"]["min_params_to_quantize"] = 4096
    (plain / "rskill.yaml").write_text(yaml.safe_dump(manifest))
    attempt = frames(8)
    in_place, packed = load(plain), load(packed_robometer)
    assert in_place._server.description["packed_modules"] == 16
    assert packed._server.description["packed_modules"] == 16
    assert same(in_place.score(attempt, TASK), packed.score(attempt, TASK))


def test_a_killed_server_is_started_again_and_scores_as_before(
    packed_robometer: Path, load: Callable[[Path], RobometerRewardModel]
) -> None:
    model = load(packed_robometer)
    attempt = frames(8)
    before = model.score(attempt, TASK)
    (pid,) = servers(packed_robometer)
    os.kill(pid, signal.SIGKILL)
    after: list[RewardScores] = []
    said: list[str] = []

    def answers() -> bool:
        try:
            after.append(model.score(attempt, TASK))
        except PolicyError as error:
            said.append(str(error))
        return bool(after)

    wait_for(answers, "an answer after the restart")
    assert said
    assert all(line.startswith("tests/rskill-tiny-robometer: ") and "\n" not in line for line in said)
    assert same(before, after[0])
    assert servers(packed_robometer) != [pid]


def test_the_server_says_what_it_is_and_refuses_what_it_cannot_score(packed_robometer: Path) -> None:
    package = load_package(packed_robometer)
    arguments, identity = server_arguments(package.manifest, packed_robometer, "cpu")
    with Sidecar.open(SPEC, arguments, identity, SidecarSettings(call_timeout_s=PATIENCE_S)) as sidecar:
        said = sidecar.description
        assert (said["bins"], said["max_frames"], said["packed_modules"]) == (10, 8, 16)
        assert said["vocabulary"] == 327
        assert said["device"] == "cpu"
        good = {"frames": frames(2), "task": TASK}
        assert set(sidecar.call("score", good)) == {"progress", "success"}
        for change, message in (
            ({"frames": frames(9)}, "send 1 to 8"),
            ({"frames": frames(0)}, "send 1 to 8"),
            ({"frames": frames(2).astype(np.float32)}, "uint8"),
            ({"frames": frames(2)[..., :2]}, "uint8"),
            ({"frames": None}, "uint8"),
            ({"frames": np.zeros((1, 8, 641, 3), np.uint8)}, "641 x 8 px, and a side has at most 640"),
            ({"task": " "}, "task must say"),
            ({"task": None}, "task must say"),
        ):
            with pytest.raises(SidecarRefused, match=message) as refusal:
                sidecar.call("score", {**good, **change})
            assert refusal.value.code == "input"


def test_a_checkpoint_that_is_not_whole_is_refused_by_the_name_of_what_is_missing(
    packed_robometer: Path, tmp_path: Path, load: Callable[[Path], RobometerRewardModel]
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(packed_robometer, broken)
    (broken / "config.yaml").unlink()
    with pytest.raises(
        PolicyError, match=r"tests/rskill-tiny-robometer: .*broken/config\.yaml: cannot be read"
    ):
        load(broken)
