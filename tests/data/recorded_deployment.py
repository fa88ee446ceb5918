"""A deployment without ROS: steps, states and pictures for an `EpisodeRecorder`, whose numbers tell their step."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from openral_core.teleoperation_names import TELEOPERATION
from openral_data.recorded_columns import CameraColumn, RecordedColumns
from openral_data.recording.assembler import ExecutedStep
from openral_data.recording.episode_notes import SkillNote
from openral_data.recording.recorder import EpisodeRecorder
from openral_data.recording.strategy import strategy_of
from openral_data.recording_folder import RecordingFolder

HZ, EVERY = 80, 4
HEIGHT, WIDTH = 48, 64
COLUMNS = RecordedColumns(
    fps=HZ / EVERY,
    steps=EVERY,
    cameras=tuple(CameraColumn(f"c{n}", f"observation.images.camera{n}", HEIGHT, WIDTH) for n in (1, 2)),
    joints=("j1", "gripper"),
    gripper="gripper",
    action_dim=4,
    robot_type="sawyer",
    scene="fake",
)


def grey(step: int) -> int:
    """The level of a picture taken at a control step."""
    return 20 + step % 200


class RecordedDeployment:
    """Drives a recorder as the node does."""

    def __init__(
        self,
        root: Path,
        strategy: str,
        min_free_gb: float = 0.0,
        columns: RecordedColumns = COLUMNS,
        *,
        truth: Path | None = None,
        tasks: Mapping[str, str] | None = None,
    ) -> None:
        self.said: list[str] = []
        self.step = 0
        self.recorder = EpisodeRecorder(
            RecordingFolder(root),
            columns,
            strategy_of(strategy),
            truth=truth,
            tasks=tasks,
            min_free_gb=min_free_gb,
            say=lambda line, trouble: self.said.append(line),
        )
        self.recorder.tick()

    def goal(self, goal_id: str, *, kind: str = "vla") -> None:
        """A node announces that it runs a goal, or none."""
        self.recorder.skill(SkillNote(f"tests/{kind}", kind, "1.2.3", f"/openral/{kind}", goal_id))

    def hand(self, goal_id: str) -> None:
        """The operator's node announces that it has the arm, or has it no more."""
        self.goal(goal_id, kind=TELEOPERATION)

    def run(self, steps: int, *, goal_id: str = "", words: str = "push the cube", lose: Any = ()) -> None:
        """Let time pass; pictures of the steps in `lose` do not come."""
        recorder = self.recorder
        recorder.instruction(words)
        for _ in range(steps):
            self.step += 1
            step, stamp_s = self.step, self.step / HZ
            action = np.full(4, step, np.float32)
            recorder.executed(stamp_s, ExecutedStep(action, not goal_id, recorder.by_hand(goal_id)))
            self._observe(pictures=step % EVERY == 0 and step not in lose)
        recorder.tick()

    def _observe(self, *, pictures: bool = True) -> None:
        recorder, columns, step = self.recorder, self.recorder.columns, self.step
        stamp_s = step / HZ
        positions = [0.05 if name == columns.gripper else step for name in columns.joints]
        recorder.assembler.joints(stamp_s, columns.joints, positions)
        recorder.assembler.pose(stamp_s, [step, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0])
        for camera in columns.cameras if pictures else ():
            picture = np.full((HEIGHT, WIDTH, 3), grey(step), np.uint8)
            recorder.assembler.image(camera.key, stamp_s, picture)

    def reset(self) -> None:
        """The world is put into another state, which no control step leads to."""
        self.step += 1
        self.recorder.began_anew(self.step / HZ)
        self._observe()

    def age(self, seconds: float) -> None:
        """Let the segment that is being written be older than it is."""
        assert self.recorder.notes is not None
        self.recorder.notes.began_s = time.monotonic() - seconds
        self.recorder.tick()
        self.recorder.tick()
