"""A camera that OpenCV opens, read in a thread of its own; after a disconnection it is opened again."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable

import cv2

from openral_core.hardware.real_camera import CaptureMode
from openral_core.types import Image

REOPEN_S = 1.0
"""[s] between two attempts to open a device."""
TIMEOUT_MS = 2000
"""[ms] timeout of opening a stream, and of reading one image."""
_LOG_LEVEL, _FFMPEG_LOG_LEVEL = "OPENCV_LOG_LEVEL", "OPENCV_FFMPEG_LOGLEVEL"
"""Environment variables with the log levels of OpenCV and of ffmpeg within it; values that a user sets are kept."""
_FFMPEG_QUIET = "-8"
"""ffmpeg's AV_LOG_QUIET."""
PATIENCE_S = 3.0
"""[s] for which `close` waits for the thread."""


def shown(device: str) -> str:
    """Return a device for a log, without user, password and query of a URL."""
    return re.sub(r"\?.*$", "?…", re.sub(r"(?<=://)[^/]*@", "…@", device))


class CameraDevice:
    """Reads one device until closed; both callbacks are called in its thread."""

    def __init__(
        self,
        device: str,
        capture: CaptureMode | None,
        on_picture: Callable[[int, Image], None],
        on_fault: Callable[[str], None],
    ) -> None:
        """Start to read.

        Args:
            device: see `RealCamera.device`.
            capture: requested size and rate.
            on_picture: called with the stamp and the image (H, W, 3) uint8 RGB. The stamp is the wall time [ns] at
                which the device delivered the image, as exposure and transfer times are unknown.
            on_fault: called with the reason why there are no images.
        """
        self._device, self._capture = device, capture
        self._on_picture, self._on_fault = on_picture, on_fault
        self._closed = threading.Event()
        _keep_opencv_quiet()
        self._thread = threading.Thread(target=self._run, name=f"camera {shown(device)}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Release the device."""
        self._closed.set()
        self._thread.join(PATIENCE_S)

    def _run(self) -> None:
        while not self._closed.is_set():
            opened = self._open()
            if opened.isOpened():
                self._read(opened)
            else:
                self._on_fault(
                    f"{shown(self._device)} cannot be opened; is it plugged in, and nobody else's?"
                )
            opened.release()
            self._closed.wait(REOPEN_S)

    def _open(self) -> cv2.VideoCapture:
        if "://" in self._device:
            limits = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, TIMEOUT_MS, cv2.CAP_PROP_READ_TIMEOUT_MSEC, TIMEOUT_MS]
            return cv2.VideoCapture(self._device, cv2.CAP_FFMPEG, limits)
        opened = cv2.VideoCapture(int(self._device) if self._device.isdigit() else self._device)
        opened.set(cv2.CAP_PROP_BUFFERSIZE, 1)  # so that no old image is delivered
        if self._capture is not None:
            opened.set(cv2.CAP_PROP_FRAME_WIDTH, self._capture.width)
            opened.set(cv2.CAP_PROP_FRAME_HEIGHT, self._capture.height)
            opened.set(cv2.CAP_PROP_FPS, self._capture.fps)
        return opened

    def _read(self, opened: cv2.VideoCapture) -> None:
        """Pass images on until the device delivers none."""
        while not self._closed.is_set():
            if not opened.grab():
                self._on_fault(f"{shown(self._device)} gives no pictures any more")
                return
            stamp_ns = time.time_ns()
            taken, picture = opened.retrieve()
            if taken:
                self._on_picture(stamp_ns, cv2.cvtColor(picture, cv2.COLOR_BGR2RGB).astype("uint8"))


def _keep_opencv_quiet() -> None:
    """Silence the messages of OpenCV and ffmpeg at each attempt to open a device, as `on_fault` reports the failure.

    OpenCV's ffmpeg backend reads its log level only from the environment, when it opens its first stream.
    """
    if _LOG_LEVEL not in os.environ:
        cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    os.environ.setdefault(_FFMPEG_LOG_LEVEL, _FFMPEG_QUIET)
