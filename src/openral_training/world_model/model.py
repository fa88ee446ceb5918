"""The interface of world models, and its implementation by the small latent model of openral."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from openral_core.errors import ContractError
from openral_core.sentence_encoder import SentenceEncoder
from openral_training.world_model.checkpoint import load_network
from openral_training.world_model.learn_autoencoder import as_images

FRAME = 256
"""[px] side of the square frames that every world model returns."""


@dataclass(frozen=True)
class Prediction:
    """The predicted course of B environments."""

    latents: Tensor
    """(B, H, ...) latents after each action."""
    uncertainty: NDArray[np.float32]
    """(B, H) above 1 where the prediction is not to be trusted; 0 where the model has no measure of it."""


class WorldModel(Protocol):
    """Predicts latents from latents and actions, for a batch of B independent environments.

    A latent is the model's representation of one frame, of a shape (...) of its own.
    """

    condition_frames: int
    """F, past frames that a prediction is conditioned on."""
    chunk: int
    """H, actions of one prediction."""
    action_dim: int
    """A, the length of an action."""
    state_dim: int
    """S, the length of the state that it predicts beside the image; 0: it predicts none."""

    def begin(self, frames: NDArray[np.uint8], states: NDArray[np.float32]) -> Tensor:
        """Return latents (B, ...) of first frames (B, P, P, 3) with their states (B, S).

        Raises:
            ContractError: frames or states are of another shape.
        """
        ...

    def imagine(
        self,
        before: Tensor,
        past_actions: NDArray[np.float32],
        actions: NDArray[np.float32],
        seeds: Sequence[int],
    ) -> Prediction:
        """Return the predicted latents after each of the actions.

        Args:
            before: (B, F, ...) latents of the last frames.
            past_actions: (B, F, A) normalised actions that led to them; zeros where there was none.
            actions: (B, H, A) normalised actions.
            seeds: (B,) of the model's randomness, one for each environment.
        """
        ...

    def frames(
        self, latents: Tensor, first: NDArray[np.uint8], states: NDArray[np.float32], size: int = FRAME
    ) -> NDArray[np.uint8]:
        """Return (B, T, size, size, 3) RGB of latents (B, T, ...) of episodes with these first frames and states."""
        ...

    def states(self, latents: Tensor) -> NDArray[np.float32]:
        """Return (B, T, S) of latents (B, T, ...)."""
        ...

    def success(self, latents: Tensor, instructions: Sequence[str]) -> NDArray[np.float32]:
        """Return (B, H) the probability that the task is solved after each step.

        Args:
            latents: (B, F + H, ...) of the condition frames and the steps.
            instructions: (B,) of the tasks.
        """
        ...


class LatentWorld:
    """The latent model of openral, see `network`."""

    def __init__(self, folder: Path) -> None:
        """Load a world model that `openral train world-model` wrote.

        Raises:
            PolicyError: there is no world model.
            InstallationError: the sentence encoder is missing.
        """
        self.network, self.config = load_network(folder)
        shape = self.network.shape
        self.condition_frames, self.chunk = shape.condition_frames, shape.chunk
        self.action_dim, self.state_dim = shape.action_dim, shape.state_dim
        self._encoder = SentenceEncoder()

    @torch.no_grad()
    def begin(self, frames: NDArray[np.uint8], states: NDArray[np.float32]) -> Tensor:
        """Return latents of first frames."""
        shape = self.network.shape
        if states.shape != (len(frames), shape.state_dim):
            raise ContractError(
                f"states {states.shape} beside {len(frames)} frames; needed {shape.state_dim} numbers each"
            )
        resized = np.stack([resize(frame, shape.size) for frame in frames])
        latents: Tensor = self.network.pictures.encode(as_images(resized))[0]
        return torch.cat([latents, torch.from_numpy(np.require(states, requirements="W"))], -1)

    @torch.no_grad()
    def imagine(
        self,
        before: Tensor,
        past_actions: NDArray[np.float32],
        actions: NDArray[np.float32],
        seeds: Sequence[int],
    ) -> Prediction:
        """Return the prediction of a random member, so that a policy cannot exploit the errors of one."""
        predictions = self.network.predict(before, torch.from_numpy(past_actions), torch.from_numpy(actions))
        picks = torch.tensor([int(np.random.default_rng(seed).integers(len(predictions))) for seed in seeds])
        uncertainty: NDArray[np.float32] = (
            self.network.uncertainty(predictions) / self.config.doubt_limit
        ).numpy()
        return Prediction(predictions[picks, torch.arange(len(picks))], uncertainty)

    @torch.no_grad()
    def frames(
        self, latents: Tensor, first: NDArray[np.uint8], states: NDArray[np.float32], size: int = FRAME
    ) -> NDArray[np.uint8]:
        """Return RGB frames of latents, decoded at the model's size and resized to `size`."""
        (count, length), shape, pictures = latents.shape[:2], self.network.shape, self.network.pictures
        begun = as_images(np.stack([resize(frame, shape.size) for frame in first]))
        images = pictures.decode(
            latents.flatten(0, 1),
            self.begin(first, states).repeat_interleave(length, 0),
            begun.repeat_interleave(length, 0),
        )
        small = ((images.clamp(-1, 1) + 1) * 127.5).round().byte().permute(0, 2, 3, 1).numpy()
        wanted = np.stack([resize(image, size) for image in small])
        return wanted.reshape(count, length, size, size, 3)

    def states(self, latents: Tensor) -> NDArray[np.float32]:
        """Return states of latents."""
        found: NDArray[np.float32] = latents[..., self.network.shape.latent :].numpy()
        return found

    @torch.no_grad()
    def success(self, latents: Tensor, instructions: Sequence[str]) -> NDArray[np.float32]:
        """Return the probability that each task is solved after each step."""
        words = torch.from_numpy(self._encoder.encode(list(instructions)))
        found: NDArray[np.float32] = self.network.success_logits(latents[:, 1:], words).sigmoid().numpy()
        return found


def resize(image: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Return an image (P, P, 3) resized to (size, size, 3)."""
    if len(image) == size:
        return image
    how = cv2.INTER_AREA if len(image) > size else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(image, (size, size), interpolation=how), np.uint8)
