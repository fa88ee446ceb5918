"""Pictures as JPEG: what bags keep, and what crosses a thin network."""

from __future__ import annotations

import cv2
import numpy as np

from openral_core.types import Image


def encode_jpeg(image: Image, quality: int) -> bytes:
    """Return a picture (H, W, 3) uint8 RGB as JPEG of a quality from 0 to 100."""
    # Not image[..., ::-1]: OpenCV copies such a view row by row, which takes as long as the encoding.
    bgr = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    _, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return bytes(data)


def decode_picture(data: bytes | bytearray | memoryview) -> Image | None:
    """Return what a JPEG or PNG shows as (H, W, 3) uint8 RGB; None: it is no picture."""
    encoded = np.frombuffer(data, np.uint8)
    picture = cv2.imdecode(encoded, cv2.IMREAD_COLOR) if encoded.size else None
    return None if picture is None else np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB), np.uint8)
