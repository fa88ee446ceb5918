"""An RLDX-1 skill as a Policy: finds or starts its server, and checks that it fits the manifest."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import PolicyError, SidecarError
from openral_core.manifest import RSkillManifest
from openral_core.types import PolicyBatch
from openral_policy_nodes.families.adaptive_timeout import AdaptiveTimeout
from openral_policy_nodes.families.rldx.arguments import rldx_arguments
from openral_policy_nodes.families.rldx.handshake import modality_faults
from openral_policy_nodes.families.rldx.layouts import layout_named
from openral_policy_nodes.families.rldx.options import identity_for, settings_from
from openral_policy_nodes.families.rldx.spec import SPEC
from openral_rskill.registry import RSkillPackage
from openral_sidecar.environment.spec import SidecarSpec
from openral_sidecar.skill_sidecar import skill_sidecar

HANDSHAKE_S = 10.0
"""[s] deadline of `get_modality_config`, which needs no inference."""


class RLDXServer(Protocol):
    """The part of `openral_sidecar.sidecar.Sidecar` that is used here."""

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


class RldxPolicy:
    """Client of an RLDX-1 server with upstream's wrapper for simulations; see `layouts.py` for the names."""

    def __init__(self, manifest: RSkillManifest, server: RLDXServer) -> None:
        """Check that the server's checkpoint fits the manifest.

        Raises:
            PolicyError: it does not, with all faults; or the server does not answer.
        """
        self._name, self._server = manifest.name, server
        self._layout = layout_named(manifest.state_contract.layout if manifest.state_contract else None)
        self._horizon = manifest.chunk_size
        self._patience = AdaptiveTimeout(manifest.latency_budget)
        self._sessions: set[str] = set()
        """Episodes of which the server may have state."""
        self._seen: set[str] = set()
        """Episodes of the last batch."""
        found = self._call("get_modality_config", None, HANDSHAKE_S)
        faults = modality_faults(found, self._layout, manifest)
        if faults:
            raise PolicyError(f"{manifest.name} does not fit the server's checkpoint: {'; '.join(faults)}")

    @property
    def deadline_s(self) -> float:
        """[s] deadline of the last call of the model, which is longer for the first one of a server; 0: none so far."""
        return self._patience.given_s

    def reset(self, episodes: Sequence[str]) -> None:
        """Delete the server's state of these episodes, before the first `predict` of each goal or episode.

        The state of episodes that are not in the last batch is deleted too, since the server never does so by itself.
        """
        over = self._sessions - self._seen
        self._forget([*episodes, *sorted(over - set(episodes))])
        self._sessions = (self._sessions - over) | set(episodes)

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        """Return action chunks (B, H, A) in the representation of the manifest's action contract.

        H is `chunk_size`. Position and rotation are in units of the controller; the gripper is -1 (open) or 1 (closed).

        Raises:
            PolicyError: the batch does not fit the layout, or the server fails or answers something else.
        """
        options = {"session_ids": list(batch.episodes)} if batch.episodes and all(batch.episodes) else None
        data = {"observation": self._layout.observation(batch), "options": options}
        rows, begun = len(batch), time.monotonic()
        limit_s = self._patience.limit_s(rows, self._server.starts)
        answer = self._call("get_action", data, limit_s).get("result")
        self._patience.note(rows, time.monotonic() - begun)
        if not isinstance(answer, list) or len(answer) != 2:
            raise PolicyError(
                f"{self._name}: the server answered no (action, info); it is no RLDX-1 policy server"
            )
        self._seen = set(batch.episodes)
        self._sessions |= self._seen
        return self._layout.chunks(answer[0], rows, self._horizon)

    def close(self) -> None:
        """Delete the server's state of our episodes and disconnect; a server that was started for this policy ends."""
        try:
            if self._sessions:
                self._forget(sorted(self._sessions))
        except PolicyError:
            pass  # the server has ended or is about to, and its state with it
        finally:
            self._server.close()

    def _forget(self, episodes: Sequence[str]) -> None:
        self._call("reset", {"options": {"session_ids": list(episodes)}}, self._patience.least_s)

    def _call(self, op: str, data: Mapping[str, Any] | None, timeout_s: float) -> dict[str, Any]:
        try:
            return self._server.call(op, data, timeout_s=timeout_s)
        except SidecarError as error:
            self._patience.forget()  # the next answer may come from a server that somebody else restarted
            raise PolicyError(f"{self._name}: {error}") from error


def load(package: RSkillPackage, device: str = "cpu") -> RldxPolicy:
    """Connect to the server of a skill, or start one, as `settings_from` says.

    Raises:
        LicenseError: the terms of the weights were not accepted.
        PolicyError: the server does not start, serves another model, or its checkpoint does not fit the manifest.
    """
    return load_with(SPEC, package, device)


def load_with(spec: SidecarSpec, package: RSkillPackage, device: str = "cpu") -> RldxPolicy:
    """Load as `load` does, with another spec, such as that of the conformance server."""
    manifest = package.manifest
    package.require_license()
    settings, identity = settings_from(manifest), identity_for(package)
    arguments = rldx_arguments(identity, device)
    if settings.auto_spawn:
        arguments += ["--checkpoint", str(package.checkpoint().absolute())]
    with skill_sidecar(manifest, spec, arguments, identity, settings) as server:
        return RldxPolicy(manifest, server)
