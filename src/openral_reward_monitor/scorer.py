"""Scores in a thread of its own: intake and queries never wait for the model."""

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
"""Newest readings that are kept, one a camera and sentence."""
_log = logging.getLogger(__name__)


@dataclass
class ScoringJob:
    """One scoring that was asked for; the thread fills in `reading` or `error` before it says that it is done."""

    selection: Selection
    task: str
    """The words to score against."""
    watched: bool
    """Asked for by `watch`, not by `query`."""
    reading: Reading | None = None
    error: str = ""


class Scorer:
    """One model, one thread. Watching keeps only the newest job; queries wait in line, up to a limit."""

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
            max_queries: queries that may wait.
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
        """Score the attempt against its own words as soon as the model is free; a waiting older one is dropped."""
        with self._condition:
            self._watch = ScoringJob(selection, selection.attempt.instruction, watched=True)
            self._condition.notify_all()

    def newest(self, attempt: WatchedGoal, camera: str, task: str) -> Reading | None:
        """Return the newest reading of an attempt by that camera under these words, None before there is one."""
        with self._condition:
            reading = self._newest.get((camera, task))
            return reading if reading is not None and reading.attempt == attempt else None

    def query(self, selection: Selection, task: str) -> ScoringJob | None:
        """Put a query in line; None when the line is full."""
        with self._condition:
            if len(self._queries) >= self._max_queries:
                return None
            job = ScoringJob(selection, task, watched=False)
            self._queries.append(job)
            self._condition.notify_all()
            return job

    def busy_s(self) -> float:
        """[s] wall time since the scoring under way began, 0 when none is."""
        with self._condition:
            return 0.0 if self._busy_since is None else time.monotonic() - self._busy_since

    def close(self, timeout_s: float = 2.0) -> bool:
        """End the thread and the model; return False if the model still hangs (its thread dies with the process)."""
        with self._condition:
            self._closed = True
            self._watch = None
            self._queries.clear()
            self._condition.notify_all()
        self._model.close()  # a call that waits for a server of the model's comes back
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
            if not isinstance(error, OpenralError):  # which says all there is to say
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
