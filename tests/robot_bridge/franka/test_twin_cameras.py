"""A twin's cameras show its world to whoever opens them as a network camera."""

from __future__ import annotations

import queue
import socket
import time
from collections.abc import Iterator

import numpy as np
import pytest
from twin_process import TwinProcess

from openral_core.errors import SimulationError
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_robot_bridge.cameras.device import CameraDevice
from openral_robot_bridge.twins.cameras import TwinCameras
from openral_sim_bridge.backends.mjcf.backend import MjcfBackend

SCENE = "fr3_tabletop_cameras"


@pytest.fixture(scope="module")
def port() -> Iterator[tuple[int, TwinProcess]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = int(probe.getsockname()[1])
    twin = TwinProcess(SCENE, "", "--cameras-port", str(free))
    yield free, twin
    twin.close()


def test_pictures_are_those_of_the_simulated_scene(port) -> None:
    free, twin = port
    scene = load_scene(SCENE)
    backend = MjcfBackend(scene, load_robot(scene.robot_id))
    drawn = backend.render(["front", "wrist"])
    backend.close()
    for name in ("front", "wrist"):
        seen: queue.Queue = queue.Queue()
        faults: list[str] = []
        device = CameraDevice(
            f"http://{twin.address}:{free}/{name}.mjpg",
            None,
            lambda stamp, image, seen=seen: seen.put((stamp, image)),
            faults.append,
        )
        pictures = [seen.get(timeout=30) for _ in range(5)]
        device.close()
        assert not faults
        stamps = [stamp for stamp, _ in pictures]
        assert stamps == sorted(set(stamps))
        assert abs(stamps[-1] * 1e-9 - time.time()) < 60
        image = pictures[-1][1].astype(float)
        # Noise and JPEG change little, another view would change much.
        assert np.abs(image - drawn[name][0]).mean() < 6.0
        assert (pictures[-1][1] != pictures[0][1]).any()


def test_a_port_that_is_taken_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = int(other.getsockname()[1])
        with pytest.raises(
            SimulationError, match=f"port {taken} of 127.0.0.1 cannot be listened on .*; give"
        ):
            TwinCameras(load_scene(SCENE), "127.0.0.1", taken, 9)
    assert capfd.readouterr().err == ""
