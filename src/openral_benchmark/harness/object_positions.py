"""Sources of object positions: openral's locator with colour and depth images, or the simulator."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np

from openral_core.errors import OpenralError
from openral_perception.geometry import PinholeCamera
from openral_perception.locator import CameraView, Locator
from openral_perception.truth import SIMULATOR, TruePositions
from openral_reasoner.location_check import FRAME, Point, point_of
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.coordinate_frames import intrinsics


class Grounding(Protocol):
    """Answers `FindThing` commands of the director."""

    def find(self, words: str, stamp_s: float) -> tuple[Point | None, str]:
        """Return the position [m] in the world frame of the object that the words name, or None; and the reason."""
        ...


class LocatorGrounding:
    """Locates objects with openral's locator, through one camera of a simulated world."""

    def __init__(self, backend: Backend, camera: str, locator: Locator) -> None:
        """Take a backend with one world, the name of a camera that is fixed in it, and the locator."""
        self._backend, self._camera, self._locator = backend, camera, locator

    def find(self, words: str, stamp_s: float) -> tuple[Point | None, str]:
        """Return the position from images that are rendered now; see `Grounding.find`."""
        try:
            answer = self._locator.by_words(self._view(stamp_s), words)
        except OpenralError as error:
            return None, str(error)
        covariance = answer.point.covariance.flatten().tolist()
        return point_of(_response(answer.source, answer.point.position.tolist(), covariance))

    def _view(self, stamp_s: float) -> CameraView:
        name = self._camera
        camera, image = self._backend.camera(name), self._backend.render([name])[name][0]
        k = intrinsics(camera)
        model = PinholeCamera(
            camera.width,
            camera.height,
            float(k[0, 0]),
            float(k[1, 1]),
            float(k[0, 2]),
            float(k[1, 2]),
            np.asarray(camera.position),
            np.asarray(camera.rotation),
        )
        return CameraView(name, stamp_s, 0.0, image, self._backend.render_depth([name])[name][0], model)


class TrueGrounding:
    """Returns the simulator's own positions."""

    def __init__(self, backend: Backend) -> None:
        """Take a backend with one world."""
        self._backend = backend

    def find(self, words: str, stamp_s: float) -> tuple[Point | None, str]:
        """Return the simulator's position of the object; see `Grounding.find`."""
        try:
            truth = TruePositions(stamp_s, 0.0, self._backend.object_positions())
            _, position = truth.find(words, stale_after_s=1.0)
        except OpenralError as error:
            return None, str(error)
        return point_of(_response(SIMULATOR, position.tolist(), [0.0] * 9))


def _response(source: str, position: list[float], covariance: list[float]) -> Any:
    """Return an object with the fields of a `Locate` response: position [m], covariance (9,) [m^2] row by row."""
    x, y, z = position
    header = SimpleNamespace(frame_id=FRAME)
    point = SimpleNamespace(header=header, point=SimpleNamespace(x=x, y=y, z=z))
    return SimpleNamespace(ok=True, message="", source=source, point=point, covariance=covariance, age_s=0.0)
