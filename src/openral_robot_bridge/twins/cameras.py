"""The cameras of a twin: a process of its own draws what the scene's cameras see, and serves it as network cameras."""

from __future__ import annotations

import multiprocessing
import signal
import time
from multiprocessing.sharedctypes import RawArray
from multiprocessing.synchronize import Event
from typing import Any

import numpy as np

from openral_core.errors import SimulationError
from openral_core.robot import load_robot
from openral_core.scene import DeployScene
from openral_core.types import Image
from openral_robot_bridge.twins.camera_server import CameraServer

START_S = 60.0
"""[s] that the process has to compile the scene and draw it once."""
NOISE = 1.5
"""Standard deviation of each colour, of 255, as of a sensor's pixels; without it a still picture is a frozen one."""


class TwinCameras:
    """Draws a twin's scene beside the twin, whose cycles do not wait for it."""

    def __init__(self, scene: DeployScene, host: str, port: int, positions: int) -> None:
        """Begin to draw, and return when pictures are served.

        Args:
            scene: of family mjcf.
            host: address of this machine to listen on.
            port: for HTTP.
            positions: how many numbers the model's qpos has.

        Raises:
            SimulationError: the scene cannot be drawn here, or the port is taken.
        """
        context = multiprocessing.get_context("spawn")
        self._positions: Any = RawArray("d", positions)
        self._seen = np.frombuffer(self._positions)
        ready = context.Event()
        arguments = (scene, host, port, self._positions, ready)
        self._process = context.Process(target=_draw, args=arguments, name="twin cameras", daemon=True)
        self._process.start()
        due = time.monotonic() + START_S
        while not ready.wait(0.1):
            if not self._process.is_alive() or time.monotonic() > due:
                self.close()
                raise SimulationError(
                    f"the twin's cameras cannot be drawn, or port {port} of {host} is taken; see the lines above"
                )

    def see(self, positions: Any) -> None:
        """Draw the model's qpos from now on."""
        self._seen[:] = positions

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.join(2.0)


def _draw(scene: DeployScene, host: str, port: int, positions: Any, ready: Event) -> None:
    """Draw and serve until the twin ends, by whatever death."""
    twin = multiprocessing.parent_process()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the twin ends this
    import mujoco

    from openral_sim_bridge.backends.mjcf.world import CompiledScene
    from openral_sim_bridge.rendering.renderer import OffscreenRenderer, profile

    compiled = CompiledScene(scene, load_robot(scene.robot_id))
    data: Any = mujoco.MjData(compiled.model)
    look = profile(str(scene.scene.backend_options.get("render_profile", "published")))
    size = scene.scene.observation_width, scene.scene.observation_height
    names = [camera.name for camera in scene.cameras]
    server = CameraServer(host, port, names)
    period_s = 1.0 / max(camera.rate_hz for camera in scene.cameras)
    noise = np.random.default_rng()
    with OffscreenRenderer(
        compiled.model, *size, look, hidden_groups=compiled.options.hidden_groups
    ) as renderer:
        due = time.monotonic()
        while twin is not None and twin.is_alive():
            data.qpos[:] = positions
            mujoco.mj_forward(compiled.model, data)
            for name in names:
                server.show(name, _noisy(renderer.render(data, name), noise))
            ready.set()
            due = max(due + period_s, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))


def _noisy(image: Image, noise: np.random.Generator) -> Image:
    added = image + noise.normal(0.0, NOISE, image.shape).round()
    return np.clip(added, 0, 255).astype(np.uint8)
