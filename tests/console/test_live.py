"""What the console keeps of a deployment: pictures, log lines, the robot's shapes."""

from __future__ import annotations

import math
from pathlib import Path

import cv2
import numpy as np
import pytest

from openral_console.live.camera_feed import CameraFeed
from openral_console.live.deployment import MAX_DIAGNOSTICS, MAX_READINGS, LiveDeployment
from openral_console.live.frame_tree import MAX_FRAMES, MAX_NAME, Frames, Pose
from openral_console.live.log_lines import KEPT, LogLines
from openral_console.live.urdf_visuals import MAX_PARTS, read_urdf
from openral_console.live.views import DiagnosticView, ReadingView
from openral_core.errors import ContractError
from openral_core.image_message import packed_pixels

ROBOT = """<robot name="arm"><material name="blue"><color rgba="0 0 1 1"/></material>
<link name="base"><visual><geometry><mesh filename="{mesh}" scale="1 2 3"/></geometry></visual></link>
<link name="hand"><visual><origin xyz="0.1 0 0" rpy="0 0 1.5707963"/>
<geometry><cylinder radius="0.02" length="0.1"/></geometry><material name="blue"/></visual></link></robot>"""


@pytest.mark.parametrize(("encoding", "channels"), [("rgb8", 3), ("bgr8", 3), ("rgba8", 4), ("mono8", 1)])
def test_a_picture_keeps_its_colours(encoding: str, channels: int) -> None:
    image = np.zeros((48, 64, channels), np.uint8)
    image[..., 0] = 200
    feed = CameraFeed("front")
    feed.add(image, encoding)
    red, green, blue = cv2.imdecode(np.frombuffer(feed.jpeg(64), np.uint8), cv2.IMREAD_COLOR)[20, 20, ::-1]
    wanted = {"rgb8": (200, 0, 0), "bgr8": (0, 0, 200), "rgba8": (200, 0, 0), "mono8": (200, 200, 200)}[
        encoding
    ]
    assert np.abs(np.array([red, green, blue], int) - wanted).max() < 12


@pytest.mark.parametrize(
    ("width", "becomes"),
    [(320, (180, 320, 3)), (300, (180, 320, 3)), (1000, (1080, 1920, 3)), (4096, (1080, 1920, 3))],
)
def test_a_picture_is_made_smaller_by_a_whole_number_and_encoded_once(
    width: int, becomes: tuple[int, ...]
) -> None:
    feed = CameraFeed("front")
    feed.add(np.zeros((1080, 1920, 3), np.uint8), "rgb8")
    first = feed.jpeg(width)
    assert cv2.imdecode(np.frombuffer(first, np.uint8), cv2.IMREAD_COLOR).shape == becomes
    assert feed.jpeg(width) is first
    feed.add(np.full((1081, 1923, 3), 200, np.uint8), "rgb8")
    assert feed.jpeg(width) != first
    with pytest.raises(ContractError, match="bayer"):
        feed.add(np.zeros((4, 4, 1), np.uint8), "bayer_rggb8")


@pytest.mark.parametrize(("encoding", "channels"), [("rgb8", 2), ("bgr8", 6), ("rgba8", 3), ("mono8", 3)])
def test_a_picture_of_other_channels_than_its_encoding_is_refused(encoding: str, channels: int) -> None:
    feed = CameraFeed("front")
    with pytest.raises(ContractError, match=encoding):
        feed.add(np.zeros((48, 64, channels), np.uint8), encoding)
    assert (feed.count, feed.jpeg(320)) == (0, b"")


@pytest.mark.parametrize(("encoding", "channels"), [("rgb8", 3), ("bgra8", 4), ("mono8", 1)])
def test_rows_of_a_picture_may_end_in_padding(encoding: str, channels: int) -> None:
    rows = np.arange(2 * 16, dtype=np.uint8).reshape(2, 16)
    pixels = packed_pixels("front", 3, 2, encoding, 16, rows.tobytes())
    assert np.array_equal(pixels, rows[:, : 3 * channels].reshape(2, 3, channels))
    CameraFeed("front").add(pixels, encoding)


def test_no_picture_has_no_age_and_no_rate() -> None:
    feed = CameraFeed("front")
    assert (feed.jpeg(320), feed.age_s, feed.rate_hz) == (b"", math.inf, 0.0)


def test_lines_are_bounded_counted_and_filtered() -> None:
    lines = LogLines()
    for number in range(KEPT + 500):
        lines.add(40 if number % 100 == 0 else 20, "12:00:00", "node", str(number))
    assert lines.count == KEPT + 500
    assert [line.text for line in lines.newest(20, 2)] == ["1498", "1499"]
    assert [line.text for line in lines.newest(40, 3)] == ["1200", "1300", "1400"]
    assert len(lines.newest(10, 10_000)) == KEPT


def test_readings_are_bounded_and_begin_anew_with_the_clock() -> None:
    deployment = LiveDeployment()
    for number in range(MAX_READINGS + 5):
        deployment.add_reading(ReadingView(number, "", "", "", 0.0, 0.0, 0.8, False, ""))
    assert len(deployment.readings) == MAX_READINGS
    deployment.add_reading(ReadingView(1.0, "", "", "", 0.0, 0.0, 0.8, False, ""))
    assert len(deployment.readings) == 1


def test_the_diagnostics_that_were_heard_last_are_kept() -> None:
    deployment = LiveDeployment()
    for number in range(3 * MAX_DIAGNOSTICS):
        names = ("bridge", f"other {number}")
        news = {name: DiagnosticView(float(number), name, 0, "ok", {}) for name in names}
        deployment.add_diagnostics(news)
    kept = deployment.diagnostics
    assert len(kept) == MAX_DIAGNOSTICS
    assert kept["bridge"].received_s == 3 * MAX_DIAGNOSTICS - 1
    assert f"other {3 * MAX_DIAGNOSTICS - 1}" in kept
    assert "other 0" not in kept


def test_a_description_becomes_shapes(tmp_path: Path) -> None:
    mesh = tmp_path / "base.stl"
    mesh.write_bytes(b"\0" * 84)
    robot = read_urdf(ROBOT.format(mesh=mesh.as_uri()))
    (base,), (hand,) = robot.links["base"], robot.links["hand"]
    assert (robot.meshes, robot.missing) == ((mesh,), 0)
    assert (base.kind, base.size, base.mesh) == ("mesh", (1.0, 2.0, 3.0), 0)
    assert (hand.kind, hand.size, hand.color) == ("cylinder", (0.02, 0.1), (0.0, 0.0, 1.0, 1.0))
    np.testing.assert_allclose(hand.pose.rotation(), [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-6)


@pytest.mark.parametrize("mesh", ["file:///etc/passwd", "http://evil.example/a.stl", "package://arm/a.stl"])
def test_a_description_cannot_name_other_files(mesh: str) -> None:
    robot = read_urdf(ROBOT.format(mesh=mesh))
    assert (robot.meshes, robot.missing) == ((), 1)


@pytest.mark.parametrize("mesh", [f"file:///{'x' * 300}.stl", "file://[/a.stl", "file:///a%00.stl"])
def test_a_mesh_that_cannot_be_looked_at_is_missing_and_the_rest_is_drawn(mesh: str) -> None:
    """As one in a folder that this user may not enter."""
    robot = read_urdf(ROBOT.format(mesh=mesh))
    assert (robot.meshes, robot.missing, len(robot.links["hand"])) == ((), 1, 1)


@pytest.mark.parametrize(
    "text",
    [
        "<robot",
        '<robot><link name="a"><visual><geometry><box size="1 1 x"/></geometry></visual></link></robot>',
        f"<robot>{'<link/>' * (MAX_PARTS + 1)}</robot>",
        f"<robot><link>{'<visual/>' * (MAX_PARTS + 1)}</link></robot>",
    ],
    ids=["cut off", "no number", "links", "visuals"],
)
def test_what_is_no_description_or_would_take_all_time_is_refused(text: str) -> None:
    with pytest.raises(ContractError, match="robot_description"):
        read_urdf(text)


def test_frames_of_ever_new_names_are_bounded_and_known_ones_move_on() -> None:
    frames, moved = Frames(), Pose((1.0, 0.0, 0.0))
    frames.update({"hand": ("base", Pose()), "x" * (MAX_NAME + 1): ("base", Pose())})
    for number in range(0, 2 * MAX_FRAMES, 100):
        frames.update({f"frame{n}": ("base", Pose()) for n in range(number, number + 100)})
    frames.update({"hand": ("base", moved), "another": ("base", Pose())})
    assert len(frames.poses) == MAX_FRAMES
    assert frames.poses["hand"] == ("base", moved)
    assert not {"another", "x" * (MAX_NAME + 1)} & set(frames.poses)


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_pose_that_is_not_finite_leaves_its_frame_where_it_was(number: float) -> None:
    frames = Frames()
    frames.update({"hand": ("base", Pose((1.0, 0.0, 0.0)))})
    bad = Pose((number,) * 3, (number,) * 4)
    frames.update({"hand": ("base", bad), "finger": ("hand", bad)})
    assert dict(frames.poses) == {"hand": ("base", Pose((1.0, 0.0, 0.0)))}
