"""The network of the `mini` reward family: a frame, the attempt's first one, a sentence; out: progress and success."""

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
    before: bool = False
    """The first frame of the attempt is seen beside the frame that is judged."""


class MiniRewardNetwork(nn.Module):
    """A FiLM-conditioned CNN with keypoints and two logits."""

    def __init__(self, config: MiniRewardConfig) -> None:
        super().__init__()
        self.config = config
        self.trunk = FilmTrunk(config.sentence_dim, fine=config.fine, pictures=1 + config.before)
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
            images: (B, 3, S, S) uint8 RGB, S = config.image_size; with `before` (B, 6, S, S), the first frame after it.
            sentences: (B, 384) unit vectors.
        """
        return self.heads(self.features(images, sentences))

    def features(self, images: Tensor, sentences: Tensor) -> Tensor:
        """Return what the logits are a linear map of, (B, config.hidden); arguments as of `forward`."""
        found: Tensor = self.head[:-1](self.trunk(images, sentences))
        return found

    def heads(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of progress (B,) and of success (B,) for (B, config.hidden) features."""
        progress, success = self.head[-1](features).float().unbind(dim=1)
        return progress, success

    @torch.inference_mode()
    def score(self, images: Tensor, sentences: Tensor) -> tuple[Tensor, Tensor]:
        """Return progress (B,) and success (B,), both in 0..1."""
        progress, success = self(images, sentences)
        return torch.sigmoid(progress), torch.sigmoid(success)
