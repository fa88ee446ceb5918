"""Pixels of camera messages, whatever order their bytes have."""

from __future__ import annotations

import struct
import zlib
from array import array

import cv2
import numpy as np
import pytest
from sensor_msgs.msg import Image

from openral_core.errors import ContractError
from openral_core.image_message import ENCODINGS, decode_compressed, decode_image, encode_jpeg
from openral_core.scene import SceneCamera

CAMERA = SceneCamera(name="front", feature_key="front", width=3, height=2)
COLOURS = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
ALPHA = np.full((2, 3, 1), 255, np.uint8)


def message(encoding: str, step: int, data: bytes) -> Image:
    return Image(width=3, height=2, encoding=encoding, step=step, data=data)


@pytest.mark.parametrize(
    ("encoding", "sent", "seen"),
    [
        ("rgb8", COLOURS, COLOURS),
        ("bgr8", COLOURS[:, :, ::-1], COLOURS),
        ("rgba8", np.dstack([COLOURS, ALPHA]), COLOURS),
        ("bgra8", np.dstack([COLOURS[:, :, ::-1], ALPHA]), COLOURS),
        ("mono8", COLOURS[:, :, :1], COLOURS[:, :, :1].repeat(3, axis=2)),
    ],
)
@pytest.mark.parametrize("padding", [0, 5])
def test_every_encoding_becomes_red_green_blue(encoding, sent, seen, padding: int) -> None:
    rows = np.pad(sent.reshape(2, -1), ((0, 0), (0, padding)))
    pixels = decode_image(CAMERA, message(encoding, rows.shape[1], rows.tobytes()), ENCODINGS)
    np.testing.assert_array_equal(pixels, seen)


def test_what_is_not_accepted_and_what_is_too_short_is_refused() -> None:
    with pytest.raises(ContractError, match=r"front.*sends 3x2 bgr8.*publish rgb8$"):
        decode_image(CAMERA, message("bgr8", 9, bytes(18)))
    with pytest.raises(ContractError, match=r"16UC1.*publish rgb8 or bgr8"):
        decode_image(CAMERA, message("16UC1", 6, bytes(12)), ENCODINGS)
    with pytest.raises(ContractError, match=r"18 bytes .* step of 9 .* 3x2 bgra8 .* 24 bytes .* step of 12"):
        decode_image(CAMERA, message("bgra8", 9, bytes(18)), ENCODINGS)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def white_png(width: int, height: int) -> bytes:
    """A PNG of one bit a pixel, of which a megapixel takes about a hundred bytes."""
    rows = zlib.compress((b"\0" + b"\xff" * (width // 8)) * height, 9)
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize("flags", [[], [cv2.IMWRITE_JPEG_PROGRESSIVE, 1], [cv2.IMWRITE_JPEG_RST_INTERVAL, 1]])
def test_a_jpeg_of_any_kind_is_decoded(flags: list[int]) -> None:
    grey = np.full((20, 30, 3), 100, np.uint8)
    packed = cv2.imencode(".jpg", grey, flags)[1].tobytes()
    for data in (packed, array("B", packed), memoryview(packed)):
        picture = decode_compressed(data)
        assert picture is not None
        np.testing.assert_allclose(picture, grey, atol=2)


def test_a_png_is_decoded_and_one_that_unfolds_to_gigabytes_is_not() -> None:
    picture = decode_compressed(white_png(64, 8))
    assert picture is not None
    assert picture.shape == (8, 64, 3)
    assert decode_compressed(white_png(8200, 8200)) is None
    header = struct.pack(">IIBBBBB", 40_000, 40_000, 1, 0, 0, 0, 0)  # more than OpenCV takes, which raises
    assert decode_compressed(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IEND", b"")) is None


@pytest.mark.parametrize("cut", [0, 1, 2, 3, 8, 20, 60])
def test_a_picture_that_is_cut_off_in_its_header_is_none(cut: int) -> None:
    for packed in (encode_jpeg(np.zeros((8, 8, 3), np.uint8), 80), white_png(64, 8)):
        assert decode_compressed(packed[: min(cut, 24)]) is None
