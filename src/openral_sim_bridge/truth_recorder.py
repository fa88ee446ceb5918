"""The simulator's own record of a run, `truth.npz`: states, actions and success, none of which is published.

Of a long run it keeps the newest `KEPT_ROWS` control steps, chunks and resets. While the arm is held and nothing else
changes, few of the steps are recorded: the longer the rest, the fewer. A change of goal or success is never left out.

Tasks of one scene may have worlds with more or fewer positions; nq is the most, and a row of fewer ends with nan.

Arrays for T recorded control steps, K tasks, C chunks, R resets, G goals and D disturbances:

    stamp_s (T,) [s]   wall_s (T,) [s] monotonic   qpos (T, nq)   mocap_pos (T, 3) [m]   action (T, A)
    held (T,) bool     success (T, K) bool         tasks (K,) names     goal (T,) index of goals
    goals (G,) hex ids of ExecuteSkill goals that moved the arm, goals[0] is "" (none)
    chunk_stamp_s (C,) [s]   chunk_latency_s (C,) [s]   chunk_rejected (C,) bool
    reset_stamp_s (R,) [s]   reset_task (R,) names   reset_init (R,)   control_hz ()
    disturbed_stamp_s (D,) [s]   disturbed (D,) descriptions of their effects
"""

from __future__ import annotations

import io
import logging
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.files.atomic import write_atomically
from openral_core.files.output_folder import check_folder, make_private
from openral_sim_bridge.backend import Snapshot

_log = logging.getLogger(__name__)

FILE_NAME = "truth.npz"
FLUSH_S = 1.5
"""[s] wall time between two writes, at least."""
WRITTEN_PER_S = 5e6
"""[bytes/s] that writing again and again may come to; of a long record the writes are further apart."""
KEPT_ROWS = 64_000
"""Most control steps that are kept: 13 minutes of motion at 80 Hz, some 13 MB. At this number the oldest eighth is
dropped."""
REST_S, REST_SHARE = 0.5, 0.01
"""A row in rest comes after [s], or after this share of the time for which all has rested, whichever is longer."""
STILL = 1e-4
"""[m, rad] by which positions may differ in rest."""
MAX_GOALS = 10_000
"""Most goals that are recorded by id; later ones share the name `LATER_GOALS`."""
LATER_GOALS = "later"


class TruthRecorder:
    """Collects rows in memory; a thread of its own writes all of them atomically every `FLUSH_S`."""

    def __init__(
        self, run_dir: Path, task_ids: Sequence[str], control_hz: float, *, limit: int = KEPT_ROWS
    ) -> None:
        """Start recording into `run_dir`, which is made if needed, accessible to this user only.

        Args:
            run_dir: folder of the run.
            task_ids: the K tasks, in the order of the success signal.
            control_hz: [Hz] rate of control steps.
            limit: most rows, chunks and resets that are kept; the oldest are dropped, so that memory stays bounded.

        Raises:
            OutputError: the folder cannot be written.
        """
        check_folder(run_dir, "run_dir")
        make_private(run_dir)
        self.path = run_dir / FILE_NAME
        self._constants = {"tasks": np.array(task_ids, dtype=str), "control_hz": np.float64(control_hz)}
        self._limit = limit
        self._goals = [""]
        self._goal_numbers = {"": 0}
        self._rows: NDArray[np.void] | None = None
        self._count = self._dropped = 0
        self._rest_began_s = 0.0
        self._lock = threading.Lock()
        """Held while rows are dropped or the lists change, and while the writer copies the lists."""
        self._chunks: list[tuple[float, float, bool]] = []
        self._resets: list[tuple[float, str, int]] = []
        self._disturbed: list[tuple[float, str]] = []
        self._listed = 0
        """Number of chunks, resets and disturbances that were added."""
        self._written, self._pause_s = (-1, -1), FLUSH_S
        self._complained = False
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._flush_regularly, name="truth", daemon=True)
        self._thread.start()

    def step(
        self,
        stamp_s: float,
        wall_s: float,
        world: Snapshot,
        action: NDArray[Any],
        held: bool,
        success: NDArray[np.bool_],
        goal_id: str,
    ) -> None:
        """Add one control step, or leave it out in rest.

        Args:
            stamp_s: [s] simulation time after the step.
            wall_s: [s] monotonic clock.
            world: snapshot after the step.
            action: (A,) that was executed.
            held: whether the arm was commanded to stay in place.
            success: (K,) the simulator's success signal after the step.
            goal_id: hex id of the goal that the arm followed; empty: none.
        """
        goal = self._goal_number(goal_id)
        if not self._is_still(world, held, success, goal):
            self._rest_began_s = stamp_s
        elif self._is_too_early(stamp_s):
            return
        positions = len(world.qpos)
        if self._rows is None:
            kind = _row_type(positions, len(action), len(success))
            self._rows = np.zeros(min(1024, self._limit), kind)
        elif self._count == self._limit:
            self._drop_the_oldest(self._rows)
        elif self._count == len(self._rows):
            more = min(self._count, self._limit - self._count)
            self._rows = np.concatenate([self._rows, np.zeros(more, self._rows.dtype)])
        if positions > self._rows["qpos"].shape[1]:
            self._rows = _widened(self._rows, _row_type(positions, len(action), len(success)))
        qpos = np.full(self._rows["qpos"].shape[1], np.nan)
        qpos[:positions] = world.qpos
        self._rows[self._count] = (
            stamp_s,
            wall_s,
            qpos,
            world.mocap_pos,
            action,
            held,
            success,
            goal,
        )
        self._count += 1

    def _is_still(self, world: Snapshot, held: bool, success: NDArray[np.bool_], goal: int) -> bool:
        """Return whether the arm is held and all is as in the newest row."""
        if not held or self._rows is None or not self._count:
            return False
        newest = self._rows[self._count - 1]
        qpos = newest["qpos"][~np.isnan(newest["qpos"])]
        return bool(
            newest["held"]
            and newest["goal"] == goal
            and (newest["success"] == success).all()
            and len(qpos) == len(world.qpos)
            and np.abs(qpos - world.qpos).max(initial=0.0) <= STILL
        )

    def _is_too_early(self, stamp_s: float) -> bool:
        """Return whether the next row in rest is due later; never after a clock that was set back."""
        assert self._rows is not None
        since_s = stamp_s - float(self._rows[self._count - 1]["stamp_s"])
        return 0.0 <= since_s < max(REST_S, REST_SHARE * (stamp_s - self._rest_began_s))

    def chunk(self, stamp_s: float, latency_s: float, rejected: bool) -> None:
        """Add one chunk of an admitted goal, its latency [s], and whether it was rejected."""
        with self._lock:
            del self._chunks[: max(len(self._chunks) + 1 - self._limit, 0)]
            self._chunks.append((stamp_s, latency_s, rejected))
            self._listed += 1

    def reset(self, stamp_s: float, task_id: str, init_id: int) -> None:
        """Add one reset of the scene."""
        with self._lock:
            del self._resets[: max(len(self._resets) + 1 - self._limit, 0)]
            self._resets.append((stamp_s, task_id, init_id))
            self._listed += 1

    def disturbed(self, stamp_s: float, words: str) -> None:
        """Add the description of a disturbance's effect."""
        with self._lock:
            del self._disturbed[: max(len(self._disturbed) + 1 - self._limit, 0)]
            self._disturbed.append((stamp_s, words))
            self._listed += 1

    def close(self) -> None:
        """Write the remaining rows and stop the thread."""
        self._closed.set()
        self._thread.join()

    def _drop_the_oldest(self, rows: NDArray[np.void]) -> None:
        """Copy the newer rows into a new array, since the writer may be reading the old one."""
        gone = max(self._limit // 8, 1)
        kept = np.zeros_like(rows)
        kept[: self._count - gone] = rows[gone : self._count]
        with self._lock:
            self._rows, self._count, self._dropped = kept, self._count - gone, self._dropped + gone

    def _goal_number(self, goal_id: str) -> int:
        """Return the index of a goal in `goals`, to which a new goal is appended."""
        if goal_id not in self._goal_numbers:
            name = goal_id if len(self._goals) < MAX_GOALS else LATER_GOALS
            if name not in self._goal_numbers:
                self._goal_numbers[name] = len(self._goals)
                self._goals.append(name)
            return self._goal_numbers[name]
        return self._goal_numbers[goal_id]

    def _flush_regularly(self) -> None:
        while not self._closed.wait(self._pause_s):
            self._try_to_flush()
        self._try_to_flush()

    def _try_to_flush(self) -> None:
        """Write the file; a failure of the disk is logged once, and the next call tries again."""
        try:
            self._flush()
        except OSError as error:
            if not self._complained:
                self._complained = True
                what = "the simulation goes on, and what happens from now on may be missing there"
                _log.error("%s: %s; %s", self.path, error.strerror or error, what)

    def _flush(self) -> None:
        """Write the file, or mark it as up to date. Rows below the count never change, so the loop may append."""
        with self._lock:
            count, rows, added = self._count, self._rows, (self._dropped + self._count, self._listed)
            chunks, resets, disturbed = self._chunks[:], self._resets[:], self._disturbed[:]
        if rows is None:
            return
        if added == self._written and self.path.exists():
            os.utime(self.path)
            return
        buffer = io.BytesIO()
        np.savez(buffer, **self._arrays(rows[:count], chunks, resets, disturbed))
        write_atomically(self.path, buffer.getbuffer())
        self._written, self._pause_s = added, max(FLUSH_S, buffer.tell() / WRITTEN_PER_S)

    def _arrays(
        self,
        rows: NDArray[np.void],
        chunks: Sequence[tuple[float, float, bool]],
        resets: Sequence[tuple[float, str, int]],
        disturbed: Sequence[tuple[float, str]],
    ) -> dict[str, Any]:
        arrays: dict[str, Any] = {name: rows[name] for name in rows.dtype.names or ()}
        for i, name in enumerate(("chunk_stamp_s", "chunk_latency_s", "chunk_rejected")):
            arrays[name] = np.array([chunk[i] for chunk in chunks], dtype=bool if i == 2 else np.float64)
        arrays["reset_stamp_s"] = np.array([reset[0] for reset in resets], dtype=np.float64)
        arrays["reset_task"] = np.array([reset[1] for reset in resets], dtype=str)
        arrays["reset_init"] = np.array([reset[2] for reset in resets], dtype=np.int64)
        arrays["disturbed_stamp_s"] = np.array([each[0] for each in disturbed], dtype=np.float64)
        arrays["disturbed"] = np.array([each[1] for each in disturbed], dtype=str)
        return {**self._constants, "goals": np.array(self._goals[:], dtype=str), **arrays}


def _row_type(positions: int, actions: int, tasks: int) -> np.dtype[np.void]:
    """Return the dtype of one control step in memory."""
    return np.dtype(
        [
            ("stamp_s", np.float64),
            ("wall_s", np.float64),
            ("qpos", np.float64, (positions,)),
            ("mocap_pos", np.float64, (3,)),
            ("action", np.float64, (actions,)),
            ("held", np.bool_),
            ("success", np.bool_, (tasks,)),
            ("goal", np.int32),
        ]
    )


def _widened(rows: NDArray[np.void], kind: np.dtype[np.void]) -> NDArray[np.void]:
    """Return a copy of rows whose dtype has more positions, those that are added being nan."""
    wide = np.zeros(len(rows), kind)
    for name in kind.names or ():
        if name == "qpos":
            wide[name] = np.nan
            wide[name][:, : rows.dtype[name].shape[0]] = rows[name]
        else:
            wide[name] = rows[name]
    return wide
