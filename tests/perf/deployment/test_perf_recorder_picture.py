"""What one picture costs the recorder and the process that encodes it, in processor time, whoever else is at work."""

from __future__ import annotations

import resource
import time
from array import array
from pathlib import Path

import cv2
import numpy as np
from builtin_interfaces.msg import Time
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image
from std_msgs.msg import Header

from openral_data.recorded_columns import CameraColumn, RecordedColumns
from openral_data.recording.assembler import ExecutedStep
from openral_data.recording.recorder import EpisodeRecorder
from openral_data.recording.strategy import strategy_of
from openral_data.recording_folder import RecordingFolder
from openral_data.ros.intake import MessageIntake
from openral_data.ros.topics import recorded_topics

HEIGHT, WIDTH, FPS, STEPS, FRAMES = 480, 640, 30, 3, 120
BAR_MS = 11.0
"""[ms] of both together: with less, 90 pictures a second take no more than one of two cores."""
COLUMNS = RecordedColumns(
    fps=FPS,
    steps=STEPS,
    cameras=tuple(CameraColumn(f"c{n}", f"observation.images.camera{n}", HEIGHT, WIDTH) for n in (1, 2, 3)),
    joints=("gripper",),
    gripper="gripper",
    action_dim=4,
    robot_type="sawyer",
    scene="fake",
)


def pictures() -> list[bytes]:
    """Return messages in CDR whose picture moves and has the noise of a sensor."""
    rng = np.random.default_rng(0)
    scenery = cv2.GaussianBlur(rng.integers(0, 250, (HEIGHT + 64, WIDTH + 128, 3), np.uint8), (9, 9), 0)
    found = []
    for frame in range(FRAMES):
        x, y = 2 * frame % 128, frame % 64
        moved = scenery[y : y + HEIGHT, x : x + WIDTH] + rng.integers(0, 6, (HEIGHT, WIDTH, 3), np.uint8)
        stamp = Time(sec=frame // FPS, nanosec=round(1e9 * (frame % FPS) / FPS))
        fields = {"height": HEIGHT, "width": WIDTH, "encoding": "rgb8", "step": 3 * WIDTH}
        message = Image(header=Header(stamp=stamp), data=array("B", moved.tobytes()), **fields)
        found.append(serialize_message(message))
    return found


def test_processor_time_of_a_picture(tmp_path: Path, report) -> None:
    messages = pictures()
    folder, strategy = RecordingFolder(tmp_path), strategy_of("episodes")
    recorder = EpisodeRecorder(
        folder, COLUMNS, strategy, truth=None, min_free_gb=0.0, say=lambda line, trouble: None
    )
    intake = MessageIntake(recorder)
    cameras = [
        topic for topic in recorded_topics(COLUMNS) if topic.camera and topic.name.endswith("image_raw")
    ]
    assert recorder.start()[0]
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.process_time()
    for frame, data in enumerate(messages):
        for topic in cameras:
            intake.take(topic, data, 0)
        recorder.assembler.joints(frame / FPS, ["gripper"], [0.05])
        recorder.assembler.pose(frame / FPS, [0.0, 0.6, 0.2, 0.0, 0.0, 0.0, 1.0])
        for step in range(1, STEPS + 1):
            stamp_s = frame / FPS + step / (STEPS * FPS)
            recorder.executed(stamp_s, ExecutedStep(np.zeros(4, np.float32), False, False))
        recorder.tick()
    own = (time.process_time() - begun) / (len(cameras) * FRAMES)
    recorder.close()
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    encoder = (ended.ru_utime + ended.ru_stime - children.ru_utime - children.ru_stime) / (
        len(cameras) * FRAMES
    )
    assert recorder.episodes == 1
    report(
        f"processor time of a picture of {WIDTH}x{HEIGHT}",
        f"recorder {1e3 * own:.2f} ms, encoder {1e3 * encoder:.2f} ms",
        "",
        f"{BAR_MS:g} ms together",
    )
    assert 1e3 * (own + encoder) < BAR_MS
