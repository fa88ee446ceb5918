"""A `mini` reward checkpoint as a RewardModel: load from a folder, score frames."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import torch
from numpy.typing import NDArray

from openral_core.sentence_encoder import SentenceEncoder
from openral_reward_monitor.models.mini.network import MiniRewardConfig, MiniRewardNetwork
from openral_reward_monitor.models.reward_model import RewardScores
from openral_rskill.mini.checkpoint import load_network
from openral_rskill.registry import RSkillPackage


class MiniRewardModel:
    """Scores each frame alone, or together with the first frame if the network was trained so."""

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

    def score(self, frames: NDArray[np.uint8], instruction: str) -> RewardScores:
        """Score T frames, of which the first is the attempt's first.

        Frames (T, H, W, 3) of any size are resized as in training.
        """
        size = self._network.config.image_size
        resized = np.stack(
            [cv2.resize(frame, (size, size), interpolation=cv2.INTER_AREA) for frame in frames]
        )
        pixels = torch.from_numpy(resized).to(self._device).permute(0, 3, 1, 2)
        if self._network.config.before:
            pixels = torch.cat([pixels, pixels[:1].expand_as(pixels)], dim=1)
        words = torch.from_numpy(self._encoder.encode([instruction])).to(self._device)
        progress, success = self._network.score(pixels, words.expand(len(frames), -1))
        return RewardScores(progress=progress.cpu().numpy(), success=success.cpu().numpy())

    def close(self) -> None:
        """Do nothing: this model holds no process."""


def load(package: RSkillPackage, device: str = "cpu") -> MiniRewardModel:
    """Load the checkpoint of a skill of this family (see `load_folder`)."""
    return load_folder(package.weights_path().parent, device)


def load_folder(folder: Path, device: str = "cpu") -> MiniRewardModel:
    """Load the checkpoint in `folder`.

    Raises:
        PolicyError: a file is missing or does not fit the network.
    """
    network = load_network(folder, lambda **fields: MiniRewardNetwork(MiniRewardConfig(**fields)))
    return MiniRewardModel(network, SentenceEncoder(), device)
