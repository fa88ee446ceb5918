"""Images between messages and arrays, as programs use cv_bridge."""

from __future__ import annotations

from array import array

import cv2
import numpy as np
import pytest
from sensor_msgs.msg import Image
from std_msgs.msg import Header

from cv_bridge import CvBridge, CvBridgeError

PICTURE = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)


@pytest.mark.parametrize(
    ("encoding", "dtype", "channels"),
    [
        ("bgr8", np.uint8, 3),
        ("rgba8", np.uint8, 4),
        ("mono8", np.uint8, 1),
        ("16UC1", np.uint16, 1),
        ("32FC1", np.float32, 1),
        ("64FC3", np.float64, 3),
        ("bayer_rggb8", np.uint8, 1),
    ],
)
def test_an_array_comes_back(encoding: str, dtype: type, channels: int) -> None:
    picture = (np.arange(4 * 6 * channels) % 200).astype(dtype).reshape(4, 6, channels).squeeze()
    message = CvBridge().cv2_to_imgmsg(picture, encoding=encoding, header=Header(frame_id="camera"))
    assert (message.encoding, message.header.frame_id, message.height, message.width) == (
        encoding,
        "camera",
        4,
        6,
    )
    assert np.array_equal(CvBridge().imgmsg_to_cv2(message), picture)


@pytest.mark.parametrize(
    "data",
    [PICTURE.tobytes(), array("B", PICTURE.tobytes()), PICTURE.ravel().copy()],
    ids=["bytes", "array", "numpy"],
)
@pytest.mark.parametrize("encoding", ["bgr8", "passthrough", "rgb8"])
def test_what_a_message_holds_may_be_drawn_on(data: object, encoding: str) -> None:
    message = Image(height=4, width=6, encoding="bgr8", step=18, data=data)
    picture = CvBridge().imgmsg_to_cv2(message, desired_encoding=encoding)
    cv2.rectangle(picture, (0, 0), (2, 2), (1, 2, 3), -1)
    picture[3, 5] = 9
    assert picture[0, 0].tolist() == [1, 2, 3]


def test_a_message_that_others_share_is_not_drawn_on() -> None:
    shared = PICTURE.ravel().copy()
    shared.flags.writeable = False
    picture = CvBridge().imgmsg_to_cv2(Image(height=4, width=6, encoding="bgr8", step=18, data=shared))
    picture[:] = 0
    assert np.array_equal(shared, PICTURE.ravel())


def test_rows_may_be_padded_and_bytes_swapped() -> None:
    padded = Image(height=2, width=2, encoding="mono8", step=3, data=bytes([1, 2, 9, 3, 4, 9]))
    assert CvBridge().imgmsg_to_cv2(padded).tolist() == [[1, 2], [3, 4]]
    swapped = Image(height=1, width=2, encoding="16UC1", is_bigendian=1, step=4, data=b"\x01\x00\x00\x02")
    assert CvBridge().imgmsg_to_cv2(swapped).tolist() == [[256, 2]]


def test_what_makes_no_sense_is_refused() -> None:
    bridge = CvBridge()
    depth = bridge.cv2_to_imgmsg(np.full((2, 2), 655, np.uint16), "16UC1")
    with pytest.raises(CvBridgeError, match="no scale"):
        bridge.imgmsg_to_cv2(depth, "mono8")
    grey = bridge.cv2_to_imgmsg(np.full((2, 2), 65535, np.uint16), "mono16")
    assert bridge.imgmsg_to_cv2(grey, "mono8").tolist() == [[255, 255], [255, 255]]
    for empty in (Image(encoding="rgb8"), Image(encoding="yuv422", width=3, height=1, data=bytes(6))):
        with pytest.raises(CvBridgeError, match="of shape"):
            bridge.imgmsg_to_cv2(empty, "bgr8")
    with pytest.raises(CvBridgeError, match="3 bytes"):
        bridge.imgmsg_to_cv2(Image(height=2, width=2, encoding="mono8", step=2, data=bytes(3)))
    with pytest.raises(CvBridgeError, match="incompatible type"):
        bridge.cv2_to_imgmsg(PICTURE, "mono8")
