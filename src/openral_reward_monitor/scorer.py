"""Runs the reward model in a thread of its own, so that subscriptions and requests never wait for it."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from openral_core.errors import OpenralError
from openral_reward_monitor.models.reward_model import RewardModel, checked
from openral_reward_monitor.reading import Reading, ReadingMaker
from openral_reward_monitor.window import Selection, WatchedGoal

MAX_KEPT = 64
"""Most readings that are kept, the newest of each camera and task."""
_log = logging.getLogger(__name__)


@dataclass
class ScoringJob:
    """One scoring; the thread sets `reading` or `error` before it calls `on_done`."""

    selection: Selection
    task: str
    """Task to score, in words."""
    watched: bool
    """Whether it comes from `watch`, and not from `query`."""
    reading: Reading | None = None
    error: str = ""


class Scorer:
    """Runs one model in one thread. Of `watch` only the newest job is kept; those of `query` are queued, to a limit."""

    def __init__(
        self,
        model: RewardModel,
        readings: ReadingMaker,
        on_done: Callable[[ScoringJob], None],
        max_queries: int = 8,
    ) -> None:
        """Start the thread.

        Args:
            model: the reward model; closed with the scorer.
            readings: turns scores into readings.
            on_done: called in the thread after each job, whether it gave a reading or an error.
            max_queries: most queries in the queue.
        """
        self._model = model
        self._readings = readings
        self._on_done = on_done
        self._condition = threading.Condition()
        self._watch: ScoringJob | None = None
        self._queries: deque[ScoringJob] = deque()
        self._max_queries = max_queries
        self._busy_since: float | None = None
        self._newest: dict[tuple[str, str], Reading] = {}
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="scorer", daemon=True)
        self._thread.start()

    def watch(self, selection: Selection) -> None:
        """Score the attempt for its own instruction when the model is free; an older waiting selection is dropped."""
        with self._condition:
            self._watch = ScoringJob(selection, selection.attempt.instruction, watched=True)
            self._condition.notify_all()

    def newest(self, attempt: WatchedGoal, camera: str, task: str) -> Reading | None:
        """Return the newest reading of an attempt by that camera for this task; None: there is none yet."""
        with self._condition:
            reading = self._newest.get((camera, task))
            return reading if reading is not None and reading.attempt == attempt else None

    def query(self, selection: Selection, task: str) -> ScoringJob | None:
        """Queue a query and return its job; None: the queue is full."""
        with self._condition:
            if len(self._queries) >= self._max_queries:
                return None
            job = ScoringJob(selection, task, watched=False)
            self._queries.append(job)
            self._condition.notify_all()
            return job

    def busy_s(self) -> float:
        """Return the wall time [s] since the running scoring began; 0: none is running."""
        with self._condition:
            return 0.0 if self._busy_since is None else time.monotonic() - self._busy_since

    def close(self, timeout_s: float = 2.0) -> bool:
        """End the thread and the model; return False if the model still hangs (its thread dies with the process)."""
        with self._condition:
            self._closed = True
            self._watch = None
            self._queries.clear()
            self._condition.notify_all()
        self._model.close()  # this also ends a call that waits for the model's server
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            self._score(job)
            with self._condition:
                self._busy_since = None
            if not self._closed:
                self._on_done(job)

    def _next(self) -> ScoringJob | None:
        with self._condition:
            self._condition.wait_for(lambda: self._closed or self._queries or self._watch is not None)
            if self._closed:
                return None
            self._busy_since = time.monotonic()
            if self._queries:
                return self._queries.popleft()
            job, self._watch = self._watch, None
            return job

    def _score(self, job: ScoringJob) -> None:
        begun = time.perf_counter()
        try:
            frames = job.selection.frames
            scores = checked(self._model.score(frames, job.task), len(frames))
            latency_s = time.perf_counter() - begun
            job.reading = self._readings.make(job.selection, job.task, scores, latency_s, job.watched)
        except Exception as error:  # noqa: BLE001  a family's own code may raise anything; whoever asked must learn of it
            if not isinstance(error, OpenralError):  # an OpenralError needs no traceback
                _log.exception("scoring failed")
            job.error = f"{type(error).__name__}: {error}"
            return
        self._keep(job.reading)

    def _keep(self, reading: Reading) -> None:
        with self._condition:
            if any(other.attempt != reading.attempt for other in self._newest.values()):
                self._newest.clear()
            self._newest[reading.camera, reading.task] = reading
            while len(self._newest) > MAX_KEPT:
                del self._newest[next(iter(self._newest))]
