"""The service `perception/query_task_progress`: answers with the newest reading at once, or after a new scoring."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from rclpy.task import Future

from openral_reward_monitor.camera_watch import CameraWatch
from openral_reward_monitor.cameras import Cameras
from openral_reward_monitor.query_request import QueryRequest
from openral_reward_monitor.reading import Reading
from openral_reward_monitor.ros.messages import fill, refuse
from openral_reward_monitor.scorer import Scorer, ScoringJob
from openral_reward_monitor.window import Selection


@dataclass
class _Question:
    """A request that waits for its scoring."""

    job: ScoringJob
    asked_s: float
    """[s] on the monotonic clock."""
    answered: Any = field(default_factory=Future)
    """Future of None, done when the job is, or when it has taken too long."""


class ProgressService:
    """Answers requests. It waits only for a scoring that a request needs, and for a limited time."""

    def __init__(
        self, cameras: Cameras, scorer: Scorer, *, needs_words: bool, patience_s: float, stale_after_s: float
    ) -> None:
        """Begin without a request.

        Args:
            cameras: the monitor's cameras.
            scorer: scores frames in its own thread.
            needs_words: whether the model cannot score without an instruction.
            patience_s: [s] of wall time that a request waits for its scoring.
            stale_after_s: [s] age above which a reading counts as stale.
        """
        self._cameras, self._scorer, self._needs_words = cameras, scorer, needs_words
        self._patience_s, self._stale_after_s = patience_s, stale_after_s
        self._waiting: list[_Question] = []

    async def answer(self, request: QueryRequest, response: Any, clock: Callable[[], float]) -> Any:
        """Answer one request and return the response; `clock` returns the node's time [s]."""
        cameras = self._cameras
        if request.camera and request.camera not in cameras.by_name:
            names = ", ".join(cameras.by_name)
            return refuse(response, f"camera '{request.camera}' is not watched; there is {names}")
        camera = cameras.by_name[request.camera] if request.camera else cameras.watched(clock())
        if camera.fault:
            return refuse(response, camera.fault)
        attempt = camera.window.attempt
        task = request.task or attempt.instruction
        if not task and not attempt.goal_id:
            return refuse(response, "no attempt has been seen yet; send a goal first, or give task")
        if not task and self._needs_words:
            return refuse(response, "the running goal has no words; give task")
        selection = camera.select(request.window_s)
        if selection is None:
            return refuse(response, camera.missing)
        newest = None if request.fresh else self._newest(selection, task)
        if newest is not None:
            newest = replace(newest.over(request.window_s), frames_seen=selection.frames_seen)
            return self._fill(response, newest, camera, clock())
        return await self._score(response, selection, camera, task, clock)

    def _newest(self, selection: Selection, task: str) -> Reading | None:
        """Return the newest reading of a task; if it is not scored continuously, only one of the newest frame.

        A reading of a later stamp than the newest frame's was made before the clock began anew, and is none.
        """
        reading = self._scorer.newest(selection.attempt, selection.camera, task)
        if reading is None or reading.stamp_s > selection.stamps_s[-1]:
            return None
        is_new = task == self._cameras.words or reading.stamp_s == selection.stamps_s[-1]
        return reading if is_new else None

    async def _score(
        self,
        response: Any,
        selection: Selection,
        camera: CameraWatch,
        task: str,
        clock: Callable[[], float],
    ) -> Any:
        busy_s = self._scorer.busy_s()
        if busy_s > self._patience_s:
            return refuse(
                response, f"the reward model has not answered for {busy_s:.1f} s; restart the monitor"
            )
        job = self._scorer.query(selection, task)
        if job is None:
            return refuse(response, "too many questions wait for the reward model; ask again later")
        question = _Question(job, time.monotonic())
        self._waiting.append(question)
        await question.answered
        if job.reading is None:
            silent = f"the reward model has not answered within {self._patience_s:g} s"
            return refuse(response, job.error or silent)
        return self._fill(response, job.reading, camera, clock())  # not as it was when the request came

    def close(self) -> None:
        """Answer every request that waits, since nothing is scored any more."""
        for question in self._waiting:
            question.job.error = question.job.error or "the reward monitor was shut down"
        self.look()

    def look(self) -> None:
        """Resume every request whose scoring is finished or overdue."""
        waiting = []
        for question in self._waiting:
            finished = question.job.reading is not None or question.job.error
            if finished or time.monotonic() - question.asked_s > self._patience_s:
                question.answered.set_result(None)
            else:
                waiting.append(question)
        self._waiting = waiting

    def _fill(self, response: Any, reading: Reading, camera: CameraWatch, now_s: float) -> Any:
        return fill(response, reading, self._age_s(reading, camera, now_s), self._stale_after_s)

    def _age_s(self, reading: Reading, camera: CameraWatch, now_s: float) -> float:
        # Monotonic time counts as well, since the bridge's clock stops when the bridge dies.
        return max(0.0, now_s - reading.stamp_s, time.monotonic() - camera.arrived_wall_s)
