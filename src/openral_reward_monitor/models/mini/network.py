"""The network of the `mini` reward family: progress and success, from pictures, a sentence and the first pictures."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from openral_rskill.mini.trunk import FilmTrunk

MOST_PX, MOST_VIEWS = 2048, 64
"""Largest `image_size` [px] and `views` of a `MiniRewardConfig`."""


@dataclass(frozen=True)
class MiniRewardConfig:
    """Shape of the network; the fields of `config.json` beside the weights."""

    image_size: int = 96
    """[px] side of the square input."""
    hidden: int = 256
    sentence_dim: int = 384
    fine: int = 0
    """Number of fine keypoints, see FilmTrunk."""
    before: bool = False
    """Whether the first frame of the attempt is an input beside the frame that is scored."""
    views: int = 1
    """V, number of cameras whose pictures of one instant are scored together."""

    def __post_init__(self) -> None:
        """Check what no size of the weights tells.

        Raises:
            ValueError: a number is none that it can be, as in a config.json that was written by hand.
        """
        for name, most in (("image_size", MOST_PX), ("views", MOST_VIEWS)):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= most:
                raise ValueError(f"{name}: {value!r:.100} is no whole number from 1 to {most}")


class MiniRewardNetwork(nn.Module):
    """A FiLM-conditioned CNN with keypoints for each camera, and two logits."""

    def __init__(self, config: MiniRewardConfig) -> None:
        super().__init__()
        self.config = config
        pictures = 1 + config.before
        trunks = [
            FilmTrunk(config.sentence_dim, fine=config.fine, pictures=pictures) for _ in range(config.views)
        ]
        self.trunk, self.other_trunks = trunks[0], nn.ModuleList(trunks[1:])
        self.head = nn.Sequential(
            nn.Linear(config.views * self.trunk.out_features, config.hidden),
            nn.SiLU(),
            nn.Linear(config.hidden, config.hidden),
            nn.SiLU(),
            nn.Linear(config.hidden, 2),
        )

    def forward(self, images: Tensor, sentences: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of progress (B,) and of success (B,).

        Args:
            images: (B, V * 3, S, S) uint8 RGB, S = config.image_size; with `before` (B, V * 6, S, S), in which each
                camera's first frame follows the one that is scored.
            sentences: (B, 384) unit vectors.
        """
        return self.heads(self.features(images, sentences))

    def features(self, images: Tensor, sentences: Tensor) -> Tensor:
        """Return the features (B, config.hidden) of which the logits are a linear map; arguments as for `forward`."""
        trunks = (self.trunk, *self.other_trunks)
        by_view = images.chunk(len(trunks), dim=1)
        seen = [trunk(pictures, sentences) for trunk, pictures in zip(trunks, by_view, strict=True)]
        found: Tensor = self.head[:-1](torch.cat(seen, dim=1))
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
