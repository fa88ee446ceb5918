"""Reads the pixels out of a camera message, after checking them against the scene."""

from __future__ import annotations

from array import array

import numpy as np

from openral_core.errors import ContractError
from openral_core.scene import SceneCamera
from openral_core.types import Image

ENCODING = "rgb8"
"""The one encoding on the graph of openral: (H, W, 3) uint8, RGB, upright."""


def require_size(camera: SceneCamera, width: int, height: int, source: str) -> None:
    """Compare a size [px] with the scene's; `source` says in the message where it comes from.

    Raises:
        ContractError: it is another size; the text holds both.
    """
    if (width, height) != (camera.width, camera.height):
        raise ContractError(
            f"camera '{camera.name}': {source} says {width}x{height}, the scene says {camera.width}x{camera.height} "
            f"{ENCODING}; mend the camera's width and height in the scene, or the camera"
        )


def decode_image(
    camera: SceneCamera,
    width: int,
    height: int,
    encoding: str,
    step: int,
    data: bytes | memoryview | array[int] | Image,
) -> Image:
    """Return the pixels of a `sensor_msgs/Image` as (H, W, 3) uint8 RGB, without a copy where rows are packed.

    Args:
        camera: what the scene says of it.
        width: [px]
        height: [px]
        encoding: as the message names it.
        step: bytes from one row to the next.
        data: `step * height` bytes.

    Raises:
        ContractError: size, encoding or length are not what the scene says; the text holds both.
    """
    if encoding != ENCODING:
        raise ContractError(
            f"camera '{camera.name}' sends {width}x{height} {encoding}, the scene says "
            f"{camera.width}x{camera.height} {ENCODING}; publish {ENCODING}"
        )
    require_size(camera, width, height, "the image")
    pixels = np.frombuffer(data, np.uint8)
    if step < 3 * width or pixels.size != step * height:
        raise ContractError(
            f"camera '{camera.name}': {pixels.size} bytes with a row step of {step} are no {width}x{height} {ENCODING} "
            f"image; a packed one has {3 * width * height} bytes and a step of {3 * width}"
        )
    return pixels.reshape(height, step)[:, : 3 * width].reshape(height, width, 3)
