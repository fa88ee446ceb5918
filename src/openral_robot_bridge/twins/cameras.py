"""The cameras of a twin: a process of its own renders the scene's cameras, and serves them as network cameras."""

from __future__ import annotations

import multiprocessing
import signal
import time
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import RawArray
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
        heard, told = context.Pipe(duplex=False)
        arguments = (scene, host, port, self._positions, told)
        self._process = context.Process(target=_draw, args=arguments, name="twin cameras", daemon=True)
        self._process.start()
        told.close()
        with heard:
            why = _first_words(heard, START_S)
        if why:
            self.close()
            raise SimulationError(f"the twin's cameras cannot be drawn: {why}")

    def see(self, positions: Any) -> None:
        """Set the qpos (nq,) to render from now on."""
        self._seen[:] = positions

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.join(2.0)


def _first_words(heard: Connection, patience_s: float) -> str:
    """Return what the process says first: why it cannot draw, or an empty text when images are served."""
    if not heard.poll(patience_s):
        return f"its process said nothing for {patience_s:g} s"
    try:
        return str(heard.recv())
    except EOFError:
        return "its process has ended; see the lines above"


def _draw(scene: DeployScene, host: str, port: int, positions: Any, told: Connection) -> None:
    """Render and serve until the twin's process ends, in whatever way.

    What is told first is an empty text after the first images, or why there are none.
    """
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
    period_s = 1.0 / max(camera.rate_hz for camera in scene.cameras)
    noise, hidden = np.random.default_rng(), compiled.options.hidden_groups
    try:
        server = CameraServer(host, port, names)
        renderer = OffscreenRenderer(compiled.model, *size, look, hidden_groups=hidden)
    except OSError as error:
        fix = "give another --cameras-port or --address"
        told.send(f"port {port} of {host} cannot be listened on ({error.strerror}); {fix}")
        return
    except SimulationError as error:
        told.send(str(error))
        return
    with renderer:
        due = time.monotonic()
        while twin is not None and twin.is_alive():
            data.qpos[:] = positions
            mujoco.mj_forward(compiled.model, data)
            for name in names:
                server.show(name, _noisy(renderer.render(data, name), noise))
            if not told.closed:
                told.send("")
                told.close()
            due = max(due + period_s, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))


def _noisy(image: Image, noise: np.random.Generator) -> Image:
    added = image + noise.normal(0.0, NOISE, image.shape).round()
    return np.clip(added, 0, 255).astype(np.uint8)
