"""Looking back: control steps, padding, slow cameras, episodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from openral_core.adapters.history import FrameHistory
from openral_core.adapters.observation_adapter import ObservationAdapter
from openral_core.errors import ContractError, ManifestError
from openral_core.manifest import RSkillManifest, load_manifest
from openral_core.scene import DeployScene
from openral_core.types import Image, Observation, RobotState, StepView

OFFSETS = (-6, -4, -2, 0)


def picture(number: int) -> Image:
    return np.full((128, 128, 3), number, np.uint8)


def seen(history: FrameHistory[Mapping[str, Image]], step: int) -> list[int]:
    return [int(images["corner2"][0, 0, 0]) for images in history.at(step)]


def filled(steps: range) -> FrameHistory[Mapping[str, Image]]:
    history: FrameHistory[Mapping[str, Image]] = FrameHistory(OFFSETS)
    for step in steps:
        history.add(step, {"corner2": picture(step)})
    return history


def test_offsets_count_control_steps() -> None:
    assert seen(filled(range(20)), 19) == [13, 15, 17, 19]


def test_first_image_stands_before_the_beginning() -> None:
    history: FrameHistory[Mapping[str, Image]] = FrameHistory(OFFSETS)
    for step, expected in ((3, [3, 3, 3, 3]), (4, [3, 3, 3, 4]), (5, [3, 3, 3, 5]), (7, [3, 3, 5, 7])):
        for missing in range(3, step + 1):
            history.add(missing, {"corner2": picture(missing)})
        assert seen(history, step) == expected


@pytest.mark.parametrize(
    ("period", "expected"), [(2, [14, 16, 18, 20]), (4, [12, 16, 16, 20]), (5, [10, 15, 15, 20])]
)
def test_slow_cameras_give_the_nearest_earlier_image(period: int, expected: list[int]) -> None:
    assert seen(filled(range(0, 21, period)), 20) == expected


def test_it_forgets_at_a_new_episode_and_keeps_no_more_than_it_needs() -> None:
    history = filled(range(100))
    assert len(history._sets) == 7
    history.clear()
    with pytest.raises(ValueError, match="no images in this episode"):
        history.at(100)
    history.add(100, {"corner2": picture(100)})
    assert seen(history, 100) == [100] * 4


def test_a_repeated_or_older_set_changes_nothing() -> None:
    history = filled(range(10))
    history.add(9, {"corner2": picture(200)})
    history.add(2, {"corner2": picture(200)})
    assert seen(history, 9) == [3, 5, 7, 9]


def test_without_offsets_nothing_is_kept() -> None:
    history: FrameHistory[Mapping[str, Image]] = FrameHistory(())
    history.add(0, {"corner2": picture(0)})
    assert history.at(0) == ()


def test_batch_gets_a_time_axis(
    manifest: Callable[..., RSkillManifest], scene: DeployScene, state: RobotState
) -> None:
    skill = manifest(image_preprocessing={"history": list(OFFSETS), "image_size": [32, 64]})
    adapter = ObservationAdapter(skill, scene)
    history = [StepView(images, state) for images in filled(range(20)).at(19)]
    observation = Observation(1.0, history[-1].images, state, "open the drawer", history, "goal-1")
    batch = adapter.batch([observation, observation])
    [images] = batch.images.values()
    assert images.shape == (2, 4, 32, 64, 3)
    assert images[1, :, 0, 0, 0].tolist() == [13, 15, 17, 19]
    assert list(batch.episodes) == ["goal-1", "goal-1"]
    with pytest.raises(ContractError, match=r"has 0 instants, the skill looks at 4 \(\[-6, -4, -2, 0\]\)"):
        adapter.batch([replace(observation, history=())])


def test_state_gets_a_time_axis_where_the_contract_says_so(
    manifest: Callable[..., RSkillManifest], scene: DeployScene, state: RobotState
) -> None:
    contract = {"layout": "ee_pos3_gripper1", "dim": 4, "history": True}
    skill = manifest(image_preprocessing={"history": [-1, 0]}, state_contract=contract)
    earlier = replace(state, ee_position=state.ee_position - 0.25)
    images = {"corner2": picture(0)}
    observation = Observation(1.0, images, state, "", [StepView(images, earlier), StepView(images, state)])
    batch = ObservationAdapter(skill, scene).batch([observation])
    assert batch.state.shape == (1, 2, 4)
    np.testing.assert_allclose(batch.state[0, 1, :3] - batch.state[0, 0, :3], 0.25, rtol=1e-6)


def test_state_history_needs_instants(manifest: Callable[..., RSkillManifest]) -> None:
    with pytest.raises(ValidationError, match=r"state_contract\.history.*names no instants"):
        manifest(state_contract={"dim": 4, "history": True})


@pytest.mark.parametrize("offsets", [[-2, -4, 0], [-2, -2, 0], [-4, -2], [0, 2], [1]])
def test_offsets_must_rise_to_now(manifest: Callable[..., RSkillManifest], offsets: list[int]) -> None:
    with pytest.raises(ValidationError, match="does not count up to 0"):
        manifest(image_preprocessing={"history": offsets})


def test_a_skill_does_not_keep_an_episode_of_images(
    skill_folder: Path, manifest: Callable[..., RSkillManifest]
) -> None:
    manifest(image_preprocessing={"history": [-512, 0]})
    file = skill_folder / "rskill.yaml"
    file.write_text(file.read_text().replace("flip_180: false", "history: [-1000000, 0]"))
    with pytest.raises(
        ManifestError, match=r"yaml:\d+: image_preprocessing.history: -1000000 is .*; write control steps"
    ):
        load_manifest(file)
