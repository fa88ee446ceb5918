"""The network of the `mini` family: from cameras, proprioception and a sentence to an action chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from openral_rskill.mini.trunk import FilmTrunk


@dataclass(frozen=True)
class MiniConfig:
    """Configuration of the network, from `config.json` beside the weights."""

    cameras: tuple[str, ...] = ("observation.images.camera1",)
    """Feature keys, in the order of the network's trunks."""
    image_size: int = 96
    """[px] width and height S of the network's images."""
    state_dim: int = 4
    """D, length of the state vector."""
    action_dim: int = 4
    """A, length of an action."""
    chunk_size: int = 16
    """H, control steps of a chunk."""
    hidden: int = 512
    """Width of the head's hidden layers."""
    sentence_dim: int = 384
    """Length of a sentence's embedding."""
    fine: int = 0
    """Number of fine keypoints of each camera, see FilmTrunk."""
    landmarks: int = 0
    """L, number of coordinates of the task's object and target that the network predicts as well; 0: none."""
    proposals: int = 1
    """K, number of chunks that the network proposes at once, of which the likeliest is executed."""
    scaled: bool = False
    """Whether actions lie between the buffers `action_low` and `action_high` instead of in -1..1."""

    def __post_init__(self) -> None:
        """Make `cameras` a tuple, since it is a list in JSON."""
        object.__setattr__(self, "cameras", tuple(self.cameras))


class MiniOutput(NamedTuple):
    """Output of the network for a batch of observations."""

    chunks: Tensor
    """(B, K, H, A) K proposals of H consecutive control steps, in -1..1 or in the range of a scaled network."""
    logits: Tensor
    """(B, K) logits of the proposals' probabilities."""
    landmarks: Tensor | None
    """(B, L) in standard deviations from their mean over the training data; None: the network predicts none."""

    @property
    def actions(self) -> Tensor:
        """(B, H, A) the likeliest proposal of each observation."""
        return likeliest(self.chunks, self.logits)


def head_outputs(config: MiniConfig) -> int:
    """Return the number of outputs of the head, see `proposed`."""
    chunk = config.chunk_size * config.action_dim
    return config.proposals * (chunk + 1) if config.proposals > 1 else chunk


def likeliest(chunks: Tensor, logits: Tensor) -> Tensor:
    """Return the likeliest (B, H, A) of proposals (B, K, H, A), by their logits (B, K)."""
    return chunks[torch.arange(len(chunks), device=chunks.device), logits.argmax(1)]


def proposed(output: Tensor, config: MiniConfig) -> tuple[Tensor, Tensor]:
    """Split the head's output (B, K * H * A + K) into proposals (B, K, H, A) in -1..1 and their logits (B, K).

    With K = 1 the output is (B, H * A), without logits; zeros are returned for these.
    """
    numbers = config.proposals * config.chunk_size * config.action_dim
    chunks = torch.tanh(output[:, :numbers])
    logits = output[:, numbers:] if config.proposals > 1 else output.new_zeros(len(output), 1)
    return chunks.reshape(-1, config.proposals, config.chunk_size, config.action_dim), logits


class MiniNetwork(nn.Module):
    """FiLM-conditioned CNNs with keypoints, and an MLP that proposes K chunks of H actions.

    Demonstrations may continue differently from observations that look alike, such as to lift once more or to pull.
    A single chunk would be the average of these, which often is to stand still; with K proposals each can represent
    one of them.
    """

    state_mean: Tensor
    state_std: Tensor
    landmark_mean: Tensor
    landmark_std: Tensor
    action_low: Tensor
    action_high: Tensor

    def __init__(self, config: MiniConfig) -> None:
        super().__init__()
        self.config = config
        trunks = [FilmTrunk(config.sentence_dim, fine=config.fine) for _ in config.cameras]
        self.trunks = nn.ModuleList(trunks)
        self.register_buffer("state_mean", torch.zeros(config.state_dim))
        self.register_buffer("state_std", torch.ones(config.state_dim))
        self.proprioception = nn.Sequential(nn.Linear(config.state_dim, 64), nn.SiLU())
        width = sum(trunk.out_features for trunk in trunks) + 64
        self.landmarks: nn.Module | None = None
        if config.landmarks:
            self.register_buffer("landmark_mean", torch.zeros(config.landmarks))
            self.register_buffer("landmark_std", torch.ones(config.landmarks))
            self.landmarks = nn.Sequential(nn.Linear(width, 256), nn.SiLU(), nn.Linear(256, config.landmarks))
        if config.scaled:
            self.register_buffer("action_low", -torch.ones(config.action_dim))
            self.register_buffer("action_high", torch.ones(config.action_dim))
        self.width = width + config.landmarks
        """F, number of inputs of the head."""
        self.head = nn.Sequential(
            nn.Linear(self.width, config.hidden),
            nn.SiLU(),
            nn.Linear(config.hidden, config.hidden),
            nn.SiLU(),
            nn.Linear(config.hidden, head_outputs(config)),
        )

    def forward(self, images: Tensor, state: Tensor, sentences: Tensor) -> MiniOutput:
        """Return proposals and landmarks.

        Args:
            images: (B, C, 3, S, S) uint8 RGB, S = config.image_size, C cameras.
            state: (B, D) in the units of the manifest's state contract.
            sentences: (B, 384) unit vectors.
        """
        features, where = self.features(images, state, sentences)
        return MiniOutput(*self.proposals(features), where)

    def features(self, images: Tensor, state: Tensor, sentences: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the head's inputs (B, F) and the landmarks (B, L), if any. Arguments are those of `forward`."""
        normalised = (state - self.state_mean) / self.state_std
        seen = [trunk(images[:, index], sentences) for index, trunk in enumerate(self.trunks)]
        features = torch.cat([*seen, self.proprioception(normalised)], dim=1)
        where = None if self.landmarks is None else self.landmarks(features)
        return (features if where is None else torch.cat([features, where], dim=1)), where

    def proposals(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return proposals (B, K, H, A) from features (B, F), in -1..1 or a scaled network's range; logits (B, K)."""
        chunks, logits = proposed(self.head(features), self.config)
        if self.config.scaled:
            chunks = self.action_low + (chunks + 1) / 2 * (self.action_high - self.action_low)
        return chunks, logits
