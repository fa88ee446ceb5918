"""Sources of progress readings: openral's reward model, fed as the reward monitor feeds it, or the simulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from openral_core.progress_judgement import ProgressReading
from openral_core.scene import DeployScene
from openral_core.types import Image, RobotState
from openral_reasoner.mission.agent_requests import QueryProgress, Reply
from openral_reward_monitor.camera_views import cameras_of, default_view
from openral_reward_monitor.cameras import Cameras
from openral_reward_monitor.models.calibration import Calibration, load_calibration
from openral_reward_monitor.models.reward_model import RewardModel, checked
from openral_reward_monitor.reading import Reading, ReadingMaker
from openral_reward_monitor.window import Selection, WatchedGoal
from openral_rskill.registry import RSkillPackage

RATE_HZ = 3.0
"""[Hz] on the bridge's clock: highest rate of readings, as in the reward monitor."""
MAX_FRAMES = 8
"""Most frames in one scoring, as in the reward monitor."""
STALE_AFTER_S = 3.0
"""[s] age of a camera's newest frame from which on the camera counts as dead."""


class Judge(Protocol):
    """Gives readings in one episode. Times are of the bridge's clock [s]."""

    there: bool
    """Whether this judge gives readings at all."""

    def begin(self, goal_id: str, instruction: str) -> None:
        """Begin to watch a goal."""
        ...

    def look(self, stamp_s: float, images: Mapping[str, Image], state: RobotState) -> ProgressReading | None:
        """Take an observation; return a reading of the running goal where one is due."""
        ...

    def end(self) -> None:
        """Stop watching the goal, which has ended."""
        ...

    def answer(self, request: QueryProgress, answered: Callable[[Reply], None]) -> None:
        """Pass the reply to a request of `ConditionQuery` to `answered`."""
        ...


class NoJudge:
    """Stands for a deployment without a reward monitor."""

    there = False

    def begin(self, goal_id: str, instruction: str) -> None:
        """Do nothing."""

    def look(self, stamp_s: float, images: Mapping[str, Image], state: RobotState) -> ProgressReading | None:
        """Return None."""
        return None

    def end(self) -> None:
        """Do nothing."""

    def answer(self, request: QueryProgress, answered: Callable[[Reply], None]) -> None:
        """Reply that no reward monitor runs."""
        answered(Reply(False, "the reward monitor is not running"))


class TrueJudge:
    """Gives the simulator's verdict in the form of the reward monitor's readings."""

    there = True

    def __init__(self, success: Callable[[], bool]) -> None:
        """Take a function that returns whether the task is done now."""
        self._success = success
        self._running, self._due_s = False, 0.0

    def begin(self, goal_id: str, instruction: str) -> None:
        """Make readings due from now on."""
        self._running, self._due_s = True, 0.0

    def look(self, stamp_s: float, images: Mapping[str, Image], state: RobotState) -> ProgressReading | None:
        """Return progress and success of 1 if the task is done, else of 0; None where no reading is due."""
        if not self._running or stamp_s < self._due_s:
            return None
        self._due_s = stamp_s + 1.0 / RATE_HZ
        return self._reading(stamp_s)

    def end(self) -> None:
        """Make no further readings due."""
        self._running = False

    def answer(self, request: QueryProgress, answered: Callable[[Reply], None]) -> None:
        """Reply whether the task is done now; the words of the request are not read."""
        done = self._success()
        told = f"the simulator {'sees' if done else 'does not see'} it done"
        answered(Reply(True, told, reading=self._reading(0.0)))

    def _reading(self, stamp_s: float) -> ProgressReading:
        verdict = float(self._success())
        return ProgressReading(stamp_s, verdict, verdict, calibrated=True)


class RewardModelJudge:
    """Scores the frames of one view with a reward model, with the reward monitor's windows, checks and readings."""

    there = True

    def __init__(self, model: RewardModel, package: RSkillPackage, scene: DeployScene) -> None:
        """Take a loaded model, its skill and the scene whose cameras it asks for."""
        reward = package.manifest.reward
        assert reward is not None, "the schema gives every manifest of kind reward its reward section"
        self._model, self._view = model, default_view(package.manifest, scene)
        calibration: Calibration | None = load_calibration(package)
        self._readings = ReadingMaker(reward, calibration)
        self._cameras = Cameras([self._view], reward, MAX_FRAMES, STALE_AFTER_S)
        self._watched_s = float("-inf")

    def begin(self, goal_id: str, instruction: str) -> None:
        """Start new windows for the goal."""
        self._cameras.begin(WatchedGoal(goal_id, instruction))
        self._watched_s = float("-inf")

    def look(self, stamp_s: float, images: Mapping[str, Image], state: RobotState) -> ProgressReading | None:
        """Add the frame, and return a reading of the window where one is due, else None."""
        self._cameras.joints(state.joint_positions, stamp_s)
        taken = [self._cameras.add(name, stamp_s, images[name], stamp_s) for name in cameras_of(self._view)]
        if not any(taken):
            return None
        if self._cameras.words is None or stamp_s - self._watched_s < 1.0 / RATE_HZ:
            return None
        selection = self._cameras.watched(stamp_s).select()
        if selection is None or len(selection.pictures) < 2:
            return None
        self._watched_s = stamp_s
        return _told(self._score(selection, selection.attempt.instruction, watched=True))

    def end(self) -> None:
        """Stop the readings; the goal's frames are kept for `answer`."""
        self._cameras.end()

    def answer(self, request: QueryProgress, answered: Callable[[Reply], None]) -> None:
        """Score the newest frames for the task text of the request."""
        watch = self._cameras.by_name[self._view]
        selection = watch.select(request.window_s)
        if selection is None:
            answered(Reply(False, f"no score: {watch.missing}"))
            return
        reading = self._score(selection, request.task, watched=False)
        told = f"progress {reading.progress:.2f}, success {reading.success:.2f}"
        answered(Reply(True, told, reading=None if reading.abstained else _told(reading)))

    def _score(self, selection: Selection, words: str, *, watched: bool) -> Reading:
        frames = selection.frames
        return self._readings.make(
            selection, words, checked(self._model.score(frames, words), len(frames)), 0.0, watched
        )


def _told(reading: Reading) -> ProgressReading:
    """Return a reading with the fields that are published on `/openral/progress`."""
    return ProgressReading(
        reading.stamp_s,
        reading.progress,
        reading.success,
        calibrated=reading.calibrated,
        abstained=reading.abstained,
    )
