"""The thread that turns segments into episodes while the next one is recorded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from openral_core.files.output_folder import write_fault
from openral_data.recording.dataset_ring import DatasetRing
from openral_data.recording.journal import read_segment
from openral_data.recording.outcome import FAILURE, UNKNOWN, Verdicts, simulator_verdict
from openral_data.recording.segments_to_episode import LEAST_FRAMES, delete_segments, finish_episode

TRUTH_S = 4.0
"""[s] time to wait for the simulator's record to reach the end of an episode."""


def verdict_columns(about: dict[str, Any], truth: Path | None, patience_s: float) -> dict[str, Any]:
    """Return the metadata `about` with the columns of outcome, simulated task and initial state.

    For a `truncated` episode, a failure according to simulator or reward model counts as unknown, since the episode
    went on. `patience_s` [s] is the time to wait for the simulator's record.
    """
    task = str(about.get("sim_task", ""))
    times = float(about.get("begin_s", -1.0)), float(about.get("end_s", -1.0))
    simulated = simulator_verdict(truth, *times, task, patience_s)
    verdicts = Verdicts(
        operator=str(about.get("operator", UNKNOWN)),
        simulator=_known(simulated.outcome, about),
        reward_model=_known(str(about.get("reward_model", UNKNOWN)), about),
    )
    return {**about, **verdicts.columns(), "sim_task": task or simulated.task, "seed": simulated.seed}


def _known(outcome: str, about: dict[str, Any]) -> str:
    return UNKNOWN if about.get("truncated") and outcome == FAILURE else outcome


class EpisodeFinisher:
    """Finishes episodes one after the other in a thread."""

    def __init__(self, ring: DatasetRing, truth: Path | None, say: Callable[[str, bool], None]) -> None:
        """Start the thread.

        Args:
            ring: dataset to which episodes are appended.
            truth: the simulator's record; None: there is none.
            say: called with a line of text, and whether it reports a problem.
        """
        self._ring, self._truth, self._say = ring, truth, say
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._last: tuple[str, int] = "", -1
        self.episodes = len(ring.appender)
        self._thread = threading.Thread(target=self._work, name="finish", daemon=True)
        self._thread.start()

    def finish(self, segments: Sequence[Path], about: dict[str, Any], operator: Callable[[], str]) -> None:
        """Queue the segments of an episode; `operator` is called at the end and returns the operator's verdict."""
        self._jobs.put(lambda: self._finish(segments, about, operator))

    def discard(self, segments: Sequence[Path]) -> None:
        """Queue the deletion of segments."""
        self._jobs.put(lambda: delete_segments(segments))

    def mark(self, recording_id: str, outcome: str) -> None:
        """Queue the operator's verdict on the episode that was finished last, if it has this id."""
        self._jobs.put(lambda: self._mark(recording_id, outcome))

    def close(self) -> None:
        """Finish all queued work, then end the thread."""
        self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception as error:  # noqa: BLE001  after any exception the next episode is finished
                why = write_fault(error, self._ring.folder.root)
                self._say(
                    f"an episode was not finished, its segments stay for `openral data repair`: {why}", True
                )

    def _finish(self, segments: Sequence[Path], about: dict[str, Any], operator: Callable[[], str]) -> None:
        judged = verdict_columns({**about, "operator": operator()}, self._truth, TRUTH_S)
        if sum(read_segment(path).rows.num_rows for path in segments) >= LEAST_FRAMES:
            self._ring.turn()
        done = finish_episode(self._ring.folder, self._ring.appender, segments, judged)
        self.episodes = len(self._ring.appender)
        if done.number is None:
            self._say(f"nothing was kept: {done.remark}", False)
            return
        if not done.appended:
            self._say_there(done.number, whole=not judged.get("truncated"))
            return
        self._last = str(about["recording_id"]), done.number
        outcome = f"{judged['outcome']} ({judged['outcome_source']})"
        words = about.get("sentence") or "no words"
        cut_off = f", {done.remark}" if done.remark else ""
        self._say(f'episode {done.number}: {done.frames} frames, "{words}", {outcome}{cut_off}', False)

    def _say_there(self, number: int, *, whole: bool) -> None:
        """Say that an episode was not added again; `whole`: whether this time nothing of it was cut off."""
        if whole and self._ring.appender.row(number)["truncated"]:
            self._say(
                f"episode {number} is there already, cut off, and stays so; into another folder it is converted whole",
                True,
            )
        else:
            self._say(f"episode {number} is there already; it was not added again", False)

    def _mark(self, recording_id: str, outcome: str) -> None:
        if recording_id != self._last[0]:
            self._say("no episode is there to be marked", True)
            return
        appender, number = self._ring.appender, self._last[1]
        row = appender.row(number)
        said = Verdicts(
            operator=outcome, simulator=row["outcome_simulator"], reward_model=row["outcome_reward_model"]
        )
        appender.mark(number, **said.columns())
