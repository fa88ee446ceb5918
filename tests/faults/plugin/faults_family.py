"""A policy family and a reward family for tests of faults; a test turns their faults on and off by a file of dials.

The policy's model lives in a real sidecar (`faults_sidecar.py`), so that a test can kill, stop or slow down a server
process behind a policy node. The reward model answers the simulator's own verdict, or misbehaves.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openral_core.errors import PolicyError, SidecarError
from openral_reward_monitor.models.reward_model import RewardScores
from openral_reward_monitor.models.sim_truth import SimTruthModel, SimTruthSource
from openral_sidecar.environment.spec import SidecarSpec
from openral_sidecar.sidecar import Identity, Sidecar, SidecarSettings

SPEC = SidecarSpec("faults", "3.11", (), "faults_sidecar")
BUDGET_S = 1.0
"""[s] declared latency budget of a call."""
PAUSES_S = (1.0, 0.5, 0.5)
"""[s] before each restart: the first as by default, the later ones shorter, so that a test ends."""


def dials_of(extras: Any) -> dict[str, Any]:
    """Return what the test has set; nothing where it has set nothing."""
    path = Path(extras["dials"])
    found: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    return found


class ServedPolicy:
    """Asks the sidecar for a way from where the hand is to the target of the instruction."""

    def __init__(self, name: str, sidecar: Sidecar) -> None:
        self._name, self._sidecar = name, sidecar

    def reset(self, episodes: Sequence[str]) -> None:
        """Nothing is remembered."""

    def predict(self, batch: Any) -> Any:
        """Return (B, H, A) float32 of the server.

        Raises:
            PolicyError: the server does not answer, or answers something else.
        """
        data = {"state": batch.state, "instructions": list(batch.instructions)}
        try:
            return self._sidecar.call("act", data)["action"]
        except SidecarError as error:
            raise PolicyError(f"{self._name}: {error}") from error

    def close(self) -> None:
        """End the server."""
        self._sidecar.close()


def load(package: Any, device: str) -> ServedPolicy:
    """Start the sidecar of a skill and return its policy."""
    manifest = package.manifest
    settings = SidecarSettings(
        python=Path(sys.executable), call_timeout_s=BUDGET_S, restart_pauses_s=PAUSES_S, shared=False
    )
    arguments = ["--dials", str(manifest.policy_extras["dials"]), "--model", manifest.name]
    try:
        return ServedPolicy(manifest.name, Sidecar.open(SPEC, arguments, Identity(manifest.name), settings))
    except SidecarError as error:
        raise PolicyError(f"{manifest.name}: {error}") from error


class DialledReward:
    """The simulator's verdict, or what the dial `monitor` says: one, nan, noise, hang or raise."""

    def __init__(self, extras: Any) -> None:
        self._extras = extras
        self._truth = SimTruthModel(SimTruthSource(run_dir=extras["run_dir"], tasks=extras["tasks"]))
        self._noise = np.random.default_rng(0)
        while not self._truth.is_running():  # the launch ends with whoever waits in vain for the simulator
            time.sleep(0.1)

    def score(self, frames: Any, instruction: str) -> RewardScores:
        """Return one progress and one success a frame."""
        behaviour = dials_of(self._extras).get("monitor", "truth")
        count = len(frames)
        if behaviour == "hang":
            threading.Event().wait()
        if behaviour == "raise":
            raise PolicyError("the reward model was told to fail")
        if behaviour == "truth":
            return self._truth.score(frames, instruction)
        curve = {
            "one": np.ones(count, np.float32),
            "nan": np.full(count, np.nan, np.float32),
            "noise": self._noise.random(count).astype(np.float32),
        }[behaviour]
        return RewardScores(curve, curve.copy())

    def close(self) -> None:
        """There is nothing to give up."""


def load_reward(package: Any, device: str) -> DialledReward:
    """Build the reward model of a skill."""
    return DialledReward(package.manifest.policy_extras)
