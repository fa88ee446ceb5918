"""An open-vocabulary detector in a sidecar as an ObjectDetector."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError, PolicyError, SidecarError
from openral_perception.detection import Detection
from openral_perception.detectors.zeroshot.spec import SPEC
from openral_rskill.registry import RSkillPackage
from openral_sidecar.identity import Identity
from openral_sidecar.settings import SidecarSettings
from openral_sidecar.skill_sidecar import skill_sidecar

MAX_FOUND = 100
"""Most boxes of one answer that are used."""
SIGMA_SHARE = 0.1
"""Standard deviation of the object's middle about the box's middle, as a share of the box's smaller side."""
PATIENCE = 10.0
"""Timeout of a call, in units of the manifest's `latency_budget.per_chunk_ms`, which holds for its own hardware."""
_log = logging.getLogger(__name__)


class DetectorServer(Protocol):
    """The part of `Sidecar` that is used here."""

    def call(self, op: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Carry out an operation on the server and return its reply."""
        ...

    def close(self) -> None:
        """End the server."""
        ...


class ZeroShotDetector:
    """Sends images to a server of `openral_perception.detectors.zeroshot.server`."""

    def __init__(self, name: str, server: DetectorServer, threshold: float, max_side: int | None) -> None:
        """Wrap a server.

        Args:
            name: source that answers name.
            server: has been started.
            threshold: least score of a detection, 0 to 1.
            max_side: [px] greatest side of an image that is sent; larger ones are scaled down. None: no limit.
        """
        self.name = name
        self._server, self._threshold, self._max_side = server, threshold, max_side

    def find(self, image: NDArray[np.uint8], words: str) -> list[Detection]:
        """Return the objects of an image (H, W, 3) uint8 RGB that fit the words, the highest score first.

        Raises:
            ContractError: `words` is empty.
            PolicyError: the server did not answer, or its reply is malformed.
        """
        if not words.strip():
            raise ContractError("this detector finds what words name; say what to find")
        height, width = image.shape[:2]
        scale = min(1.0, (self._max_side or max(height, width)) / max(height, width))
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        sent = image if scale == 1.0 else np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))
        try:
            reply = self._server.call("find", {"image": sent, "words": words, "threshold": self._threshold})
        except SidecarError as error:
            raise PolicyError(f"{self.name}: {error}") from error
        boxes, scores = self._checked(reply)
        per_pixel = np.array([width / size[0], height / size[1]] * 2)
        limits = np.array([width, height] * 2)
        return [
            self._detection(np.clip(box * per_pixel, 0.0, limits), float(score), words)
            for box, score in zip(boxes, scores, strict=True)
        ]

    def close(self) -> None:
        """End the server that was started for this detector."""
        self._server.close()

    def _checked(self, reply: Mapping[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        try:
            boxes, scores = (np.asarray(reply[key], np.float64)[:MAX_FOUND] for key in ("boxes", "scores"))
        except (KeyError, TypeError, ValueError) as error:
            raise PolicyError(f"{self.name}: the answer has no boxes and scores ({error})") from error
        if boxes.size == 0 and scores.size == 0:
            return np.zeros((0, 4)), np.zeros(0)
        if scores.ndim != 1 or boxes.shape != (len(scores), 4):
            raise PolicyError(
                f"{self.name}: boxes {boxes.shape} and scores {scores.shape}, promised (n, 4), (n,)"
            )
        if not (np.isfinite(boxes).all() and np.isfinite(scores).all()):
            raise PolicyError(f"{self.name}: boxes or scores are not finite")
        return boxes, np.clip(scores, 0.0, 1.0)

    def _detection(self, box: NDArray[np.float64], score: float, words: str) -> Detection:
        left, top, right, bottom = map(float, box)
        return Detection(
            u=(left + right) / 2,
            v=(top + bottom) / 2,
            box=(left, top, right, bottom),
            label=words,
            score=score,
            pixel_sigma=max(1.0, SIGMA_SHARE * min(right - left, bottom - top)),
        )


def load(package: RSkillPackage, device: str = "cpu") -> ZeroShotDetector:
    """Start the sidecar of a detector skill of engine zeroshot_hf, or join one that serves the same checkpoint.

    Raises:
        PolicyError: the sidecar does not start; the text says why.
        OpenralError: the weights are missing or may not be used; see `RSkillPackage.checkpoint`.
    """
    manifest, section = package.manifest, package.manifest.detector
    assert section is not None, "the schema gives every manifest of kind detector its section"
    folder = str(package.checkpoint().absolute())
    settings = SidecarSettings(call_timeout_s=PATIENCE * manifest.latency_budget.per_chunk_ms / 1000)
    arguments = ["--checkpoint", folder, "--device", device]
    with skill_sidecar(manifest, SPEC, arguments, Identity(folder), settings, progress=_log.info) as server:
        return ZeroShotDetector(manifest.short_name, server, section.score_threshold, section.max_side)
