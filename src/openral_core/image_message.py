"""Conversion of camera messages to validated pixels and stamps, and JPEG coding for bags and slow networks."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Collection
from typing import Any

import cv2
import numpy as np

from openral_core.errors import ContractError
from openral_core.message_field_checks import stamp_field
from openral_core.scene import SceneCamera
from openral_core.types import Image

ENCODING = "rgb8"
"""The encoding of all images on openral's graph: (H, W, 3) uint8, RGB, upright."""
ENCODINGS = {
    ENCODING: (3, (0, 1, 2)),
    "bgr8": (3, (2, 1, 0)),
    "rgba8": (4, (0, 1, 2)),
    "bgra8": (4, (2, 1, 0)),
    "mono8": (1, (0, 0, 0)),
}
"""Encodings of real cameras (sensor_msgs/image_encodings.hpp): bytes for each pixel, and the indices of the red, green
and blue ones."""

MAX_AHEAD_S = 10.0
"""[s] by which a stamp may be ahead of the node's clock, since a camera's clock may differ or a clock message be late.
"""
DARK_BELOW = 8.0
"""Mean of the pixels, 0..255, below which an image is dark, as with a covered lens or without light."""
MAX_PIXELS = 2**26
"""Most pixels of a compressed picture; that of a camera with 8192 rows and columns."""
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers that begin a frame, whose header states the size."""
_EVERY = 4
"""Stride of the rows and columns that are averaged to detect darkness."""


def require_size(camera: SceneCamera, width: int, height: int, source: str) -> None:
    """Raise an error unless a size [px] is the scene's; `source` names its origin in the message.

    Raises:
        ContractError: it differs; the text has both sizes.
    """
    if (width, height) != (camera.width, camera.height):
        raise ContractError(
            f"camera '{camera.name}': {source} says {width}x{height}, the scene says {camera.width}x{camera.height} "
            f"{ENCODING}; fix the camera's width and height in the scene, or the camera"
        )


def decode_image(camera: SceneCamera, message: Any, accepted: Collection[str] = (ENCODING,)) -> Image:
    """Return the pixels of a `sensor_msgs/Image` of the scene's size as (H, W, 3) uint8 RGB; see `packed_pixels`.

    Raises:
        ContractError: size, encoding or length are not as in the scene; the text has both.
    """
    width, height, encoding = message.width, message.height, message.encoding
    if encoding in accepted:
        require_size(camera, width, height, "the image")
    packed = packed_pixels(camera.name, width, height, encoding, message.step, message.data, accepted)
    return as_rgb(packed, encoding)


def as_rgb(packed: Image, encoding: str) -> Image:
    """Return pixels (H, W, C) in one of `ENCODINGS` as (H, W, 3) uint8 RGB; those of `rgb8` are not copied.

    A grey value is repeated for all three channels.
    """
    return packed if encoding == ENCODING else np.take(packed, ENCODINGS[encoding][1], axis=2)


def packed_pixels(
    camera: str,
    width: int,
    height: int,
    encoding: str,
    step: int,
    data: bytes | memoryview | array[int] | Image,
    accepted: Collection[str] = tuple(ENCODINGS),
) -> Image:
    """Return the pixels of a `sensor_msgs/Image` as (H, W, C) uint8 in its own encoding; packed rows are not copied.

    Args:
        camera: its name.
        width: [px]
        height: [px]
        encoding: as the message names it.
        step: bytes from one row to the next.
        data: `step * height` bytes.
        accepted: accepted keys of `ENCODINGS`.

    Raises:
        ContractError: the encoding is not accepted, or the length is not that of such an image.
    """
    if encoding not in accepted:
        raise ContractError(
            f"camera '{camera}' sends {width}x{height} {ascii(encoding[:20])[1:-1]}; publish {' or '.join(accepted)}"
        )
    size, _ = ENCODINGS[encoding]
    pixels, row = np.frombuffer(data, np.uint8), size * width
    if min(width, height) < 1 or step < row or pixels.size != step * height:
        raise ContractError(
            f"camera '{camera}': {pixels.size} bytes with a row step of {step} are no {width}x{height} {encoding} "
            f"image; a packed one has {row * height} bytes and a step of {row}"
        )
    return pixels.reshape(height, step)[:, :row].reshape(height, width, size)


def parse_stamp(camera: str, sec: int, nanosec: int, now_s: float) -> float:
    """Return the stamp [s] of a camera's image.

    Args:
        camera: its name.
        sec: [s] field of the stamp.
        nanosec: [ns] field of the stamp.
        now_s: [s] the node's clock; 0: it has not begun to run, so that any stamp is accepted.

    Raises:
        ContractError: the stamp is invalid, or too far ahead of the clock.
    """
    stamp_s = stamp_field(f"camera '{camera}': the stamp", sec, nanosec)
    if is_ahead(stamp_s, now_s):
        raise ContractError(
            f"camera '{camera}': the stamp {stamp_s:.1f} s is {stamp_s - now_s:.1f} s ahead of the clock; stamp "
            f"pictures by the clock of the graph"
        )
    return stamp_s


def is_ahead(stamp_s: float, now_s: float) -> bool:
    """Return whether a stamp [s] is more than `MAX_AHEAD_S` ahead of the clock, and so of another clock."""
    return now_s > 0.0 and stamp_s > now_s + MAX_AHEAD_S


def is_dark(image: Image) -> bool:
    """Return whether an image (H, W, 3) uint8 is dark."""
    return float(image[::_EVERY, ::_EVERY].mean()) < DARK_BELOW


def encode_jpeg(image: Image, quality: int) -> bytes:
    """Return an image (H, W, 3) uint8 RGB as JPEG of a quality from 0 to 100."""
    # Not image[..., ::-1], since OpenCV copies such a view row by row, which takes as long as the encoding.
    bgr = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    _, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return bytes(data)


def decode_compressed(data: bytes | bytearray | memoryview | array[int]) -> Image | None:
    """Return the image (H, W, 3) uint8 RGB of a JPEG or PNG file; None: it cannot be decoded, or has too many pixels.

    Its size is read before it is decoded, since a file of a few bytes may unfold to gigabytes.
    """
    encoded = memoryview(data).cast("B")
    size = picture_size(encoded)
    if size is None or not 0 < size[0] * size[1] <= MAX_PIXELS:
        return None
    try:
        picture = cv2.imdecode(np.frombuffer(encoded, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:  # as of a file whose parts contradict each other
        return None
    return None if picture is None else np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB), np.uint8)


def picture_size(data: memoryview) -> tuple[int, int] | None:
    """Return width and height [px] that a JPEG or PNG file states; None: it is none of the two, or states none.

    Sources: ISO/IEC 15948 (PNG), section 11.2.2; ITU-T T.81 (JPEG), annex B.
    """
    if bytes(data[:8]) == _PNG and bytes(data[12:16]) == b"IHDR" and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return int(width), int(height)
    if bytes(data[:2]) != _JPEG:
        return None
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        marker, length = data[place + 1], int.from_bytes(data[place + 2 : place + 4], "big")
        if marker == 0xFF:  # a fill byte
            place += 1
        elif marker in _FRAMES:
            height, width = struct.unpack(">HH", data[place + 5 : place + 9])
            return int(width), int(height)
        else:
            place += 2 + length
    return None
