"""The camera bridge as a process: a camera's own topics and a network camera, as the rest of the graph sees them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import rclpy
import yaml
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from sensor_msgs.msg import CameraInfo, CompressedImage, Image
from tf2_msgs.msg import TFMessage
from typer.testing import CliRunner

from openral_core.files.share import share_directory
from openral_core.guarded_callbacks import EXIT_UNFIT
from openral_core.image_message import decode_compressed
from openral_core.scene import load_scene
from openral_robot_bridge.commands import app
from openral_robot_bridge.ros import camera_node
from openral_robot_bridge.ros.camera_watch import watch_cameras
from openral_robot_bridge.twins.camera_server import CameraServer

DOMAIN = int(os.environ["ROS_DOMAIN_ID"])
LATCHED = QoSProfile(depth=10, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
EVERY = QoSProfile(depth=100, reliability=QoSReliabilityPolicy.BEST_EFFORT)
SENDING_HZ = 30.0


class Drivers:
    """A RealSense-like topic in bgr8 with its CameraInfo, the same compressed, and a network camera."""

    def __init__(self) -> None:
        self.context = rclpy.Context()
        self.context.init(domain_id=DOMAIN)
        self.node = rclpy.create_node("drivers", context=self.context)
        make = self.node.create_publisher
        self._image = make(Image, "/camera/color/image_raw", 10)
        self._info = make(CameraInfo, "/camera/color/camera_info", 10)
        self._other_info = make(CameraInfo, "/usb_cam/camera_info", 10)
        self._compressed = make(CompressedImage, "/usb_cam/image_raw/compressed", 10)
        self.server = CameraServer("127.0.0.1", 0, ["wrist"])
        self.heard: dict[str, list[Any]] = {}
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.stamps: set[tuple[int, int]] = set()
        self.dark = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def listen(self, kind: Any, topic: str, qos: Any = EVERY) -> None:
        self.heard[topic] = []
        self.node.create_subscription(kind, topic, self.heard[topic].append, qos)

    def until(self, condition: Any, what: str) -> None:
        end = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < end, f"waited in vain: {what}"
            self.executor.spin_once(timeout_sec=0.05)

    def plug_in(self, port: int) -> None:
        self.server = CameraServer("127.0.0.1", port, ["wrist"])

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self.server.close()
        self.node.destroy_node()
        self.context.try_shutdown()

    def _run(self) -> None:
        noise = np.random.default_rng(0)
        while not self._over.wait(1 / SENDING_HZ):
            now = time.time_ns() - 20_000_000
            stamp = Time(sec=now // 10**9, nanosec=now % 10**9)
            self.stamps.add((stamp.sec, stamp.nanosec))
            image = noise.integers(0, 4, (120, 160, 3), np.uint8)
            if not self.dark:
                image[..., 2] += 200  # red, in bgr8
            message = Image(height=120, width=160, encoding="bgr8", step=480, data=image.tobytes())
            message.header.stamp = stamp
            self._image.publish(message)
            info = CameraInfo(height=120, width=160, distortion_model="plumb_bob", d=[0.0] * 5)
            info.k = [150.0, 0.0, 80.0, 0.0, 150.0, 60.0, 0.0, 0.0, 1.0]
            info.header.stamp = stamp
            self._info.publish(info)
            info.height, info.width = 240, 320  # what another mode of the camera was calibrated for
            self._other_info.publish(info)
            packed = CompressedImage(
                format="rgb8; jpeg compressed bgr8", data=cv2.imencode(".jpg", image)[1].tobytes()
            )
            packed.header.stamp = stamp
            self._compressed.publish(packed)
            self.server.show("wrist", np.ascontiguousarray(image[..., ::-1]))


def write_scene(folder: Path, device: str) -> Path:
    """The scene of the FR3 with three real cameras, and an arm that does what it is told."""
    content = yaml.safe_load((share_directory() / "scenes/robot/fr3_tabletop.yaml").read_text())
    options = content["scene"]["backend_options"]
    options["model"] = str((share_directory() / "scenes/robot" / options["model"]).resolve())
    content["scene"]["observation_height"] = content["scene"]["observation_width"] = 64
    content["scene"]["cameras"].append({"name": "side", "rate_hz": 20})
    content["arm"]["driver"] = "fake"
    content["arm"]["cameras"] = {
        "front": {
            "topic": "/camera/color/image_raw",
            "mount": {"frame": "world", "position": [1.0, 0.0, 0.5], "quaternion": [0.0, 0.0, 0.0, 1.0]},
        },
        "side": {"topic": "/usb_cam/image_raw/compressed"},
        "wrist": {
            "device": device,
            "capture": {"width": 160, "height": 120, "fps": 30},
            "lens": {"fx": 150, "fy": 150, "cx": 80, "cy": 60},
        },
    }
    path = folder / "scene.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture(scope="module")
def drivers() -> Iterator[Drivers]:
    made = Drivers()
    yield made
    made.close()


@pytest.fixture(scope="module")
def bridge(drivers: Drivers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    scene = write_scene(tmp_path_factory.mktemp("cameras"), drivers.server.url("wrist"))
    for name in ("front", "side", "wrist"):
        drivers.listen(Image, f"/openral/cameras/{name}/image_raw")
        drivers.listen(CameraInfo, f"/openral/cameras/{name}/camera_info")
    drivers.listen(TFMessage, "/tf_static", LATCHED)
    drivers.listen(DiagnosticArray, "/diagnostics")
    command = [
        sys.executable,
        "-m",
        "openral_robot_bridge.ros.camera_node",
        "--ros-args",
        "-p",
        f"scene:={scene}",
    ]
    process = subprocess.Popen(command)
    yield scene
    process.terminate()
    assert process.wait(90) == 0


def statuses(drivers: Drivers, name: str) -> list[Any]:
    found = [status for message in drivers.heard["/diagnostics"] for status in message.status]
    return [status for status in found if status.name == f"openral/camera_bridge: {name}"]


def test_every_camera_comes_in_the_scenes_size_with_its_own_stamps(drivers: Drivers, bridge: Path) -> None:
    pictures = {
        name: drivers.heard[f"/openral/cameras/{name}/image_raw"] for name in ("front", "side", "wrist")
    }
    drivers.until(lambda: all(len(heard) >= 10 for heard in pictures.values()), "pictures of all cameras")
    for name, heard in pictures.items():
        last = heard[-1]
        assert (last.height, last.width, last.encoding, last.step) == (64, 64, "rgb8", 192)
        assert last.header.frame_id == f"{name}_optical_frame"
        red, green, blue = np.frombuffer(last.data, np.uint8).reshape(-1, 3).mean(axis=0)
        assert red > 150 > 50 > max(green, blue)
        stamps = [(picture.header.stamp.sec, picture.header.stamp.nanosec) for picture in heard]
        assert stamps == sorted(set(stamps))
        assert abs(stamps[-1][0] - time.time()) < 60
        if name != "wrist":
            assert set(stamps) <= drivers.stamps


def test_pictures_of_a_real_camera_come_as_jpeg_for_whoever_asks(drivers: Drivers, bridge: Path) -> None:
    topic = "/openral/cameras/front/image_raw"
    drivers.listen(CompressedImage, f"{topic}/compressed")
    packed = drivers.heard[f"{topic}/compressed"]
    drivers.until(lambda: len(packed) > 3, "compressed pictures")
    shown = decode_compressed(packed[-1].data)
    assert shown.shape == (64, 64, 3)
    red, green, blue = shown.reshape(-1, 3).mean(axis=0)
    assert red > 150 > 50 > max(green, blue)
    stamps = [message.header.stamp for message in packed]
    assert packed[-1].header.frame_id == "front_optical_frame"
    assert {(stamp.sec, stamp.nanosec) for stamp in stamps} <= drivers.stamps


def test_lens_and_mount_fit_the_pictures(drivers: Drivers, bridge: Path) -> None:
    for name in ("front", "wrist"):
        infos = drivers.heard[f"/openral/cameras/{name}/camera_info"]
        drivers.until(lambda infos=infos: infos, f"camera_info of {name}")
        # The middle 120 of 160 columns, scaled by 64 / 120.
        assert np.allclose(infos[-1].k, [80.0, 0.0, 32.0, 0.0, 80.0, 32.0, 0.0, 0.0, 1.0])
        assert (infos[-1].width, infos[-1].height) == (64, 64)
    assert not drivers.heard["/openral/cameras/side/camera_info"]
    drivers.until(lambda: statuses(drivers, "side"), "what is said of the lens")
    drivers.until(
        lambda: "lens is described for 320x240" in statuses(drivers, "side")[-1].message, "the lens"
    )
    drivers.until(lambda: drivers.heard["/tf_static"], "the mount")
    [frame] = drivers.heard["/tf_static"][-1].transforms
    assert (frame.header.frame_id, frame.child_frame_id) == ("world", "front_optical_frame")
    assert frame.transform.translation.x == 1.0


def test_a_dark_picture_and_an_unplugged_camera_are_told_and_it_comes_back(
    drivers: Drivers, bridge: Path
) -> None:
    drivers.until(
        lambda: any(status.message == "pictures come" for status in statuses(drivers, "wrist")), "wrist"
    )
    drivers.dark = True
    drivers.until(lambda: "dark" in statuses(drivers, "front")[-1].message, "a dark picture")
    drivers.dark = False
    port = drivers.server.port
    drivers.server.close()
    drivers.until(lambda: statuses(drivers, "wrist")[-1].level == b"\x02", "a lost camera")
    assert "127.0.0.1" in statuses(drivers, "wrist")[-1].message
    assert statuses(drivers, "front")[-1].level != b"\x02"
    drivers.plug_in(port)
    drivers.until(lambda: statuses(drivers, "wrist")[-1].level != b"\x02", "the camera's return")


@pytest.mark.slow
def test_check_watches_the_cameras(drivers: Drivers, bridge: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openral_robot_bridge.commands.CAMERAS_WATCHED_S", 2.5)
    result = CliRunner().invoke(app, ["check", str(bridge)])
    for name in ("front", "side", "wrist"):
        assert f"camera {name}, age" in result.output
        assert f"camera {name}, picture" in result.output
    assert "160x120" in result.output
    drivers.server.close()
    assert "cannot be opened" in watch_cameras(load_scene(bridge), 1.0)["wrist"].fault


def test_a_scene_without_real_cameras_is_unfit(capfd: pytest.CaptureFixture[str]) -> None:
    assert camera_node.main([]) == EXIT_UNFIT
    assert "has no arm.cameras" in "".join(capfd.readouterr())
