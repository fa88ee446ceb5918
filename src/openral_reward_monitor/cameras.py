"""The cameras that the monitor has: a window of frames each, and which of them is to be trusted now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from openral_core.image_message import is_ahead
from openral_core.manifest import Reward
from openral_core.types import Image
from openral_reward_monitor.camera_health import CameraHealth
from openral_reward_monitor.window import FrameWindow, Selection, WatchedGoal


class CameraWatch:
    """One camera: its frames, and what is wrong with it."""

    def __init__(self, name: str, reward: Reward, max_frames: int) -> None:
        self.name = name
        self.window = FrameWindow(reward.frame_window_s, reward.target_fps, max_frames, camera=name)
        self.health = CameraHealth()
        self.fault = ""
        """Why its newest message could not be read."""
        self.arrived_wall_s = float("-inf")
        """[s] monotonic clock, arrival of the newest frame."""

    def select(self, window_s: float = 0.0) -> Selection | None:
        """Choose frames; see `FrameWindow.select`."""
        chosen = self.window.select(window_s)
        return chosen and replace(chosen, frozen=self.health.frozen, dark=self.health.dark)


class Cameras:
    """Watches the first camera that can be trusted, in the order they were named in."""

    def __init__(
        self, names: Sequence[str], reward: Reward, max_frames: int, stale_after_s: float, standing: str = ""
    ) -> None:
        """Begin with no frame of any.

        Args:
            names: of the cameras; the first is preferred.
            reward: how the model is fed.
            max_frames: shown to the model in one scoring.
            stale_after_s: [s] age of its newest frame from which on a camera counts as dead.
            standing: words to watch for while no goal is running; empty: nothing is watched then.
        """
        self.by_name = {name: CameraWatch(name, reward, max_frames) for name in names}
        self._stale_after_s = stale_after_s
        self._standing = standing
        self.goal: WatchedGoal | None = None
        """The goal that is running."""
        self.is_paused = False
        """An operator has the arm, and the goal waits: its frames are kept, and nothing is scored."""
        if standing:
            self._stand_by()

    @property
    def words(self) -> str | None:
        """What is being watched for; None: nothing is."""
        return self.goal.instruction if self.goal is not None else self._standing or None

    def _stand_by(self) -> None:
        for camera in self.by_name.values():
            camera.window.attempt = WatchedGoal("", self._standing)

    def pause(self, paused: bool) -> None:
        """An operator has taken the arm, or has given it back, with which the goal's trend begins anew."""
        if self.is_paused and not paused and self.goal is not None:
            self.goal = replace(self.goal, resumed=self.goal.resumed + 1)
            for camera in self.by_name.values():
                camera.window.attempt = self.goal
        self.is_paused = paused

    def begin(self, attempt: WatchedGoal) -> None:
        """A goal began: every window begins with it."""
        self.goal = attempt
        for camera in self.by_name.values():
            camera.window.begin(attempt)

    def end(self) -> None:
        """The goal is over."""
        if self.goal is None:
            return
        self.goal = None
        for camera in self.by_name.values():
            camera.window.end()
        if self._standing:
            self._stand_by()

    def joints(self, positions: NDArray[np.float64], stamp_s: float | None) -> None:
        """Take joint positions [rad or m] and their stamp [s], None where they have none."""
        for camera in self.by_name.values():
            camera.health.joints(positions, stamp_s)

    def forget_future(self, name: str, now_s: float) -> None:
        """Begin a camera's window anew when its newest frame is of a clock that ran ahead of the present one.

        Args:
            name: of the camera.
            now_s: [s] clock of the bridge, which begins at 0 again when the bridge does.
        """
        camera = self.by_name[name]
        newest_s = camera.window.newest_s
        if newest_s is not None and is_ahead(newest_s, now_s):
            camera.window.clear()
            camera.health = CameraHealth()

    def add(self, name: str, stamp_s: float, frame: Image, wall_s: float) -> bool:
        """Take a camera's frame; False: its stamp does not rise, and it is dropped.

        Args:
            name: of the camera.
            stamp_s: [s] clock of the bridge.
            frame: (H, W, 3) uint8 RGB, not written to afterwards.
            wall_s: [s] monotonic clock.
        """
        camera = self.by_name[name]
        camera.fault, camera.arrived_wall_s = "", wall_s
        if not camera.window.add(stamp_s, frame):
            return False
        camera.health.frame(stamp_s, frame)
        return True

    def watched(self, now_s: float) -> CameraWatch:
        """Return the camera to be scored: live before dead, readable before not, good pictures before bad ones.

        Args:
            now_s: [s] clock of the bridge.
        """

        def doubts(camera: CameraWatch) -> tuple[bool, bool, bool]:
            newest_s = camera.window.newest_s
            dead = newest_s is None or now_s - newest_s > self._stale_after_s
            return dead, bool(camera.fault), camera.health.frozen or camera.health.dark

        return min(self.by_name.values(), key=doubts)  # the first of those that are equally good
