"""Number of control steps that the arm has followed for one goal. No ROS, no clock: both are passed in."""

from __future__ import annotations

from openral_policy_nodes.goal_supervisor import BridgeStatus


class StepCount:
    """Counts steps from the statuses of the bridge (5 Hz), and between two of them by the clock.

    The count is never larger than the number of control steps since the observation that the goal's first chunk
    answers. In lockstep it is exactly that number, since simulated time does not advance without a chunk.
    """

    def __init__(self, goal_id: str, dt_s: float) -> None:
        """Begin with a goal (hex UUID); `dt_s` [s] is one control step."""
        self._goal_id, self._dt_s = goal_id, dt_s
        self._before: int | None = None
        """Steps that the bridge had executed when it took the goal's first chunk; where it was started again since,
        less those before, so that what it has executed less this is the goal's steps in any case."""
        self._status: BridgeStatus | None = None
        """The newest status in which the bridge executed the goal."""
        self._left = False
        """Whether the bridge has executed another goal, or none, since that status."""

    def on_status(self, status: BridgeStatus) -> None:
        """Update the count with a status of the bridge."""
        if status.active_goal == self._goal_id:
            if self._before is None:
                self._before = status.executed
            if self._status is not None and status.executed < self._status.executed:
                self._before -= self._status.executed  # a bridge that was started again counts from zero
            self._status, self._left = status, False
        else:
            self._left = True

    def at(self, stamp_s: float, first_s: float | None, *, lockstep: bool) -> int:
        """Return the number of executed steps at a stamp.

        Args:
            stamp_s: [s] clock of the bridge.
            first_s: [s] stamp of the observation that the goal's first chunk answers; None: no chunk was sent.
            lockstep: whether the bridge waits for an answer to each observation.
        """
        if first_s is None:
            return 0
        most = self._steps(stamp_s - first_s)
        if lockstep or self._status is None or self._before is None:
            return most
        executed = self._status.executed - self._before
        # The status that comes with the first chunk still says that the arm holds.
        moves = not self._left and not self._status.stopped_by
        moves = moves and (not self._status.holding or executed == 0)
        return min(most, executed + (self._steps(stamp_s - self._status.stamp_s) if moves else 0))

    def _steps(self, duration_s: float) -> int:
        return max(0, round(duration_s / self._dt_s))
