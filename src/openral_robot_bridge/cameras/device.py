"""A camera that OpenCV opens, read in a thread of its own; one that is unplugged is opened again when it is back."""

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
"""[ms] that a stream may take to open, and for one picture."""
_LOG_LEVEL, _FFMPEG_LOG_LEVEL = "OPENCV_LOG_LEVEL", "OPENCV_FFMPEG_LOGLEVEL"
"""Variables by which a user has OpenCV, and ffmpeg within it, say more."""
_FFMPEG_QUIET = "-8"
PATIENCE_S = 3.0
"""[s] that the thread has to end."""


def shown(device: str) -> str:
    """Return a device as it may stand in a log: without a URL's user, password and query."""
    return re.sub(r"\?.*$", "?…", re.sub(r"(?<=://)[^@/]*@", "…@", device))


class CameraDevice:
    """Reads one device until closed. Both callbacks are called in its thread."""

    def __init__(
        self,
        device: str,
        capture: CaptureMode | None,
        on_picture: Callable[[int, Image], None],
        on_fault: Callable[[str], None],
    ) -> None:
        """Begin to read.

        Args:
            device: see `RealCamera.device`.
            capture: what it is asked for.
            on_picture: called with each picture's time [ns] (wall time, when the device handed it over: exposure and
                transfer are not known) and the picture (H, W, 3) uint8 RGB.
            on_fault: called with why there are no pictures.
        """
        self._device, self._capture = device, capture
        self._on_picture, self._on_fault = on_picture, on_fault
        self._closed = threading.Event()
        _keep_opencv_quiet()
        self._thread = threading.Thread(target=self._run, name=f"camera {shown(device)}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let go of the device."""
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
        opened.set(cv2.CAP_PROP_BUFFERSIZE, 1)  # the newest picture, not one that has waited
        if self._capture is not None:
            opened.set(cv2.CAP_PROP_FRAME_WIDTH, self._capture.width)
            opened.set(cv2.CAP_PROP_FRAME_HEIGHT, self._capture.height)
            opened.set(cv2.CAP_PROP_FPS, self._capture.fps)
        return opened

    def _read(self, opened: cv2.VideoCapture) -> None:
        """Hand on pictures until the device gives none any more."""
        while not self._closed.is_set():
            if not opened.grab():
                self._on_fault(f"{shown(self._device)} gives no pictures any more")
                return
            stamp_ns = time.time_ns()
            taken, picture = opened.retrieve()
            if taken:
                self._on_picture(stamp_ns, cv2.cvtColor(picture, cv2.COLOR_BGR2RGB).astype("uint8"))


def _keep_opencv_quiet() -> None:
    """Have OpenCV and ffmpeg write nothing to the terminal each time a device is tried: `on_fault` is told in words.

    The backend of ffmpeg reads its level from the environment alone, when it opens its first stream.
    """
    if _LOG_LEVEL not in os.environ:
        cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    os.environ.setdefault(_FFMPEG_LOG_LEVEL, _FFMPEG_QUIET)
