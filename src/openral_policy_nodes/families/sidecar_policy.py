"""Client of the policy servers that speak openral's own dialect: `predict` and `reset`, with adaptive deadlines."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import PolicyError, SidecarError
from openral_core.manifest import RSkillManifest
from openral_policy_nodes.families.adaptive_timeout import AdaptiveTimeout


class PolicyServer(Protocol):
    """The part of `openral_sidecar.sidecar.Sidecar` that is used here."""

    @property
    def description(self) -> Mapping[str, Any]:
        """The server's description of itself, from its `hello`."""
        ...

    @property
    def starts(self) -> int:
        """Number of servers so far, see `openral_sidecar.sidecar.Sidecar.starts`."""
        ...

    def call(
        self, op: str, data: Mapping[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> dict[str, Any]:
        """Call an operation of the server and return its answer."""
        ...

    def close(self) -> None:
        """Close the connection, and end a server that was started for it."""
        ...


class RemotePolicy:
    """Calls a policy server, and turns its errors into a PolicyError that names the skill."""

    def __init__(self, manifest: RSkillManifest, server: PolicyServer) -> None:
        self.name = manifest.name
        self._server = server
        self._patience = AdaptiveTimeout(manifest.latency_budget)

    @property
    def deadline_s(self) -> float:
        """[s] deadline of the last call of the model, which is longer for the first one of a server; 0: none so far."""
        return self._patience.given_s

    def reset(self, episodes: Sequence[str]) -> None:
        """Reset the server's state of these episodes, before the first `predict` of each goal or episode."""
        self._call("reset", {"episodes": list(episodes)}, self._patience.least_s)

    def predict(self, data: Mapping[str, Any], shape: tuple[int, int, int]) -> NDArray[np.float32]:
        """Return the chunks (B, H, A) that answer `data`.

        Args:
            data: input of the server's `predict`.
            shape: (B, H, A) as the server described.

        Raises:
            PolicyError: the server refused, cannot be reached, or answered another shape.
        """
        begun = time.monotonic()
        limit_s = self._patience.limit_s(shape[0], self._server.starts)
        chunk = self._call("predict", data, limit_s).get("chunk")
        self._patience.note(shape[0], time.monotonic() - begun)
        if not isinstance(chunk, np.ndarray) or chunk.shape != shape:
            found = getattr(chunk, "shape", type(chunk).__name__)
            raise PolicyError(f"{self.name}: the server answered {found}, it promised {shape}")
        return chunk.astype(np.float32, copy=False)

    def close(self) -> None:
        """Close the connection; a server that was started for this policy ends."""
        self._server.close()

    def _call(self, op: str, data: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        try:
            return self._server.call(op, data, timeout_s=timeout_s)
        except SidecarError as error:
            self._patience.forget()  # the next answer may come from a server that somebody else restarted
            raise PolicyError(f"{self.name}: {error}") from error
