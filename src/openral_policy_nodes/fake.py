"""A policy without a network, scripted by its manifest, for tests of faults and for a first run without weights.

It serves manifests with `model_family: fake`, whose `policy_extras` holds the fields of `FakeScript`.
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
"""Fraction by which the actions of a `crowded` policy shrink for each further observation in the batch."""


class FakeScript(BaseModel):
    """Script of the answers of a `FakePolicy`."""

    model_config = ConfigDict(extra="forbid")

    behaviour: Behaviour = "constant"
    """Behaviour from call `good_calls + 1` on; earlier calls are answered with `action`."""
    good_calls: int = Field(default=0, ge=0)
    """Number of calls that are answered correctly before the behaviour begins; warming up counts as a call."""
    action: list[float] = Field(default_factory=list)
    """(A,) action that is repeated over the chunk; empty: all zeros."""
    delay_s: float = Field(default=0.0, ge=0.0)
    """[s] duration of a `slow` or `crowded` answer."""


class FakePolicy:
    """Answers each observation with a chunk of one repeated action, until its script's behaviour begins."""

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
        """All episodes that `reset` was called with, in order."""

    def reset(self, episodes: Sequence[str]) -> None:
        """Append the episodes to `episodes`; the policy keeps no state of an episode."""
        self.episodes += episodes

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        """Return the scripted chunks (B, H, A); see `Policy.predict`.

        Raises:
            PolicyError: the behaviour is `raise`, and has begun.
        """
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
        """Let a hanging call return."""
        self._closed.set()


def load(package: RSkillPackage, device: str = "cpu") -> FakePolicy:
    """Build the fake policy that a manifest describes; `device` is ignored.

    Raises:
        PolicyError: `policy_extras` is not a valid `FakeScript`, or the manifest has no action contract.
    """
    manifest = package.manifest
    if manifest.action_contract is None:
        raise PolicyError(f"{manifest.name}: a fake policy needs an action_contract in its manifest")
    try:
        script = FakeScript.model_validate(dict(manifest.policy_extras))
    except ValidationError as error:
        raise PolicyError(f"{manifest.name}: policy_extras of a fake policy: {error}") from error
    return FakePolicy(manifest.chunk_size, manifest.action_contract.dim, script)
