"""The frames of one view and the faults of its cameras."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from openral_core.image_message import is_ahead
from openral_core.manifest import Reward
from openral_core.types import Image
from openral_reward_monitor.camera_health import CameraHealth
from openral_reward_monitor.camera_views import cameras_of
from openral_reward_monitor.window import FrameWindow, Selection

SET_BACK_S = 1.0
"""[s] by which a stamp must be older than the newest of its camera to mean that the clock was set back.

A smaller difference means that the message arrived out of order."""
TOGETHER_S = 0.1
"""[s] most by which the pictures of one frame may differ in age: two periods of a camera of 20 Hz."""


@dataclass
class _ViewCamera:
    """One camera of a view."""

    health: CameraHealth = field(default_factory=CameraHealth)
    fault: str = ""
    """Why its newest message could not be read; empty: it could."""
    arrived_wall_s: float = float("-inf")
    """[s] on the monotonic clock: arrival of its newest picture."""
    newest_s: float | None = None
    """[s] stamp of its newest picture; None: there is none."""
    waiting: Image | None = None
    """Its newest picture, if no frame has it yet."""


class CameraWatch:
    """The frames of one view, and its cameras' faults."""

    def __init__(self, name: str, reward: Reward, max_frames: int) -> None:
        self.name = name
        """Of the view, see `openral_reward_monitor.camera_views`."""
        self.window = FrameWindow(reward.frame_window_s, reward.target_fps, max_frames, camera=name)
        self.cameras = {camera: _ViewCamera() for camera in cameras_of(name)}

    @property
    def fault(self) -> str:
        """Why the newest message of one of its cameras could not be read; empty: all could."""
        return next((camera.fault for camera in self.cameras.values() if camera.fault), "")

    @property
    def missing(self) -> str:
        """Why there is no frame yet."""
        silent = [name for name, camera in self.cameras.items() if camera.newest_s is None]
        if silent:
            return f"no picture of camera {' and '.join(silent)} has come yet"
        return f"the pictures of {' and '.join(self.cameras)} are never within {TOGETHER_S:g} s of each other"

    @property
    def frozen(self) -> bool:
        """Whether the pictures of one of its cameras do not change although the robot moves."""
        return any(camera.health.frozen for camera in self.cameras.values())

    @property
    def dark(self) -> bool:
        """Whether the newest picture of one of its cameras is too dark to be scored."""
        return any(camera.health.dark for camera in self.cameras.values())

    @property
    def arrived_wall_s(self) -> float:
        """[s] on the monotonic clock: arrival of the newest picture of the camera that has been silent for longest."""
        return min(camera.arrived_wall_s for camera in self.cameras.values())

    def forget(self) -> None:
        """Drop all frames, which are of a clock that began anew."""
        self.window.clear()
        for camera in self.cameras.values():
            camera.health, camera.newest_s, camera.waiting = CameraHealth(), None, None

    def forget_future(self, name: str, now_s: float) -> None:
        """Drop all frames if a camera's newest picture is later than the present time; see `Cameras.forget_future`."""
        newest_s = self.cameras[name].newest_s
        if newest_s is not None and is_ahead(newest_s, now_s):
            self.forget()

    def select(self, window_s: float = 0.0) -> Selection | None:
        """Choose frames over `window_s` [s], and add the cameras' faults; see `FrameWindow.select`."""
        chosen = self.window.select(window_s)
        return chosen and replace(chosen, frozen=self.frozen, dark=self.dark)

    def add(self, name: str, stamp_s: float, picture: Image, wall_s: float) -> bool:
        """Take a camera's picture; return whether it completes a frame, whose stamp is that of its newest picture.

        A picture whose stamp does not rise is dropped. Another one waits for those of the other cameras, until its own
        camera sends a newer one or another camera's is newer by more than TOGETHER_S.

        Args:
            name: of the camera.
            stamp_s: [s] on the bridge's clock.
            picture: (H, W, 3) uint8 RGB; it must not be written to afterwards.
            wall_s: [s] on the monotonic clock.
        """
        camera = self.cameras[name]
        camera.fault, camera.arrived_wall_s = "", wall_s
        if camera.newest_s is not None and stamp_s < camera.newest_s - SET_BACK_S:
            self.forget()
        if camera.newest_s is not None and stamp_s <= camera.newest_s:
            return False
        camera.newest_s, camera.waiting = stamp_s, picture
        camera.health.frame(stamp_s, picture)
        stamps = {key: other.newest_s for key, other in self.cameras.items() if other.newest_s is not None}
        newest_s = max(stamps.values())
        pictures = [
            other.waiting
            for key, other in self.cameras.items()
            if other.waiting is not None and newest_s - stamps[key] <= TOGETHER_S
        ]
        if len(pictures) < len(self.cameras):
            return False
        for other in self.cameras.values():
            other.waiting = None
        return self.window.add(newest_s, *pictures)
