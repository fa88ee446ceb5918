"""The newest image of a camera, with its age and rate, and its JPEG, which is encoded on request."""

from __future__ import annotations

import threading
import time
from collections import deque

import cv2
import numpy as np

from openral_core.errors import ContractError
from openral_core.image_message import ENCODINGS
from openral_core.types import Image

QUALITY = 80
"""JPEG quality, 0..100, at which artefacts are not visible at the size of a tile."""
WINDOW = 30
"""Number of images over which the rate is computed."""

_TO_BGR = {
    "rgb8": cv2.COLOR_RGB2BGR,
    "rgba8": cv2.COLOR_RGBA2BGR,
    "bgra8": cv2.COLOR_BGRA2BGR,
}
"""OpenCV conversion of the encodings that it cannot encode directly."""


class CameraFeed:
    """The newest image of one camera. One thread adds images, others read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.count = 0
        """Number of images received."""
        self.fault = ""
        """Why the newest message was no valid image; empty: it was."""
        self._image: Image | None = None
        self._encoding = ""
        self._jpegs: dict[int, bytes] = {}
        """JPEGs of the newest image, by the factor by which it is scaled down."""
        self._times: deque[float] = deque(maxlen=WINDOW)
        self._lock = threading.Lock()

    def add(self, image: Image, encoding: str) -> None:
        """Take a picture.

        Args:
            image: (H, W, C) uint8, C as its encoding has it; it must not be written to afterwards.
            encoding: one of `openral_core.image_message.ENCODINGS`.

        Raises:
            ContractError: the encoding is another, or has another number of channels.
        """
        if encoding not in ENCODINGS:
            raise ContractError(f"encoding {encoding!r} is none of {', '.join(ENCODINGS)}")
        if image.shape[2:] != (channels := ENCODINGS[encoding][:1]):
            raise ContractError(
                f"a picture of shape {image.shape} has not the {channels[0]} channels of {encoding}"
            )
        with self._lock:
            self._image, self._encoding = image, encoding
            self._jpegs = {}
            self.count += 1
            self._times.append(time.monotonic())
            self.fault = ""

    @property
    def age_s(self) -> float:
        """[s] since the newest image was received; infinite if there is none."""
        return time.monotonic() - self._times[-1] if self._times else float("inf")

    @property
    def rate_hz(self) -> float:
        """[Hz] rate of the images, over the newest `WINDOW` of them."""
        times = list(self._times)
        span_s = times[-1] - times[0] if len(times) > 1 else 0.0
        return (len(times) - 1) / span_s if span_s > 0 else 0.0

    @property
    def size(self) -> tuple[int, int]:
        """[px] width and height of the newest picture."""
        return (self._image.shape[1], self._image.shape[0]) if self._image is not None else (0, 0)

    def jpeg(self, width: int) -> bytes:
        """Return the newest image as JPEG, encoded once for all callers; empty: there is none.

        Args:
            width: [px] at which it is shown. A wider image is scaled down by the greatest integer that leaves it at
                least as wide, which costs less than the encoding that it saves.
        """
        with self._lock:
            if self._image is None:
                return b""
            times = max(1, self._image.shape[1] // width)
            if times not in self._jpegs:
                self._jpegs[times] = self._encode(self._image, times)
            return self._jpegs[times]

    def _encode(self, image: Image, times: int) -> bytes:
        if times > 1:
            height, width = (max(1, side // times) for side in image.shape[:2])
            # Without a remainder: where sizes do not divide, OpenCV takes ten times as long.
            image = np.ascontiguousarray(image[: height * times, : width * times])
            image = np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
        ok, data = cv2.imencode(".jpg", self._to_bgr(image), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
        return data.tobytes() if ok else b""

    def _to_bgr(self, image: Image) -> Image:
        """Return the image in an order of channels that OpenCV encodes; it converts faster than numpy's indexing."""
        conversion = _TO_BGR.get(self._encoding)
        return image if conversion is None else np.asarray(cv2.cvtColor(image, conversion), np.uint8)
