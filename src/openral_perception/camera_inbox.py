"""Pairs colour and depth images of equal stamps, and keeps the newest pair of each camera."""

from __future__ import annotations

import time
from array import array
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_core.types import Image

_ImageT = TypeVar("_ImageT", bound=NDArray[Any])
KEPT = 16
"""Most images of each kind that are kept until the other image of their stamp arrives."""
DEPTH_ENCODING = "32FC1"
"""Image encoding of depth [m] along the optical axis, as float32 (REP 118)."""


@dataclass(frozen=True)
class Lens:
    """Frame, size and pinhole intrinsics of a `camera_info` message."""

    frame: str
    """Name of the optical frame."""
    width: int
    """[px]"""
    height: int
    """[px]"""
    fx: float
    """[px] focal length along u."""
    fy: float
    """[px] focal length along v."""
    cx: float
    """[px] u of the optical axis."""
    cy: float
    """[px] v of the optical axis."""


@dataclass(frozen=True)
class Pair:
    """A colour and a depth image of one stamp."""

    stamp_ns: int
    """[ns]"""
    image: Image
    """(H, W, 3) uint8 RGB"""
    depth: NDArray[np.float32]
    """(H, W) [m]"""
    arrived_s: float = field(default_factory=time.monotonic)
    """[s] on the monotonic clock, when the second of the two arrived."""


class CameraInbox:
    """The newest messages of one camera. Not thread-safe."""

    def __init__(self) -> None:
        self.lens: Lens | None = None
        """Of the newest camera_info; None: none has arrived."""
        self.newest: Pair | None = None
        """The newest pair; None: there has been none."""
        self.fault = ""
        """Why the newest message was dropped; empty: it was not dropped."""
        self._images: OrderedDict[int, Image] = OrderedDict()
        self._depths: OrderedDict[int, NDArray[np.float32]] = OrderedDict()

    def forget(self) -> None:
        """Forget all images; the lens stays."""
        self.newest, self.fault = None, ""
        self._images.clear()
        self._depths.clear()

    def colour(self, stamp_ns: int, image: Image) -> None:
        """Take a colour image (H, W, 3) uint8 RGB, which must not be written to afterwards."""
        _keep(self._images, stamp_ns, image)
        self._meet(stamp_ns)

    def depth(self, stamp_ns: int, depth: NDArray[np.float32]) -> None:
        """Take a depth image (H, W) [m], which must not be written to afterwards."""
        _keep(self._depths, stamp_ns, depth)
        self._meet(stamp_ns)

    def _meet(self, stamp_ns: int) -> None:
        image, depth = self._images.get(stamp_ns), self._depths.get(stamp_ns)
        if image is None or depth is None:
            return
        if image.shape[:2] != depth.shape:
            self.fault = (
                f"colour is {image.shape[1]}x{image.shape[0]}, depth {depth.shape[1]}x{depth.shape[0]}"
            )
            return
        self.newest, self.fault = Pair(stamp_ns, image, depth), ""


def decode_depth(
    camera: str,
    width: int,
    height: int,
    encoding: str,
    step: int,
    big_endian: bool,
    data: memoryview | array[int] | bytes,
) -> NDArray[np.float32]:
    """Return a depth image (H, W) float32 [m] from the fields of its message; it is a copy.

    Raises:
        ContractError: encoding, byte order, size or length of the message are wrong.
    """
    if encoding != DEPTH_ENCODING or big_endian:
        raise ContractError(
            f"camera '{camera}': depth is {ascii(encoding[:20])[1:-1]}{', big endian' if big_endian else ''}; "
            f"publish {DEPTH_ENCODING}, little endian"
        )
    view = np.frombuffer(data, np.uint8)
    if not (0 < width <= 8192 and 0 < height <= 8192) or step < 4 * width or view.size != step * height:
        raise ContractError(
            f"camera '{camera}': {view.size} bytes with a row step of {step} are no {width}x{height} depth image"
        )
    packed = np.ascontiguousarray(view.reshape(height, step)[:, : 4 * width])
    return packed.view("<f4").reshape(height, width).astype(np.float32)


def read_lens(camera: str, frame: str, width: int, height: int, k: NDArray[np.float64]) -> Lens:
    """Return the lens of a camera_info with the intrinsic matrix `k` (9,), row by row.

    Raises:
        ContractError: `k` is not finite, a focal length is not positive, the size is not 1 to 8192 px, or the frame is
            empty or longer than 200 characters.
    """
    fx, fy, cx, cy = (float(k[place]) for place in (0, 4, 2, 5))
    if not np.isfinite(k).all() or fx <= 0.0 or fy <= 0.0 or not (0 < width <= 8192 and 0 < height <= 8192):
        raise ContractError(
            f"camera '{camera}': its camera_info has no valid size or k; send the camera's own"
        )
    if not frame or len(frame) > 200:
        raise ContractError(f"camera '{camera}': its camera_info names no frame; send header.frame_id")
    return Lens(frame, width, height, fx, fy, cx, cy)


def _keep(kept: OrderedDict[int, _ImageT], stamp_ns: int, image: _ImageT) -> None:
    kept[stamp_ns] = image
    while len(kept) > KEPT:
        kept.popitem(last=False)
