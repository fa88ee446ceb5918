"""A `mini` reward checkpoint as a RewardModel: load from a folder, score frames."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from openral_core.errors import PolicyError
from openral_core.sentence_encoder import SentenceEncoder
from openral_reward_monitor.camera_views import cameras_needed
from openral_reward_monitor.models.mini.network import MiniRewardConfig, MiniRewardNetwork
from openral_reward_monitor.models.reward_model import RewardScores
from openral_rskill.mini.checkpoint import load_network
from openral_rskill.registry import RSkillPackage


class MiniRewardModel:
    """Scores each frame alone, or together with the first one if the network was trained so."""

    def __init__(self, network: MiniRewardNetwork, encoder: SentenceEncoder, device: str = "cpu") -> None:
        """Wrap a network.

        Args:
            network: its weights are kept in float32 for inference.
            encoder: turns instructions into vectors, which it caches.
            device: torch device.
        """
        # For eight small frames threads cost more than they gain, above all where other processes need the cores.
        torch.set_num_threads(1)
        self._network = network.float().eval().to(device)
        self._encoder = encoder
        self._device = torch.device(device)

    @property
    def views(self) -> int:
        """Number of cameras whose pictures make a frame."""
        return self._network.config.views

    def score(self, frames: NDArray[np.uint8], instruction: str) -> RewardScores:
        """Score T frames, of which the first is the attempt's first.

        Frames (T, H, V * W, 3) hold the pictures of V cameras side by side, which are resized as in training.
        """
        config = self._network.config
        shown = [
            self._pixels(pictures, config.image_size) for pictures in np.split(frames, config.views, axis=2)
        ]
        if config.before:
            shown = [torch.cat([pixels, pixels[:1].expand_as(pixels)], dim=1) for pixels in shown]
        pixels = torch.cat(shown, dim=1)
        words = torch.from_numpy(self._encoder.encode([instruction])).to(self._device)
        progress, success = self._network.score(pixels, words.expand(len(frames), -1))
        return RewardScores(progress=progress.cpu().numpy(), success=success.cpu().numpy())

    def _pixels(self, pictures: NDArray[np.uint8], size: int) -> Tensor:
        """Return (T, 3, size, size) uint8 of T pictures of any size."""
        resized = np.stack(
            [cv2.resize(picture, (size, size), interpolation=cv2.INTER_AREA) for picture in pictures]
        )
        return torch.from_numpy(resized).to(self._device).permute(0, 3, 1, 2)

    def close(self) -> None:
        """Do nothing: this model holds no process."""


def load(package: RSkillPackage, device: str = "cpu") -> MiniRewardModel:
    """Load the checkpoint of a skill of this family (see `load_folder`).

    Raises:
        PolicyError: a file is missing or does not fit the network, or the manifest asks for other cameras than it.
    """
    model = load_folder(package.weights_path().parent, device)
    asked, seen = cameras_needed(package.manifest), model.views
    if asked != seen:
        raise PolicyError(
            f"{package.folder}: the network looks through {seen} camera(s), sensors_required asks for {asked}; "
            "give each camera an entry with its vla_feature_key"
        )
    return model


def load_folder(folder: Path, device: str = "cpu") -> MiniRewardModel:
    """Load the checkpoint in `folder`.

    Raises:
        PolicyError: a file is missing or does not fit the network.
    """
    network = load_network(folder, lambda **fields: MiniRewardNetwork(MiniRewardConfig(**fields)))
    return MiniRewardModel(network, SentenceEncoder(), device)
