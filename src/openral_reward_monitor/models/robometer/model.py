"""A Robometer skill as a RewardModel, which sends a few frames of each attempt to a sidecar."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import PolicyError, SidecarError
from openral_core.manifest import RSkillManifest
from openral_reward_monitor.models.reward_model import RewardScores
from openral_reward_monitor.models.robometer.identity import identity_of
from openral_reward_monitor.models.robometer.sampling import MAX_SIDE, chosen_frames, spread
from openral_reward_monitor.models.robometer.spec import SPEC
from openral_rskill.registry import RSkillPackage
from openral_sidecar.identity import Identity
from openral_sidecar.settings import SidecarSettings
from openral_sidecar.skill_sidecar import skill_sidecar

PATIENCE = 10.0
"""Timeout of a call, in units of the manifest's `latency_budget.per_chunk_ms`, which holds for its own hardware."""
_log = logging.getLogger(__name__)


class RobometerServer(Protocol):
    """The part of `Sidecar` that is used here."""

    @property
    def description(self) -> Mapping[str, Any]:
        """Facts that the server gives of its model, see `RobometerScorer.describe`."""
        ...

    def call(self, op: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Carry out an operation on the server and return its reply."""
        ...

    def close(self) -> None:
        """End the server."""
        ...


class RobometerRewardModel:
    """Sends frames to a server of `openral_reward_monitor.models.robometer.server`."""

    def __init__(self, name: str, server: RobometerServer) -> None:
        """Wrap a server.

        Args:
            name: of the skill, for error messages.
            server: has been started.
        """
        self._name, self._server = name, server
        self._max_frames = int(server.description["max_frames"])

    def score(self, frames: NDArray[np.uint8], instruction: str) -> RewardScores:
        """Score T frames.

        At most eight frames (`MAX_FRAMES`) are sent, evenly spread from the first to the last; the scores of frames
        between them are interpolated. Tokens of the model in the instruction, such as `<|prog_token|>`, are sent as
        plain words, since the scores are read at each such token.
        """
        chosen = chosen_frames(len(frames), self._max_frames)
        shown = np.stack([fitted(frames[index]) for index in chosen])
        try:
            reply = self._server.call("score", {"frames": shown, "task": instruction.replace("<|", "< |")})
        except SidecarError as error:
            raise PolicyError(f"{self._name}: {error}") from error
        progress, success = (np.asarray(reply[head], np.float32) for head in ("progress", "success"))
        return RewardScores(
            progress=spread(progress, chosen, len(frames)), success=spread(success, chosen, len(frames))
        )

    def close(self) -> None:
        """End the server, if it was started for this model; no call follows."""
        self._server.close()


def fitted(frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return an (H, W, 3) frame with no side longer than `MAX_SIDE`."""
    height, width = frame.shape[:2]
    scale = MAX_SIDE / max(height, width)
    if scale >= 1.0:
        return frame
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), np.uint8)


def server_arguments(manifest: RSkillManifest, folder: Path, device: str) -> tuple[list[str], Identity]:
    """Return the server's own arguments for a skill whose checkpoint is in `folder`, and the identity it will have."""
    quantization = manifest.quantization
    packed = "nf4" if quantization.dtype == "int4" else "none"
    arguments = ["--checkpoint", str(folder), "--device", device, "--quantization", packed]
    if (least := quantization.extra.get("min_params_to_quantize")) is not None:
        arguments += ["--min-numel", str(least)]
    return arguments, identity_of(folder, packed)


def load(package: RSkillPackage, device: str = "cpu") -> RobometerRewardModel:
    """Start the sidecar of a skill of this family, or join one that serves the same checkpoint.

    Raises:
        PolicyError: the sidecar does not start; the text says why.
        OpenralError: the weights are missing or may not be used; see `RSkillPackage.checkpoint`.
    """
    manifest = package.manifest
    folder = package.checkpoint().absolute()
    arguments, identity = server_arguments(manifest, folder, device)
    settings = SidecarSettings(call_timeout_s=PATIENCE * manifest.latency_budget.per_chunk_ms / 1000)
    with skill_sidecar(manifest, SPEC, arguments, identity, settings, progress=_log.info) as server:
        bins, stated = server.description["bins"], manifest.reward.num_bins if manifest.reward else 0
        if bins != stated:
            words = "%s: the manifest says num_bins %d, the checkpoint has %d and decides"
            _log.info(words, manifest.name, stated, bins)
        return RobometerRewardModel(manifest.name, server)
