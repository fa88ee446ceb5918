"""A policy's server as the families of our own dialect use it: `predict` and `reset`, with deadlines and one error."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import PolicyError, SidecarError
from openral_core.manifest import RSkillManifest
from openral_policy_nodes.families.adaptive_timeout import Patience


class Server(Protocol):
    """The part of `openral_sidecar.sidecar.Sidecar` that is used here."""

    @property
    def description(self) -> Mapping[str, Any]:
        """What the server said of itself."""
        ...

    def call(
        self, op: str, data: Mapping[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> dict[str, Any]:
        """Carry out an operation."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class RemotePolicy:
    """Asks a server; its errors become a PolicyError that names the skill."""

    def __init__(self, manifest: RSkillManifest, server: Server) -> None:
        self.name = manifest.name
        self._server = server
        self._patience = Patience(manifest.latency_budget)

    def reset(self, episodes: Sequence[str]) -> None:
        """Forget what is remembered of these episodes; called before the first `predict` of each goal or episode."""
        self._call("reset", {"episodes": list(episodes)}, self._patience.least_s)

    def predict(self, data: Mapping[str, Any], shape: tuple[int, int, int]) -> NDArray[np.float32]:
        """Return the chunk that answers `data`.

        Args:
            data: the input of the server's `predict`.
            shape: (B, H, A) that the server promised.

        Raises:
            PolicyError: the server refused, is not to be reached, or broke its promise.
        """
        begun = time.monotonic()
        chunk = self._call("predict", data, self._patience.limit_s(shape[0])).get("chunk")
        self._patience.note(shape[0], time.monotonic() - begun)
        if not isinstance(chunk, np.ndarray) or chunk.shape != shape:
            found = getattr(chunk, "shape", type(chunk).__name__)
            raise PolicyError(f"{self.name}: the server answered {found}, it promised {shape}")
        return chunk.astype(np.float32, copy=False)

    def close(self) -> None:
        """Leave the server; one that was started for this policy ends."""
        self._server.close()

    def _call(self, op: str, data: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        try:
            return self._server.call(op, data, timeout_s=timeout_s)
        except SidecarError as error:
            raise PolicyError(f"{self.name}: {error}") from error
