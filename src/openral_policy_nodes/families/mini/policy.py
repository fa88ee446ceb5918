"""A `mini` checkpoint as a Policy: it is loaded from a folder and predicts chunks in process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.backends import cudnn

from openral_core.errors import PolicyError
from openral_core.sentence_encoder import SentenceEncoder
from openral_core.types import PolicyBatch
from openral_policy_nodes.families.mini.network import MiniConfig, MiniNetwork
from openral_rskill.mini.checkpoint import load_network
from openral_rskill.registry import RSkillPackage
from openral_sidecar.cuda_graph_call import CudaGraphCall, CudaGraphs, Function


class MiniPolicy:
    """Runs a MiniNetwork in float32 on one thread of a CPU, or on a GPU, where it is replayed as a CUDA graph."""

    def __init__(self, network: MiniNetwork, encoder: SentenceEncoder, device: str = "cpu") -> None:
        """Wrap a network.

        Args:
            network: is converted to float32.
            encoder: embeds instructions, with a cache.
            device: torch device.
        """
        self.config = network.config
        self.image_size = network.config.image_size
        self._network = network.float().eval().to(device)
        self._encoder = encoder
        self._device = torch.device(device)
        self._infer: Function = self._actions
        if self._device.type == "cuda":
            self._infer = CudaGraphCall(self._actions, CudaGraphs())

    def reset(self, episodes: Sequence[str]) -> None:
        """Do nothing, since the policy has no state between calls."""

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        """Return action chunks (B, H, A) in the representation of the manifest's action contract.

        Values lie in -1..1, or in the range of the demonstrations where the checkpoint is scaled.

        Raises:
            PolicyError: an image is missing or of another size, or the state is of another length.
        """
        images = np.stack([self._view(batch, key) for key in self.config.cameras], axis=1)
        if batch.state.shape[1:] != (self.config.state_dim,):
            raise PolicyError(f"mini: state {batch.state.shape}; needed (B, {self.config.state_dim})")
        sentences = torch.from_numpy(self._encoder.encode(batch.instructions)).to(self._device)
        pixels = torch.from_numpy(images).to(self._device).permute(0, 1, 4, 2, 3)
        state = torch.from_numpy(batch.state).to(self._device)
        # A GPU would round what it convolves to ten bits (TF32), and act otherwise than a CPU.
        with torch.inference_mode(), cudnn.flags(enabled=True, allow_tf32=False):
            result: NDArray[np.float32] = self._infer(pixels, state, sentences).cpu().numpy()
        return result

    def _actions(self, pixels: Tensor, state: Tensor, sentences: Tensor) -> Tensor:
        """Return the chunks (B, H, A) of the network's arguments, all on its device."""
        actions: Tensor = self._network(pixels, state, sentences).actions
        return actions.float()

    def _view(self, batch: PolicyBatch, key: str) -> NDArray[np.uint8]:
        """Return one camera's images (B, S, S, 3). Raises PolicyError: they are missing or of another shape."""
        size = self.config.image_size
        if key not in batch.images:
            have = ", ".join(batch.images) or "none"
            raise PolicyError(f"mini: the batch has no image '{key}', only {have}")
        images = batch.images[key]
        if images.shape[1:] != (size, size, 3):
            raise PolicyError(f"mini: images '{key}' {images.shape}; needed (B, {size}, {size}, 3)")
        return images

    def close(self) -> None:
        """Do nothing, since the policy holds no resources but memory."""


def load(package: RSkillPackage, device: str = "cpu") -> MiniPolicy:
    """Load the checkpoint of a skill of this family (see `load_folder`)."""
    return load_folder(package.weights_path().parent, device)


def load_folder(folder: Path, device: str = "cpu") -> MiniPolicy:
    """Load the checkpoint in `folder`.

    Raises:
        PolicyError: a file is missing or does not fit the network.
    """
    return MiniPolicy(load_mini(folder), SentenceEncoder(), device)


def load_mini(folder: Path) -> MiniNetwork:
    """Load the network of the checkpoint in `folder`, as float32.

    Raises:
        PolicyError: a file is missing or does not fit the network.
    """
    return load_network(folder, lambda **fields: MiniNetwork(MiniConfig(**fields)))
