"""The network of the `mini` reward family: one frame and one sentence; out come progress and success."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from openral_rskill.mini.trunk import FilmTrunk


@dataclass(frozen=True)
class MiniRewardConfig:
    """What `config.json` beside the weights says."""

    image_size: int = 96
    """[px] width and height the network sees."""
    hidden: int = 256
    sentence_dim: int = 384
    fine: int = 0
    """Fine keypoints, see FilmTrunk."""


class MiniRewardNetwork(nn.Module):
    """A FiLM-conditioned CNN with keypoints and two logits."""

    def __init__(self, config: MiniRewardConfig) -> None:
        super().__init__()
        self.config = config
        self.trunk = FilmTrunk(config.sentence_dim, fine=config.fine)
        self.head = nn.Sequential(
            nn.Linear(self.trunk.out_features, config.hidden),
            nn.SiLU(),
            nn.Linear(config.hidden, config.hidden),
            nn.SiLU(),
            nn.Linear(config.hidden, 2),
        )

    def forward(self, images: Tensor, sentences: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of progress (B,) and of success (B,).

        Args:
            images: (B, 3, S, S) uint8 RGB, S = config.image_size.
            sentences: (B, 384) unit vectors.
        """
        logits: Tensor = self.head(self.trunk(images, sentences))
        progress, success = logits.float().unbind(dim=1)
        return progress, success

    @torch.inference_mode()
    def score(self, images: Tensor, sentences: Tensor) -> tuple[Tensor, Tensor]:
        """Return progress (B,) and success (B,), both in 0..1."""
        progress, success = self(images, sentences)
        return torch.sigmoid(progress), torch.sigmoid(success)
