"""A policy family of your own: a network in PyTorch, from the skill's numbers to its actions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file

from openral_core.errors import PolicyError
from openral_core.types import PolicyBatch
from openral_rskill.package import RSkillPackage


def network(state: int, chunk: int, action: int) -> torch.nn.Module:
    """Return a small network from the state (B, `state`) to whole chunks (B, `chunk` times `action`)."""
    return torch.nn.Sequential(
        torch.nn.Linear(state, 32), torch.nn.ReLU(), torch.nn.Linear(32, chunk * action)
    )


class OwnPolicy:
    """What openral asks of a policy: `reset`, `predict` and `close`."""

    def __init__(self, package: RSkillPackage, device: str) -> None:
        """Take the numbers from the manifest and the weights from beside it."""
        manifest = package.manifest
        state, action = manifest.state_contract, manifest.action_contract
        if state is None or state.dim is None or action is None or manifest.chunk_size is None:
            raise PolicyError(f"{manifest.name}: needs state_contract.dim, action_contract and chunk_size")
        self._chunk = manifest.chunk_size
        self._network = network(state.dim, self._chunk, action.dim)
        self._network.load_state_dict(load_file(package.weights_path()))
        self._network.to(device).eval()
        self._device = device

    def reset(self, episodes: Sequence[str]) -> None:
        """Forget these episodes; this policy remembers nothing."""

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        """Return chunks (B, H, A). `batch.images` has (B, H, W, 3) uint8 by feature key, for one that sees."""
        with torch.inference_mode():
            flat = self._network(torch.from_numpy(batch.state).to(self._device))
        return flat.reshape(len(batch), self._chunk, -1).cpu().numpy().astype(np.float32)

    def close(self) -> None:
        """Free what it holds."""


def load(package: RSkillPackage, device: str) -> OwnPolicy:
    """Load the policy of a skill; the entry point names this function."""
    return OwnPolicy(package, device)
