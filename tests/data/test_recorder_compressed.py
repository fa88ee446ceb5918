"""A recorder that has its pictures as JPEG, as one beyond a thin network does, beside a simulated robot."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import rosbag2_py
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import CompressedImage
from typer.testing import CliRunner

from openral_core.image_message import decode_compressed
from openral_data.commands import app
from openral_data.lerobot_v3 import open_dataset
from openral_data.recording_folder import RecordingFolder

PATIENCE_S = 60.0


def node(module: str, **parameters: object) -> subprocess.Popen[bytes]:
    words = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-m", module, "--ros-args", *words], env=environment)


@pytest.fixture
def recorder(fake_scene: Path, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    bridge = node("openral_sim_bridge.ros.bridge_node", scene=fake_scene)
    recorder = node(
        "openral_data.ros.recorder_node", scene=fake_scene, folder=tmp_path / "recording", compressed="true"
    )
    yield recorder
    for process in (recorder, bridge):
        process.terminate()
        process.wait(PATIENCE_S)


def told(*words: str) -> str:
    result = CliRunner().invoke(app, ["record", *words])
    return result.output


def test_an_episode_is_recorded_from_compressed_pictures(
    recorder: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    assert "recording" in told("start", "--patience", str(PATIENCE_S))
    end = time.monotonic() + PATIENCE_S
    frames = r"recording for [0-9.]+ s, (\d+) frames"
    while (found := re.search(frames, told("status"))) is None or int(found[1]) < 6:
        assert time.monotonic() < end, "it does not record"
    told("stop")
    recorder.terminate()
    assert recorder.wait(PATIENCE_S) == 0
    folder = RecordingFolder(tmp_path / "recording")
    assert len(open_dataset(folder.dataset)) > 5
    [bag] = folder.bags.iterdir()
    reader = rosbag2_py.SequentialReader()
    reader.open(
        rosbag2_py.StorageOptions(uri=str(bag), storage_id="mcap"), rosbag2_py.ConverterOptions("", "")
    )
    sizes = set()
    while reader.has_next():
        topic, data, _ = reader.read_next()
        if topic.endswith("image_raw/compressed"):
            picture = decode_compressed(deserialize_message(data, CompressedImage).data)
            sizes.add(None if picture is None else picture.shape)
    assert sizes == {(48, 64, 3)}
