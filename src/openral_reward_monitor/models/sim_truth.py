"""A reward model for tests that returns the verdict of a running simulator, from the record that its bridge writes.

Manifests of kind reward with `model_family: sim_truth` load it; their `policy_extras` holds the fields of
`SimTruthSource`. Without a simulator there is no such record, and the model refuses to run. Frames are not read.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from openral_core.errors import PolicyError
from openral_reward_monitor.models.reward_model import RewardScores
from openral_rskill.registry import RSkillPackage

RECORD = "truth.npz"
"""File that `openral_sim_bridge.truth_recorder` writes repeatedly while the world runs."""
FRESH_S = 10.0
"""[s] of wall time from which on a record counts as that of a simulator that has ended."""
_LOOK_S = 0.1


class SimTruthSource(BaseModel):
    """Where the truth is, and which words mean which task."""

    model_config = ConfigDict(extra="forbid")

    run_dir: Path
    """Folder of the bridge's run."""
    tasks: dict[str, str] = Field(min_length=1)
    """Instruction -> the simulator's task id."""
    wait_s: float = Field(default=60.0, ge=0)
    """[s] wall time that a simulator may take to come up."""


class SimTruthModel:
    """Returns progress and success of 1 while the simulator counts the task as solved, else of 0."""

    def __init__(self, source: SimTruthSource) -> None:
        """Keep the source, without waiting for the simulator as `load` does."""
        self._source = source

    def score(self, frames: NDArray[np.uint8], instruction: str) -> RewardScores:
        """Score T frames.

        Every frame gets the newest verdict. An instruction that is not in `SimTruthSource.tasks` scores 0.

        Raises:
            PolicyError: no simulator is running, or it does not have the task of the instruction.
        """
        verdict = np.full(len(frames), self._verdict(instruction), np.float32)
        return RewardScores(verdict, verdict.copy())

    def close(self) -> None:
        """Do nothing: this model holds no process."""

    def is_running(self) -> bool:
        """Return whether a simulator writes a record."""
        path = self._source.run_dir / RECORD
        return path.is_file() and time.time() - path.stat().st_mtime <= FRESH_S

    def _verdict(self, instruction: str) -> float:
        if not self.is_running():
            raise PolicyError(
                f"sim_truth runs beside a simulator only, and none keeps a record in {self._source.run_dir}"
            )
        with np.load(self._source.run_dir / RECORD, allow_pickle=False) as record:
            tasks, success = [str(name).rsplit("/", 1)[-1] for name in record["tasks"]], record["success"]
        task = self._source.tasks.get(instruction)
        if task is None:
            return 0.0
        if task not in tasks:
            raise PolicyError(f"sim_truth: the simulator has no task '{task}'; it has {', '.join(tasks)}")
        return float(success[-1, tasks.index(task)])


def load(package: RSkillPackage, device: str = "cpu") -> SimTruthModel:
    """Build the model that a manifest describes, once a simulator is running; `device` is ignored.

    Raises:
        PolicyError: `policy_extras` is no `SimTruthSource`, or no simulator came up.
    """
    try:
        source = SimTruthSource.model_validate(dict(package.manifest.policy_extras))
    except ValidationError as error:
        raise PolicyError(f"{package.manifest.name}: policy_extras of sim_truth: {error}") from error
    model, end = SimTruthModel(source), time.monotonic() + source.wait_s
    while not model.is_running():
        if time.monotonic() > end:
            raise PolicyError(
                f"{package.manifest.name}: sim_truth runs beside a simulator only, and none kept a record in "
                f"{source.run_dir} within {source.wait_s:g} s"
            )
        time.sleep(_LOOK_S)
    return model
