"""A folder of RLinf's layout as a world model: `model-00001.safetensors`, `vae/`, `resnet_rm.safetensors`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from openral_core.errors import InstallationError, PolicyError
from openral_training.world_model.learn_autoencoder import as_images
from openral_training.world_model.model import FRAME, Prediction, resize
from openral_training.world_model.opensora.flow import follow, noise_of, times_of
from openral_training.world_model.opensora.reward import load_frame_reward
from openral_training.world_model.opensora.transformer import VideoShape, VideoTransformer

WEIGHTS, VAE, REWARD = "model-00001.safetensors", "vae", "resnet_rm.safetensors"
STEPS = 30
"""Integration steps of the flow for each chunk."""
UNUSED = ("y_embedder.", "fps_embedder.", "pos_embed.")
"""Prefixes of unused weights: those for text and frame rate, and the positions, which are computed."""


class OpenSoraWorld:
    """A WorldModel with latents (B, T, C, h, w) and no state beside the image."""

    condition_frames, chunk, state_dim = 4, 8, 0

    def __init__(self, folder: Path, *, steps: int = STEPS) -> None:
        """Load a world model.

        Args:
            folder: of the world model.
            steps: integration steps of the flow for each chunk.

        Raises:
            PolicyError: a file is missing or has other tensors.
            InstallationError: the library of the autoencoder is missing.
        """
        self._steps = steps
        self._network = load_transformer(folder / WEIGHTS)
        self._vae = _load_vae(folder / VAE)
        self._reward = load_frame_reward(folder / REWARD)
        self.action_dim = self._network.shape.action_dim

    @torch.no_grad()
    def begin(self, frames: NDArray[np.uint8], states: NDArray[np.float32]) -> Tensor:
        """Return latents of first frames."""
        images = as_images(np.stack([resize(frame, FRAME) for frame in frames]))
        latents: Tensor = self._vae.encode(images).latent_dist.mode() * self._vae.config.scaling_factor
        return latents

    def imagine(
        self,
        before: Tensor,
        past_actions: NDArray[np.float32],
        actions: NDArray[np.float32],
        seeds: Sequence[int],
    ) -> Prediction:
        """Return the prediction; the model does not use past actions and has no measure of uncertainty."""
        conditions = torch.from_numpy(actions)
        _, frames, channels, height, width = before.shape
        noise = noise_of((channels, self.chunk, height, width), seeds)
        times = times_of(self._steps, FRAME, frames + self.chunk)
        after = follow(
            lambda latents, clock: self._network(latents, clock, conditions, FRAME),
            before.transpose(1, 2),
            noise,
            times,
        )
        return Prediction(after.transpose(1, 2), np.zeros((len(before), self.chunk), np.float32))

    @torch.no_grad()
    def frames(
        self, latents: Tensor, first: NDArray[np.uint8], states: NDArray[np.float32], size: int = FRAME
    ) -> NDArray[np.uint8]:
        """Return RGB frames of latents; the first frames and states are not used."""
        flat = self._images(latents)
        seen = ((flat.clamp(-1, 1) + 1) * 127.5).round().byte().permute(0, 2, 3, 1).numpy()
        return np.stack([resize(frame, size) for frame in seen]).reshape(*latents.shape[:2], size, size, 3)

    def states(self, latents: Tensor) -> NDArray[np.float32]:
        """Return states of latents, which have the length 0."""
        return np.zeros((*latents.shape[:2], 0), np.float32)

    @torch.no_grad()
    def success(self, latents: Tensor, instructions: Sequence[str]) -> NDArray[np.float32]:
        """Return the probability of success after each step; RLinf's reward model uses one frame and not the task."""
        new = latents[:, -self.chunk :]
        likelihood: NDArray[np.float32] = self._reward(self._images(new)).numpy()
        return likelihood.reshape(new.shape[:2])

    def _images(self, latents: Tensor) -> Tensor:
        """Return decoded images (B T, 3, P, P), about -1..1."""
        found: Tensor = self._vae.decode(latents.flatten(0, 1) / self._vae.config.scaling_factor).sample
        return found


def load_transformer(path: Path) -> VideoTransformer:
    """Read a transformer, whose shape is that of its tensors.

    Raises:
        PolicyError: the file is missing, or not of this form.
    """
    try:
        tensors = _renamed(load_file(path))
        network = VideoTransformer(_shape_of(tensors))
        turns = tensors.pop("turns", None)
        network.load_state_dict(tensors)
        if turns is not None:
            network.turns.copy_(turns)
    except (
        OSError,
        SafetensorError,
        LookupError,
        ValueError,
        TypeError,
        ArithmeticError,
        StopIteration,
        RuntimeError,
    ) as error:
        why = " ".join(str(error).split())[:200]
        raise PolicyError(f"{path}: not an OpenSora transformer told actions ({why})") from error
    return network.eval()


def _renamed(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors that are used, as float32, with the names of `transformer`.

    The encoder of actions is found by its layers `fc`, since its name in checkpoints is not documented.
    """
    used = {
        name: value.float()
        for name, value in tensors.items()
        if not name.startswith(UNUSED) and ".cross_attn." not in name
    }
    encoder = next(name for name in used if name.endswith(".fc.0.weight")).removesuffix("fc.0.weight")
    out: dict[str, Tensor] = {}
    for name, value in used.items():
        if name == "rope.freqs" or name.endswith("attn.rope.freqs"):
            out["turns"] = value
        elif not name.startswith(encoder):
            out[name] = value
        elif name.startswith(f"{encoder}fc."):
            out[f"action_embedder.{name.removeprefix(encoder)}"] = value
        else:  # the only other tensor is the token of frames without an action
            out["action_embedder.none"] = value.reshape(1, -1)
    return out


def _shape_of(tensors: Mapping[str, Tensor]) -> VideoShape:
    width, channels = tensors["x_embedder.proj.weight"].shape[:2]
    depth = sum(
        name.startswith("spatial_blocks.") and name.endswith(".scale_shift_table") for name in tensors
    )
    return VideoShape(
        channels=channels,
        width=width,
        depth=depth,
        heads=width // len(tensors["spatial_blocks.0.attn.q_norm.weight"]),
        action_dim=tensors["action_embedder.fc.0.weight"].shape[1],
        hidden_ratio=len(tensors["spatial_blocks.0.mlp.fc1.bias"]) / width,
    )


def _load_vae(folder: Path) -> Any:
    try:
        from diffusers import AutoencoderKL
    except ImportError as error:
        raise InstallationError(
            f"{folder}: the library of its autoencoder is missing: pip install 'openral[opensora]'"
        ) from error
    try:
        load: Any = AutoencoderKL.from_pretrained
        return load(folder, use_safetensors=True, local_files_only=True).eval()
    except (OSError, ValueError, RuntimeError) as error:
        raise PolicyError(f"{folder}: not an autoencoder of diffusers in safetensors ({error})") from error
