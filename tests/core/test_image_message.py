"""Pixels of camera messages, whatever order their bytes have."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from sensor_msgs.msg import Image

from openral_core.errors import ContractError
from openral_core.image_message import ENCODINGS, decode_compressed, decode_image
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


def test_a_compressed_picture_that_says_to_be_larger_than_any_is_none() -> None:
    size = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", size), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")]
    packed = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    ]
    assert decode_compressed(b"\x89PNG\r\n\x1a\n" + b"".join(packed)) is None
    assert decode_compressed(b"") is None
