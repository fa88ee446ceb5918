"""The monitor's views: a window of frames for each, and the choice of the one that is scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from openral_core.manifest import Reward
from openral_core.types import Image
from openral_reward_monitor.camera_watch import CameraWatch
from openral_reward_monitor.window import WatchedGoal


class Cameras:
    """Keeps the frames of all views; the first one without a fault is scored, in the order of their names."""

    def __init__(
        self, names: Sequence[str], reward: Reward, max_frames: int, stale_after_s: float, standing: str = ""
    ) -> None:
        """Begin without frames.

        Args:
            names: of the views, each of one camera or of several (`openral_reward_monitor.camera_views`); the first is
                preferred.
            reward: section of the manifest, with window and frame rate.
            max_frames: most frames in one scoring.
            stale_after_s: [s] age of its newest frame from which on a camera counts as dead.
            standing: task that is scored while no goal is running; empty: nothing is scored then.
        """
        self.by_name = {name: CameraWatch(name, reward, max_frames) for name in names}
        self._stale_after_s = stale_after_s
        self._standing = standing
        self.goal: WatchedGoal | None = None
        """The running goal; None: none is running."""
        self.is_paused = False
        """Whether an operator moves the arm and the goal waits; frames are kept then, and none are scored."""
        if standing:
            self._stand_by()

    @property
    def words(self) -> str | None:
        """The task that is scored continuously; None: there is none."""
        return self.goal.instruction if self.goal is not None else self._standing or None

    def _stand_by(self) -> None:
        for camera in self.by_name.values():
            camera.window.attempt = WatchedGoal("", self._standing)

    def pause(self, paused: bool) -> None:
        """Pause while an operator moves the arm, or resume; the goal's trend begins anew when it resumes."""
        if self.is_paused and not paused and self.goal is not None:
            self.goal = replace(self.goal, resumed=self.goal.resumed + 1)
            for camera in self.by_name.values():
                camera.window.attempt = self.goal
        self.is_paused = paused

    def begin(self, attempt: WatchedGoal, now_s: float = 0.0) -> None:
        """Begin a goal, with new windows.

        Args:
            attempt: the goal.
            now_s: [s] on the bridge's clock; a camera whose newest frame is stale by then begins without one, since it
                shows the world before the attempt. 0: nobody knows, and newest frames are kept.
        """
        self.goal = attempt
        for camera in self.by_name.values():
            newest_s = camera.window.newest_s
            if newest_s is not None and now_s - newest_s > self._stale_after_s:
                camera.window.clear()
            camera.window.begin(attempt)

    def end(self) -> None:
        """End the running goal, if there is one; its frames are kept."""
        if self.goal is None:
            return
        self.goal = None
        for camera in self.by_name.values():
            camera.window.end()
        if self._standing:
            self._stand_by()

    def joints(self, positions: NDArray[np.float64], stamp_s: float | None) -> None:
        """Take joint positions (J,) [rad or m] and their stamp [s], which is None if they have none."""
        for view in self.by_name.values():
            for camera in view.cameras.values():
                camera.health.joints(positions, stamp_s)

    def forget_future(self, name: str, now_s: float) -> None:
        """Clear the windows of a camera if its newest picture is later than the present time, as after a restart.

        Args:
            name: of the camera.
            now_s: [s] on the bridge's clock, which begins at 0 again when the bridge restarts.
        """
        for view in self._views_of(name):
            view.forget_future(name, now_s)

    def report(self, name: str, fault: str) -> None:
        """Take the reason why a camera's newest message could not be read."""
        for view in self._views_of(name):
            view.cameras[name].fault = fault

    def add(self, name: str, stamp_s: float, picture: Image, wall_s: float) -> bool:
        """Take a camera's picture; return whether it completes a frame of a view (see `CameraWatch.add`).

        A stamp that falls far means that the clock was set back, as by a bridge that was restarted; then the frames
        before it are dropped.
        """
        complete = [view.add(name, stamp_s, picture, wall_s) for view in self._views_of(name)]
        return any(complete)

    def _views_of(self, name: str) -> list[CameraWatch]:
        return [view for view in self.by_name.values() if name in view.cameras]

    def watched(self, now_s: float) -> CameraWatch:
        """Return the view to be scored.

        Live ones are preferred to dead ones, then those without a fault, then those that are neither frozen nor
        dark; of equal ones the first.

        Args:
            now_s: [s] on the bridge's clock.
        """

        def doubts(camera: CameraWatch) -> tuple[bool, bool, bool]:
            newest_s = camera.window.newest_s
            dead = newest_s is None or now_s - newest_s > self._stale_after_s
            return dead, bool(camera.fault), camera.frozen or camera.dark

        return min(self.by_name.values(), key=doubts)  # the first of those that are equally good
