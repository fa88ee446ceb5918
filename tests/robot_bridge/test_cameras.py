"""Real cameras without a graph: pictures in the scene's size, what is said of a feed, and what a scene may say."""

from __future__ import annotations

import itertools
import queue
from typing import Any

import numpy as np
import pytest
import yaml

from openral_core.errors import ContractError, ManifestError
from openral_core.files.share import share_directory
from openral_core.scene import load_scene
from openral_robot_bridge.cameras.camera_check import judge_camera
from openral_robot_bridge.cameras.device import CameraDevice, shown
from openral_robot_bridge.cameras.picture_fit import PictureFit
from openral_robot_bridge.cameras.picture_health import PictureFeed

K = np.array([[300.0, 0.0, 160.0], [0.0, 310.0, 120.0], [0.0, 0.0, 1.0]])


def picture_of(u: int, v: int, width: int = 320, height: int = 240) -> np.ndarray:
    """A picture with one white square around pixel (u, v)."""
    image = np.full((height, width, 3), 20, np.uint8)
    image[v - 6 : v + 7, u - 6 : u + 7] = 255
    return image


@pytest.mark.parametrize("fit", ["crop", "pad", "stretch"])
@pytest.mark.parametrize("size", [(128, 128), (256, 128), (96, 192), (640, 480)])
def test_the_lens_follows_what_becomes_of_the_picture(fit: Any, size: tuple[int, int]) -> None:
    fitter = PictureFit(size, fit)
    lens = fitter.lens(K, 320, 240)
    for u, v in itertools.product((150, 190), (100, 130)):
        fitted = fitter.picture(picture_of(u, v))
        assert fitted.shape == (size[1], size[0], 3)
        rows, columns = np.nonzero(fitted[..., 0] > 128)
        # The ray through the square's middle must meet its middle in the fitted picture, by the fitted lens.
        ray = np.linalg.inv(K) @ np.array([u + 0.5, v + 0.5, 1.0])
        expected = (lens @ ray)[:2]
        assert np.abs(np.array([columns.mean(), rows.mean()]) + 0.5 - expected).max() < 1.2


def test_bars_are_black_and_nothing_is_cut_when_padded() -> None:
    image = np.full((60, 120, 3), 255, np.uint8)
    padded = PictureFit((80, 80), "pad").picture(image)
    assert (padded[:18] == 0).all()
    assert (padded[-18:] == 0).all()
    assert (padded[22:58] == 255).all()
    assert (PictureFit((80, 80), "crop").picture(image) == 255).all()


def test_a_picture_whose_bars_would_fill_the_memory_is_refused() -> None:
    line = np.zeros((1, 200_000, 3), np.uint8)  # 600 kB, and 90 GB with bars
    with pytest.raises(ContractError, match="picture of 200000x1 is too narrow for one of 128x96 with bars"):
        PictureFit((128, 96), "pad").picture(line)
    assert PictureFit((128, 96), "crop").picture(line).shape == (96, 128, 3)


def feed_of(rate_hz: float, seconds: float, image: Any, age_s: float = 0.03) -> PictureFeed:
    feed = PictureFeed("front")
    for index in range(int(rate_hz * seconds)):
        stamp_s = 100.0 + index / rate_hz
        picture = image(index)
        feed.picture(stamp_s, stamp_s + age_s, picture)
    return feed


def noise(index: int) -> np.ndarray:
    return np.random.default_rng(index).integers(0, 255, (24, 32, 3), np.uint8)


def test_a_feed_tells_rate_age_and_what_is_wrong() -> None:
    report = feed_of(30, 3, noise, age_s=0.04).report(103.1)
    assert report.rate_hz == pytest.approx(30, rel=0.01)
    assert report.age_s == pytest.approx(0.04)
    assert report.gap_s == pytest.approx(1 / 30)
    assert (report.size, report.fault, report.frozen, report.dark) == ((32, 24), "", False, False)
    assert "no picture for 2.0 s" in feed_of(30, 3, noise).report(105.0).fault
    assert feed_of(30, 3, lambda index: noise(0)).report(103.0).frozen
    assert feed_of(30, 3, lambda index: np.full((24, 32, 3), index % 3, np.uint8)).report(103.0).dark
    assert PictureFeed("front").report(0.0).fault == "no picture has come"
    early = feed_of(30, 1, noise, age_s=-0.4)
    assert "0.40 s ahead" in early.report(100.6).fault


def test_pictures_whose_stamps_do_not_rise_are_not_passed_on() -> None:
    feed = PictureFeed("front")
    assert feed.picture(10.0, 10.0, noise(0))
    assert not feed.picture(10.0, 10.1, noise(1))
    assert "do not rise" in feed.report(10.1).fault
    assert feed.picture(10.05, 10.1, noise(1))


def test_a_camera_is_judged_by_what_its_scene_promises() -> None:
    scene = load_scene("fr3_tabletop")
    camera = scene.cameras[0]
    rows = judge_camera(scene, camera, feed_of(30, 3, noise).report(103.0))
    assert [row.ok for row in rows] == [True, True, True]
    slow = judge_camera(scene, camera, feed_of(15, 3, noise, age_s=0.4).report(103.4))
    assert [row.ok for row in slow] == [False, False, True]
    [silent] = judge_camera(scene, camera, PictureFeed("front").report(0.0))
    assert not silent.ok
    assert "no picture has come" in silent.found


@pytest.mark.parametrize("device", ["http://127.0.0.1:9/front.mjpg", "/dev/video-none"])
def test_a_camera_that_is_not_there_is_told_once_and_in_words(
    device: str, capfd: pytest.CaptureFixture[str]
) -> None:
    faults: queue.SimpleQueue[str] = queue.SimpleQueue()
    camera = CameraDevice(device, None, lambda stamp, picture: None, faults.put)
    assert faults.get(timeout=30) == f"{device} cannot be opened; is it plugged in, and nobody else's?"
    camera.close()
    assert capfd.readouterr() == ("", "")


def test_what_stands_in_a_url_for_a_password_is_not_shown() -> None:
    assert shown("rtsp://user:secret@camera.local/front?token=1") == "rtsp://…@camera.local/front?…"
    assert shown("/dev/video0") == "/dev/video0"
    assert shown("rtsp://user:p@ss@camera.local/front@2") == "rtsp://…@camera.local/front@2"


@pytest.mark.parametrize(
    ("cameras", "fault"),
    [
        ({"top": {"device": "0"}}, "arm.cameras.top.*is no camera of the scene"),
        ({"²": {"device": "0"}}, "arm.cameras.².*is no camera of the scene"),
        ({"front": {}}, "either a topic or a device"),
        ({"front": {"topic": "/a/image_raw", "device": "0"}}, "either a topic or a device"),
        (
            {"front": {"topic": "/a/image_raw", "capture": {"width": 1, "height": 1, "fps": 1}}},
            "is for a device",
        ),
        ({"front": {"device": "0", "lens": {"fx": 1, "fy": 1, "cx": 1, "cy": 1}}}, "write capture"),
        ({"front": {"topic": "/openral/cameras/front/image_raw"}}, "remove the camera from arm.cameras"),
        (
            {
                "front": {
                    "device": "0",
                    "mount": {"frame": "world", "position": [0, 0, 1], "quaternion": [0, 0, 0, 2]},
                }
            },
            "length 2.000",
        ),
    ],
)
def test_a_scene_that_says_nonsense_about_cameras_is_refused(tmp_path: Any, cameras: Any, fault: str) -> None:
    content = yaml.safe_load((share_directory() / "scenes/robot/fr3_tabletop.yaml").read_text())
    content["arm"]["cameras"] = cameras
    path = tmp_path / "scene.yaml"
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(ManifestError, match=fault):
        load_scene(path)


def test_a_tolerance_in_which_nothing_pairs_is_refused(tmp_path: Any) -> None:
    content = yaml.safe_load((share_directory() / "scenes/robot/fr3_tabletop.yaml").read_text())
    content["arm"]["pairing_s"] = 0.02
    path = tmp_path / "scene.yaml"
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(ManifestError, match=r"pairing_s.*write at least 0.025"):
        load_scene(path)
