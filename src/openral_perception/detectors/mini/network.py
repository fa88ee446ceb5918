"""The network of the small detector: a heat map for each label, and maps of colours and sizes, at a quarter size.

An object is a peak of its label's heat map, as in CenterNet (Zhou et al. 2019, arXiv:1904.07850).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

STRIDE = 4
"""Pixels of the network's input for each cell of its output."""


MOST_PX = 2048
"""[px] Largest `MiniDetectorConfig.image_size`."""


@dataclass(frozen=True)
class MiniDetectorConfig:
    """Shape of the network and meaning of its outputs; the fields of config.json."""

    labels: tuple[str, ...]
    """Names of the heat maps."""
    colours: tuple[str, ...]
    """Names of the colour channels."""
    synonyms: dict[str, list[str]] = field(default_factory=dict)
    """Label -> single words that also stand for it."""
    inward_m: dict[str, float] = field(default_factory=dict)
    """Label -> [m] along the viewing ray, from its visible surface to its position, as in the training images."""
    markers: dict[str, list[str]] = field(default_factory=dict)
    """Label -> colours of its markers (`goal_markers.find_spots`); such a label has no heat map."""
    image_size: int = 128
    """[px] side of the square input; a multiple of 16."""
    width: int = 32
    """Channels at a quarter of the size."""

    def __post_init__(self) -> None:
        """Make tuples of lists.

        Raises:
            ValueError: a field has a value of another kind, as in a config.json that was written by hand.
        """
        fits = {
            "labels": _is_words(self.labels),
            "colours": _is_words(self.colours),
            "synonyms": isinstance(self.synonyms, dict) and all(map(_is_words, self.synonyms.values())),
            "inward_m": isinstance(self.inward_m, dict) and all(map(_is_length, self.inward_m.values())),
            "markers": isinstance(self.markers, dict) and all(map(_is_words, self.markers.values())),
            "image_size": type(self.image_size) is int and self.image_size in range(16, MOST_PX + 1, 16),
        }
        for name, is_right in fits.items():
            if not is_right:
                raise ValueError(f"{name}: {getattr(self, name)!r:.100} is not what it has to be")
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "colours", tuple(self.colours))


class ResidualBlock(nn.Module):
    """Two convolutions with a residual connection."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = _convolution(channels, channels)
        self.second = _convolution(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Return a tensor of the input's shape (B, C, H, W)."""
        changed: Tensor = self.second(self.first(x))
        return x + changed


class MiniDetectorNetwork(nn.Module):
    """Maps images (B, 3, S, S) uint8 to L heat maps, C colour maps and 2 size maps, each (B, S / 4, S / 4)."""

    def __init__(self, config: MiniDetectorConfig) -> None:
        super().__init__()
        self.config = config
        a, b, c = config.width, config.width * 3 // 2, config.width * 2
        self.stem = nn.Sequential(_convolution(3, a // 2, 5, 2), _convolution(a // 2, a, 3, 2))
        self.fine = ResidualBlock(a)
        self.middle = nn.Sequential(_convolution(a, b, 3, 2), ResidualBlock(b))
        self.coarse = nn.Sequential(_convolution(b, c, 3, 2), ResidualBlock(c), ResidualBlock(c))
        self.to_middle = nn.Conv2d(c, b, 1)
        self.to_fine = nn.Conv2d(b, a, 1)
        self.joined = nn.Sequential(ResidualBlock(b), nn.Upsample(scale_factor=2, mode="nearest"))
        last = nn.Conv2d(a, len(config.labels) + len(config.colours) + 2, 1)
        self.head = nn.Sequential(_convolution(a, a), last)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        assert last.bias is not None
        with torch.no_grad():
            last.bias[: len(config.labels)] = -4.0  # logit of a low score, since most cells hold no object

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return heat (B, L, h, w) as logits, colours (B, C, h, w) as logits, and half sizes (B, 2, h, w) in cells."""
        x = pixels.float() / 127.5 - 1.0
        fine = self.fine(self.stem(x))
        middle = self.middle(fine)
        coarse = self.coarse(middle)
        middle = middle + self.to_middle(self.up(coarse))
        fine = fine + self.to_fine(self.joined(middle))
        maps = self.head(fine)
        labels, colours = len(self.config.labels), len(self.config.colours)
        heat, colour, size = torch.split(maps, [labels, colours, 2], dim=1)
        return heat, colour, nn.functional.softplus(size)


def _convolution(before: int, after: int, kernel: int = 3, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(before, after, kernel, stride, kernel // 2, bias=False),
        nn.GroupNorm(4, after),
        nn.ReLU(inplace=True),
    )


def _is_words(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(word, str) for word in value)


def _is_length(value: object) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)
