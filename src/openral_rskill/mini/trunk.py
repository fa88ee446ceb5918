"""The vision trunk of the `mini` models: a small CNN that is conditioned on the instruction."""

from __future__ import annotations

import torch
from torch import Tensor, nn

CHANNELS = (32, 64, 96, 128)
"""Channels of the convolutions. Four of stride 2 reduce 96 px to 6 × 6 cells; keypoints are taken at 12 × 12."""


class FilmBlock(nn.Module):
    """Convolution, group norm, and a per-channel scale and shift from the sentence (FiLM, Perez et al. 2018)."""

    def __init__(self, channels_in: int, channels_out: int, stride: int, words: int) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(channels_in, channels_out, 3, stride, padding=1)
        self.norm = nn.GroupNorm(8, channels_out, affine=False)
        self.film = nn.Linear(words, 2 * channels_out)
        nn.init.zeros_(self.film.weight)
        nn.init.zeros_(self.film.bias)

    def forward(self, x: Tensor, words: Tensor) -> Tensor:
        """Map (B, C, H, W) to (B, C', H/stride, W/stride), modulated by `words` (B, L)."""
        scale, shift = self.film(words)[:, :, None, None].chunk(2, dim=1)
        return nn.functional.silu(self.norm(self.convolution(x)) * (1 + scale) + shift)


class FilmTrunk(nn.Module):
    """Maps an image and a sentence embedding to a vector of keypoints and pooled features."""

    def __init__(self, sentence_dim: int = 384, words: int = 64, fine: int = 0, pictures: int = 1) -> None:
        """Make a trunk.

        Args:
            sentence_dim: length of the sentence embedding.
            words: length of the vector that the sentence embedding is mapped to.
            fine: number of keypoints at a quarter of the image's resolution, for objects a few pixels wide; 0: none.
            pictures: number of images of the same camera that are stacked as channels.
        """
        super().__init__()
        self.words = nn.Sequential(
            nn.Linear(sentence_dim, words), nn.SiLU(), nn.Linear(words, words), nn.LayerNorm(words)
        )
        stem, *rest = CHANNELS
        self.stem = nn.Conv2d(3 * pictures, stem, 5, 2, padding=2)
        self.blocks = nn.ModuleList(
            FilmBlock(a, b, stride, words)
            for a, b, stride in zip((stem, *rest[:-1]), rest, (2, 2, 1), strict=True)
        )
        self.coarse = FilmBlock(rest[-1], rest[-1], 2, words)
        self.temperature = nn.Parameter(torch.ones(()))
        self.fine = FilmBlock(rest[0], fine, 1, words) if fine else None
        self.out_features = 3 * rest[-1] + 2 * fine + words

    def forward(self, images: Tensor, sentences: Tensor) -> Tensor:
        """Return features (B, out_features).

        Args:
            images: (B, 3 * pictures, H, W) RGB, uint8 or float in 0 to 255.
            sentences: (B, sentence_dim) unit vectors.
        """
        words = self.words(sentences)
        x = nn.functional.silu(self.stem(images.to(self.stem.weight.dtype) / 127.5 - 1.0))
        features = [words]
        for index, block in enumerate(self.blocks):
            x = block(x, words)
            if index == 0 and self.fine is not None:
                features.append(self._keypoints(self.fine(x, words)))
        features += [self.coarse(x, words).mean(dim=(2, 3)), self._keypoints(x)]
        return torch.cat(features[::-1], dim=1)

    def _keypoints(self, x: Tensor) -> Tensor:
        """Return the expected position (B, 2C) of each channel, -1 to 1 (spatial soft-argmax, Levine et al. 2016)."""
        height, width = x.shape[2:]
        logits = x.flatten(2).float() * self.temperature.float()
        weights = torch.softmax(logits, dim=2).reshape(*x.shape[:2], height, width)
        rows = torch.linspace(-1, 1, height, device=x.device)
        columns = torch.linspace(-1, 1, width, device=x.device)
        vertical = (weights.sum(dim=3) * rows).sum(dim=2)
        horizontal = (weights.sum(dim=2) * columns).sum(dim=2)
        return torch.cat([horizontal, vertical], dim=1).to(x.dtype)
