"""The network of the `mini` family: one camera, 4-D proprioception, one sentence; out comes an action chunk."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from openral_core.mini.trunk import FilmTrunk


@dataclass(frozen=True)
class MiniConfig:
    """What `config.json` beside the weights says."""

    image_key: str = "observation.images.camera1"
    image_size: int = 96
    """[px] width and height the network sees."""
    state_dim: int = 4
    action_dim: int = 4
    chunk_size: int = 16
    """H"""
    hidden: int = 512
    sentence_dim: int = 384


class MiniNetwork(nn.Module):
    """A FiLM-conditioned CNN with keypoints and an MLP that regresses H actions at once."""

    state_mean: Tensor
    state_std: Tensor

    def __init__(self, config: MiniConfig) -> None:
        super().__init__()
        self.config = config
        self.trunk = FilmTrunk(config.sentence_dim)
        self.register_buffer("state_mean", torch.zeros(config.state_dim))
        self.register_buffer("state_std", torch.ones(config.state_dim))
        self.proprioception = nn.Sequential(nn.Linear(config.state_dim, 64), nn.SiLU())
        self.head = nn.Sequential(
            nn.Linear(self.trunk.out_features + 64, config.hidden),
            nn.SiLU(),
            nn.Linear(config.hidden, config.hidden),
            nn.SiLU(),
            nn.Linear(config.hidden, config.chunk_size * config.action_dim),
        )

    def forward(self, images: Tensor, state: Tensor, sentences: Tensor) -> Tensor:
        """Return actions (B, H, A) in -1..1, H consecutive control steps.

        Args:
            images: (B, 3, S, S) uint8 RGB, S = config.image_size.
            state: (B, D) in the units of the manifest's state contract.
            sentences: (B, 384) unit vectors.
        """
        normalised = (state - self.state_mean) / self.state_std
        features = torch.cat([self.trunk(images, sentences), self.proprioception(normalised)], dim=1)
        actions = torch.tanh(self.head(features))
        return actions.reshape(-1, self.config.chunk_size, self.config.action_dim)
