"""The outcome of an episode, and its source."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

SUCCESS, FAILURE, UNKNOWN = "success", "failure", "unknown"
OUTCOMES = (SUCCESS, FAILURE, UNKNOWN)
POLL_S = 0.25
"""[s] time between two readings of the simulator's record, which is written every 1.5 s."""


@dataclass(frozen=True)
class Verdicts:
    """Outcome according to each source; UNKNOWN: it has none."""

    operator: str = UNKNOWN
    simulator: str = UNKNOWN
    reward_model: str = UNKNOWN

    @property
    def outcome(self) -> tuple[str, str]:
        """The outcome and its source; the operator has priority over the simulator, and that over the reward model."""
        for source in ("operator", "simulator", "reward_model"):
            if getattr(self, source) != UNKNOWN:
                return getattr(self, source), source
        return UNKNOWN, UNKNOWN

    def columns(self) -> dict[str, str]:
        """Return the columns for `meta/episodes`."""
        outcome, source = self.outcome
        said = {f"outcome_{name}": value for name, value in vars(self).items()}
        return {"outcome": outcome, "outcome_source": source, **said}


@dataclass(frozen=True)
class SimulatorVerdict:
    """Outcome, task and initial state (`seed`) of an episode according to the simulator's record."""

    outcome: str = UNKNOWN
    task: str = ""
    seed: int = -1


def simulator_verdict(
    truth: Path | None, begin_s: float, end_s: float, task: str, patience_s: float
) -> SimulatorVerdict:
    """Read `truth.npz`, which the bridge writes beside the graph (`openral_sim_bridge.truth_recorder`).

    Args:
        truth: the file; None: there is no simulator.
        begin_s: [s] stamp of the episode's first frame, on the bridge's clock.
        end_s: [s] stamp of its last step.
        task: the skill's own id of the task; empty: the scene's only task. If the scene has several, the outcome is
            then unknown, even if the world was reset for one of them.
        patience_s: [s] time to wait for the record to reach the end; of one that ends within the episode its last
            moment counts, and of one that ends before it nothing does.
    """
    if truth is None:
        return SimulatorVerdict()
    until = time.monotonic() + patience_s
    while True:
        found = _look(truth, begin_s, end_s, task)
        if found is not None and (found[1] or time.monotonic() >= until):
            return found[0]
        if time.monotonic() >= until:
            return SimulatorVerdict()
        time.sleep(POLL_S)


def _look(truth: Path, begin_s: float, end_s: float, task: str) -> tuple[SimulatorVerdict, bool] | None:
    """Return the verdict of the present record, and whether it reaches the end of the episode; None: there is none."""
    try:
        with np.load(truth, allow_pickle=False) as record:
            stamps, success = record["stamp_s"], record["success"]
            names = [str(name).rsplit("/", 1)[-1] for name in record["tasks"]]
            resets = [
                (str(name), int(number))
                for stamp, name, number in zip(
                    record["reset_stamp_s"], record["reset_task"], record["reset_init"], strict=True
                )
                if stamp <= begin_s + 1e-6
            ]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):  # the last two: it is cut off
        return None
    world, seed = resets[-1] if resets else ("", -1)
    asked = task.rsplit("/", 1)[-1] or (names[0] if len(names) == 1 else "")
    row = int(np.searchsorted(stamps, end_s + 1e-6, side="right")) - 1
    reached = bool(len(stamps)) and float(stamps[-1]) >= end_s - 1e-6
    if not reached and row >= 0 and float(stamps[row]) < begin_s - 1e-6:
        return SimulatorVerdict(
            UNKNOWN, asked
        ), False  # it ends before the episode begins, or is of another world
    if row < 0 or asked not in names:
        return SimulatorVerdict(UNKNOWN, asked or world.rsplit("/", 1)[-1], seed), reached
    done = bool(success[row, names.index(asked)])
    return SimulatorVerdict(SUCCESS if done else FAILURE, asked, seed), reached
