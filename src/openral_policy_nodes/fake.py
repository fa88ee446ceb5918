"""A policy without a network, scripted from its manifest: for tests of faults and for a first run without weights.

A manifest with `model_family: fake` gets it; `policy_extras` holds the fields of `FakeScript`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from openral_core.errors import PolicyError
from openral_core.types import PolicyBatch
from openral_rskill.registry import RSkillPackage

Behaviour = Literal["constant", "nan", "wrong_shape", "slow", "hang", "raise", "crowded"]
CROWDING = 0.03
"""By how much of itself a `crowded` policy's action shrinks for each other observation of its batch."""


class FakeScript(BaseModel):
    """What a `FakePolicy` answers, call by call."""

    model_config = ConfigDict(extra="forbid")

    behaviour: Behaviour = "constant"
    """What it does from call `good_calls + 1` on; before that it answers `action`."""
    good_calls: int = Field(default=0, ge=0)
    """Number of calls answered well before the behaviour begins; warming up is call 1."""
    action: list[float] = Field(default_factory=list)
    """(A,) the action repeated over the chunk; empty: all zeros."""
    delay_s: float = Field(default=0.0, ge=0.0)
    """[s] how long a `slow` or `crowded` answer takes."""


class FakePolicy:
    """Answers the same action at every step of the chunk until its script says otherwise."""

    def __init__(self, horizon: int, dim: int, script: FakeScript | None = None) -> None:
        self.script = script or FakeScript()
        action = np.asarray(self.script.action or [0.0] * dim, np.float32)
        if action.shape != (dim,):
            raise PolicyError(
                f"the fake policy's action has {action.size} values, its action contract has {dim}"
            )
        self._chunk = np.tile(action, (horizon, 1))
        self._closed = threading.Event()
        self.calls = 0
        """Number of calls of `predict` so far."""
        self.episodes: list[str] = []
        """What was reset so far, in order."""

    def reset(self, episodes: Sequence[str]) -> None:
        """Note the episodes; nothing is remembered between calls."""
        self.episodes += episodes

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        """Return (B, H, A) as the script says; see `Policy.predict`."""
        self.calls += 1
        chunks: NDArray[np.float32] = np.tile(self._chunk, (len(batch), 1, 1))
        if self.calls <= self.script.good_calls:
            return chunks
        behaviour = self.script.behaviour
        if behaviour == "raise":
            raise PolicyError(f"the fake policy was told to fail at call {self.calls}")
        if behaviour == "hang":
            self._closed.wait()
        if behaviour in ("slow", "crowded"):
            time.sleep(self.script.delay_s)
        if behaviour == "nan":
            chunks[:, 0, 0] = np.nan
        if behaviour == "crowded":
            chunks *= 1.0 - CROWDING * (len(batch) - 1)
        return chunks[:, :, :-1] if behaviour == "wrong_shape" else chunks

    def close(self) -> None:
        """Release a call that hangs."""
        self._closed.set()


def load(package: RSkillPackage, device: str = "cpu") -> FakePolicy:
    """Build the fake policy that a manifest describes; `device` is ignored.

    Raises:
        PolicyError: `policy_extras` is no `FakeScript`, or the manifest has no action contract.
    """
    manifest = package.manifest
    if manifest.action_contract is None:
        raise PolicyError(f"{manifest.name}: a fake policy needs an action_contract in its manifest")
    try:
        script = FakeScript.model_validate(dict(manifest.policy_extras))
    except ValidationError as error:
        raise PolicyError(f"{manifest.name}: policy_extras of a fake policy: {error}") from error
    return FakePolicy(manifest.chunk_size, manifest.action_contract.dim, script)
