"""The outcome of a run: the reasoner's record joined with the simulator's, which the reasoner does not read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import NotFoundError
from openral_core.mission_record import RecordedTask, load_mission
from openral_sim_bridge.truth_recorder import FILE_NAME

SUMMARY_FILE = "summary.json"
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class TaskOutcome:
    """Outcome of one task of the mission."""

    text: str
    skill: str
    skill_task: str
    attempts: int
    state: str
    """Final state in the reasoner's record: done, abandoned, skipped, pending…"""
    outcome: str
    """The reasoner's reason for it, in words."""
    steps: int
    """Control steps executed from chunks."""
    sim_s: float
    wall_s: float
    effective_hz: float
    """[Hz] control steps, held ones included, per second of wall time."""
    latency_p50_ms: float | None
    latency_p95_ms: float | None
    progress: float
    """Progress in the reward monitor's last reading, 0..1; -1: there was none."""
    simulator_success: bool | None
    """The simulator's verdict at the end of the task; None: the task did not run, or it is `unjudged`."""
    unjudged: str = ""
    """Why the simulator has no verdict on a task that ran, in words; empty: it has one."""

    @property
    def passed(self) -> bool:
        """Whether reasoner and simulator agree that it was done."""
        return self.state == "done" and self.simulator_success is True


@dataclass(frozen=True)
class RunOutcome:
    """Outcome of a whole run."""

    mission: str
    state: str
    """done, failed or stopped; active if the run was interrupted."""
    message: str
    """The reasoner's last words."""
    tasks: tuple[TaskOutcome, ...]
    rejected_chunks: int
    disturbances: tuple[str, ...] = ()
    """Disturbances of the simulated world, in words, each with its time [s] on the bridge's clock."""
    unevaluated_skills: tuple[str, ...] = ()
    """Skills that were evaluated on none of the scene's tasks, and that the operator allowed."""

    @property
    def disagreements(self) -> tuple[TaskOutcome, ...]:
        """Tasks that only one of the reasoner and the simulator counts as done."""
        return tuple(
            task for task in self.tasks if task.simulator_success not in (None, task.state == "done")
        )

    @property
    def passed(self) -> bool:
        """Whether the mission is done, and the reasoner and the simulator agree on every task that was not skipped."""
        needed = [task for task in self.tasks if task.state != "skipped"]
        return self.state == "done" and bool(self.tasks) and all(task.passed for task in needed)

    def write(self, run_dir: Path) -> Path:
        """Write `summary.json` and return its path."""
        path = run_dir / SUMMARY_FILE
        path.write_text(
            json.dumps({"passed": self.passed, **asdict(self)}, indent=2) + "\n", encoding="utf-8"
        )
        return path


def load_truth(run_dir: Path) -> Arrays:
    """Return the arrays of `truth.npz`; see `openral_sim_bridge.truth_recorder`.

    Raises:
        NotFoundError: the bridge wrote none.
    """
    path = run_dir / FILE_NAME
    if not path.is_file():
        raise NotFoundError(f"{path} is missing: the bridge left no record of its control steps")
    with np.load(path) as archive:
        return {name: archive[name] for name in archive.files}


def judge(run_dir: Path) -> RunOutcome:
    """Return the outcome of a run's folder. Raises NotFoundError: it lacks the simulator's or the mission's record."""
    truth, mission = load_truth(run_dir), load_mission(run_dir)
    return RunOutcome(
        mission=mission.text,
        state=mission.state,
        message=mission.message,
        tasks=tuple(_task_outcome(task, truth) for task in mission.tasks),
        rejected_chunks=int(truth["chunk_rejected"].sum()),
        disturbances=tuple(
            f"{words}, at {stamp_s:.1f} s"
            for stamp_s, words in zip(truth["disturbed_stamp_s"], truth["disturbed"], strict=True)
        ),
    )


def _task_outcome(task: RecordedTask, truth: Arrays) -> TaskOutcome:
    started, ended = task.started_s, task.ended_s
    stamps = truth["stamp_s"]
    end = int(np.searchsorted(stamps, ended + 1e-6, side="right"))
    rows = slice(int(np.searchsorted(stamps, started, side="left")), end)
    wall, clock = truth["wall_s"][rows], stamps[rows]
    wall_s = float(wall[-1] - wall[0]) if len(wall) > 1 else 0.0
    chunks = (truth["chunk_stamp_s"] >= started) & (truth["chunk_stamp_s"] <= ended)
    latencies = 1e3 * truth["chunk_latency_s"][chunks]
    p50, p95 = np.percentile(latencies, [50, 95]).tolist() if len(latencies) else (None, None)
    verdict, unjudged = _verdict(truth, task.skill_task, end - 1) if ended > 0 else (None, "")
    return TaskOutcome(
        text=task.text,
        skill=task.skill,
        skill_task=task.skill_task,
        attempts=task.attempts,
        state=task.state,
        outcome=task.outcome,
        steps=int((~truth["held"][rows]).sum()),
        sim_s=max(ended - started, 0.0),
        wall_s=wall_s,
        effective_hz=float(clock[-1] - clock[0]) * float(truth["control_hz"]) / wall_s if wall_s > 0 else 0.0,
        latency_p50_ms=p50,
        latency_p95_ms=p95,
        progress=task.progress,
        simulator_success=verdict,
        unjudged=unjudged,
    )


def _verdict(truth: Arrays, skill_task: str, row: int) -> tuple[bool | None, str]:
    """Return the simulator's verdict on a task in one row, or None and why; both may name it as `family/task`."""
    names = [str(name).rsplit("/", 1)[-1] for name in truth["tasks"]]
    name = skill_task.rsplit("/", 1)[-1]
    if name not in names:
        return None, "it is not among the scene's tasks"
    if row < 0:
        begin = f"{truth['stamp_s'][0]:.0f} s" if len(truth["stamp_s"]) else "the next step"
        return None, f"its record begins only at {begin}, since it keeps the newest steps"
    return bool(truth["success"][row, names.index(name)]), ""
