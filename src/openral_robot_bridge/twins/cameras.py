"""The cameras of a twin: a process of its own renders the scene's cameras, and serves them as network cameras."""

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
"""[s] timeout of the process's start: it compiles the scene and renders it once."""
NOISE = 1.5
"""Standard deviation of the noise of each colour value (0 to 255), like a sensor's.

Without it, the images of a scene at rest would count as frozen."""


class TwinCameras:
    """Renders a twin's scene in another process, for which the twin's cycles do not wait."""

    def __init__(self, scene: DeployScene, host: str, port: int, positions: int) -> None:
        """Start the process, and return when images are served.

        Args:
            scene: of family mjcf.
            host: address of this machine to listen on.
            port: HTTP port.
            positions: size of the model's qpos.

        Raises:
            SimulationError: the scene cannot be rendered on this machine, or the port is taken.
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
        """Set the qpos (nq,) to render from now on."""
        self._seen[:] = positions

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.join(2.0)


def _draw(scene: DeployScene, host: str, port: int, positions: Any, ready: Event) -> None:
    """Render and serve until the twin's process ends, in whatever way."""
    twin = multiprocessing.parent_process()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the twin ends this process
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
