"""Cameras that a reward model looks through together: pictures of one instant make a frame, or none is made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from reward_camera import wait_for
from reward_manifest import REWARD, SIZE

from openral_core.errors import ContractError, PolicyError
from openral_core.guarded_callbacks import EXIT_UNFIT
from openral_core.manifest import Reward
from openral_reward_monitor.camera_views import cameras_of, require_view, side_by_side
from openral_reward_monitor.cameras import Cameras
from openral_reward_monitor.models.mini.model import load_folder
from openral_reward_monitor.models.mini.network import MiniRewardConfig, MiniRewardNetwork
from openral_reward_monitor.models.reward_model import load_reward_model
from openral_rskill.mini.checkpoint import save_network

VIEW = "corner2+wrist"
TWO = [
    {"modality": "rgb", "vla_feature_key": "observation.images.camera1"},
    {"modality": "rgb", "vla_feature_key": "observation.images.camera2"},
]


def picture(level: int, size: int = SIZE) -> np.ndarray:
    return np.full((size, size, 3), level, np.uint8)


@pytest.fixture
def cameras() -> Cameras:
    return Cameras([VIEW], Reward(**REWARD), 8, 3.0)


def levels(cameras: Cameras) -> list[tuple[float, int, int]]:
    """Stamp, and the level of the left and of the right half, of each frame."""
    selection = cameras.by_name[VIEW].select()
    frames = [] if selection is None else zip(selection.stamps_s, selection.frames, strict=True)
    return [(float(stamp_s), int(frame[0, 0, 0]), int(frame[0, -1, 0])) for stamp_s, frame in frames]


def test_pictures_of_an_instant_make_a_frame_in_the_order_of_the_name(cameras: Cameras) -> None:
    assert cameras_of(VIEW) == ("corner2", "wrist")
    assert not cameras.add("wrist", 1.0, picture(20), 0.0)
    assert cameras.add("corner2", 1.0, picture(10), 0.0)
    assert not cameras.add("corner2", 2.0, picture(11), 0.0)
    assert cameras.add("wrist", 2.05, picture(21), 0.0), "cameras of two clocks are never of one instant"
    assert levels(cameras) == [(1.0, 10, 20), (2.05, 11, 21)]


@pytest.mark.parametrize("change", [{"views": 0}, {"image_size": 10**6}, {"image_size": "96"}])
def test_a_configuration_says_nothing_that_no_network_can_be(
    tmp_path: Path, change: dict[str, object]
) -> None:
    save_network(MiniRewardNetwork(MiniRewardConfig()), MiniRewardConfig(), tmp_path, {})
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, **change}))
    with pytest.raises(PolicyError, match=f"{next(iter(change))}: .* is no whole number from 1 to"):
        load_folder(tmp_path)


@pytest.mark.parametrize(
    ("view", "sensors", "words"),
    [
        ("corner2+corner2", TWO, "corner2 is named twice in corner2[+]corner2; name each camera once"),
        ("corner2+", TWO, "'' in corner2[+] is no name of a camera; write letters, digits and _"),
        ("front-left", TWO[:1], "'front-left' in front-left is no name of a camera"),
        ("front/../left", TWO[:1], "is no name of a camera"),
    ],
)
def test_a_view_without_a_scene_names_each_camera_once(
    make_reward: Any, view: str, sensors: list[dict[str, str]], words: str
) -> None:
    manifest = make_reward({"sensors_required": sensors}).manifest
    with pytest.raises(ContractError, match=words):
        require_view(view, manifest, None)
    require_view("corner2+wrist" if len(sensors) == 2 else "front_left", manifest, None)


def test_pictures_that_are_apart_make_no_frame(cameras: Cameras) -> None:
    assert not cameras.add("wrist", 1.0, picture(20), 0.0)
    assert not cameras.add("corner2", 1.5, picture(10), 0.0)
    assert not cameras.add("wrist", 1.2, picture(21), 0.0), (
        "late, and older than the other camera's by too much"
    )
    assert levels(cameras) == []
    told = "the pictures of corner2 and wrist are never within 0.1 s of each other"
    assert cameras.by_name[VIEW].missing == told
    assert cameras.add("wrist", 1.55, picture(22), 0.0)
    assert levels(cameras) == [(1.55, 10, 22)]


def test_a_view_is_as_old_as_the_camera_that_has_been_silent(cameras: Cameras) -> None:
    for step in range(8):
        cameras.add("corner2", step / 4, picture(10 + step), float(step))
    assert cameras.by_name[VIEW].arrived_wall_s == float("-inf")
    assert levels(cameras) == []
    assert cameras.by_name[VIEW].missing == "no picture of camera wrist has come yet"


@pytest.mark.parametrize("name", ["corner2", "wrist"])
def test_one_frozen_or_dark_camera_is_the_views_fault(cameras: Cameras, name: str) -> None:
    other = next(camera for camera in cameras_of(VIEW) if camera != name)
    for step in range(10):
        cameras.joints(np.array([0.1 * step]), step / 4)
        cameras.add(name, step / 4, picture(100), 0.0)
        cameras.add(other, step / 4, picture(50 + step), 0.0)
    selection = cameras.by_name[VIEW].select()
    assert selection is not None
    assert (selection.frozen, selection.dark) == (True, False)
    cameras.add(name, 3.0, picture(0), 0.0)
    assert cameras.by_name[VIEW].dark
    cameras.report(other, "it sends depth")
    assert cameras.by_name[VIEW].fault == "it sends depth"


def test_frames_that_are_not_kept_are_not_put_together(
    cameras: Cameras, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here each picture of the wrist is resized, and of four frames one is kept: that of the first, and the newest."""
    resized: list[int] = []
    resize = cv2.resize

    def counted(picture: np.ndarray, *size: Any, **how: Any) -> np.ndarray:
        resized.append(int(picture[0, 0, 0]))
        return resize(picture, *size, **how)

    monkeypatch.setattr(cv2, "resize", counted)
    for step in range(20):
        cameras.add("corner2", 0.05 * step, picture(100 + step), 0.0)
        assert cameras.add("wrist", 0.05 * step, picture(step, 2 * SIZE), 0.0)
    kept = [(0.0, 100, 0), (0.25, 105, 5), (0.5, 110, 10), (0.75, 115, 15), (0.95, 119, 19)]
    for _ in range(2):
        assert levels(cameras) == [(pytest.approx(stamp_s), *both) for stamp_s, *both in kept]
    assert resized == [0, 5, 10, 15, 19]


def test_a_clock_that_begins_anew_clears_both(cameras: Cameras) -> None:
    for stamp_s in (8.0, 0.25):
        cameras.add("corner2", stamp_s, picture(10), 0.0)
        assert cameras.add("wrist", stamp_s, picture(20), 0.0)
    assert levels(cameras) == [(0.25, 10, 20)]


def test_a_picture_of_another_size_is_brought_to_the_firsts() -> None:
    assert side_by_side([picture(10, 16), picture(20, 32)]).shape == (16, 32, 3)
    one = picture(10)
    assert side_by_side([one]) is one


def test_a_skill_that_names_two_cameras_watches_both_together(camera: Any, start: Any) -> None:
    camera.names = ["corner2", "wrist"]
    camera.brightness = 51
    start(manifest={"sensors_required": TWO})
    camera.goal("aa", "open the drawer")
    wait_for(lambda: camera.of_goal("aa"), "a reading")
    assert camera.of_goal("aa")[0].progress == pytest.approx(0.2)
    answer = camera.ask(fresh=True)
    assert (answer.ok, answer.camera) == (True, VIEW)
    assert "there is corner2+wrist" in camera.ask(camera="corner2").message


@pytest.mark.parametrize(
    ("view", "needed", "text"),
    [
        ("corner2+ceiling", TWO, "the scene has no camera 'ceiling'; it has corner2, wrist"),
        ("corner2", TWO, "looks through 2 camera(s), and corner2 has 1; name 2, with + between them"),
        (VIEW, [{"modality": "rgb"}], "looks through 1 camera(s), and corner2+wrist has 2; name 1"),
    ],
)
def test_a_view_that_does_not_fit_ends_the_monitor_with_the_reason(
    start: Any, tmp_path: Any, view: str, needed: list[dict[str, str]], text: str
) -> None:
    process = start({"cameras": view}, manifest={"sensors_required": needed})
    assert process.wait(90) == EXIT_UNFIT
    assert text in (tmp_path / "log.txt").read_text()


def test_weights_for_two_cameras_need_a_manifest_that_names_them(make_reward: Any) -> None:
    package = make_reward({"model_family": "mini", "sensors_required": TWO})
    config = MiniRewardConfig(image_size=32, hidden=16, views=2)
    network = MiniRewardNetwork(config)
    save_network(network, config, package.folder, {})
    model = load_reward_model(package)
    frames = np.random.default_rng(0).integers(0, 255, (3, 24, 64, 3)).astype(np.uint8)
    scores = model.score(frames, "open the drawer")
    assert scores.success.shape == (3,)
    swapped = model.score(np.concatenate([frames[:, :, 32:], frames[:, :, :32]], axis=2), "open the drawer")
    assert not np.allclose(scores.progress, swapped.progress)
    package = make_reward({"model_family": "mini"})
    save_network(network, config, package.folder, {})
    with pytest.raises(PolicyError, match=r"looks through 2 camera\(s\), sensors_required asks for 1"):
        load_reward_model(package)
