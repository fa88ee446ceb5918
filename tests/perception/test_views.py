"""Depth messages, camera_info, and colour that meets its depth."""

from __future__ import annotations

import numpy as np
import pytest

from openral_core.errors import ContractError
from openral_perception.camera_inbox import KEPT, CameraInbox, decode_depth, read_lens

K = np.array([60.0, 0, 32, 0, 60, 24, 0, 0, 1])


def test_a_depth_message_is_read_without_its_padding():
    rows = np.zeros((3, 20), np.uint8)
    rows[:, :16] = np.arange(12, dtype="<f4").reshape(3, 4).view(np.uint8)
    depth = decode_depth("a", 4, 3, "32FC1", 20, False, rows.tobytes())
    np.testing.assert_array_equal(depth, np.arange(12, dtype=np.float32).reshape(3, 4))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ((4, 3, "16UC1", 16, False, bytes(48)), "publish 32FC1, little endian"),
        ((4, 3, "32FC1", 16, True, bytes(48)), "big endian; publish"),
        ((4, 3, "32FC1", 15, False, bytes(45)), "are no 4x3 depth image"),
        ((4, 3, "32FC1", 16, False, bytes(47)), "47 bytes with a row step of 16"),
        ((0, 3, "32FC1", 16, False, bytes(48)), "are no 0x3"),
        ((2**31, 1, "32FC1", 2**33, False, b""), "are no"),
    ],
)
def test_a_depth_message_that_is_wrong_is_refused(fields, reason):
    with pytest.raises(ContractError, match=reason):
        decode_depth("a", *fields)


def test_colour_meets_the_depth_of_its_stamp_whichever_comes_first():
    inbox = CameraInbox()
    image, depth = np.zeros((3, 4, 3), np.uint8), np.ones((3, 4), np.float32)
    inbox.colour(10, image)
    inbox.depth(11, depth)
    assert inbox.newest is None
    inbox.colour(11, image)
    assert inbox.newest is not None
    assert inbox.newest.stamp_ns == 11
    inbox.colour(12, image)
    inbox.depth(12, depth)
    assert inbox.newest.stamp_ns == 12


def test_colour_that_waits_in_vain_is_forgotten():
    inbox = CameraInbox()
    for stamp in range(KEPT + 1):
        inbox.colour(stamp, np.zeros((3, 4, 3), np.uint8))
    inbox.depth(0, np.ones((3, 4), np.float32))
    assert inbox.newest is None


def test_pictures_of_two_sizes_are_a_fault_until_they_agree():
    inbox = CameraInbox()
    inbox.colour(1, np.zeros((3, 4, 3), np.uint8))
    inbox.depth(1, np.ones((6, 8), np.float32))
    assert inbox.fault == "colour is 4x3, depth 8x6"
    inbox.colour(2, np.zeros((3, 4, 3), np.uint8))
    inbox.depth(2, np.ones((3, 4), np.float32))
    assert inbox.fault == ""


def test_camera_info_gives_the_lens():
    lens = read_lens("a", "a_optical_frame", 64, 48, K)
    assert (lens.fx, lens.fy, lens.cx, lens.cy) == (60.0, 60.0, 32.0, 24.0)


@pytest.mark.parametrize(
    ("frame", "width", "k", "reason"),
    [
        ("", 64, K, "names no frame"),
        ("f", 0, K, "no valid size"),
        ("f", 64, K * np.nan, "no valid"),
        ("f", 64, -K, "k;"),
    ],
)
def test_a_camera_info_that_is_wrong_is_refused(frame, width, k, reason):
    with pytest.raises(ContractError, match=reason):
        read_lens("a", frame, width, 48, k)
