"""Snapshots of worlds during episodes, from which a video of an episode can be rendered afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from openral_core.files.atomic import replaced_file
from openral_core.scene import DeployScene
from openral_sim_bridge.backend import Backend, Snapshot

FPS = 10
"""[1/s of simulation time] rate of the snapshots, and of the frames that are rendered from them."""


@dataclass(frozen=True)
class Trace:
    """The T snapshots of one episode."""

    task_id: str
    """The simulator's name of the task."""
    init_id: int
    qpos: NDArray[np.float64]
    """(T, nq) see Snapshot."""
    mocap_pos: NDArray[np.float64]
    """(T, 3) [m] see Snapshot."""

    def save(self, path: Path) -> None:
        """Write the trace as npz, atomically."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced_file(path) as partial, partial.open("wb") as file:
            np.savez_compressed(file, **vars(self))

    @classmethod
    def of(cls, task_id: str, init_id: int, snapshots: Sequence[Snapshot]) -> Trace:
        """Return the trace of an episode from its T snapshots, at least one."""
        qpos = np.stack([snapshot.qpos for snapshot in snapshots])
        return cls(task_id, init_id, qpos, np.stack([snapshot.mocap_pos for snapshot in snapshots]))

    @classmethod
    def load(cls, path: Path) -> Trace:
        """Read a trace that `save` wrote."""
        with np.load(path, allow_pickle=False) as found:
            return cls(str(found["task_id"]), int(found["init_id"]), found["qpos"], found["mocap_pos"])


def steps_a_frame(control_hz: float) -> int:
    """Return the number of control steps between two snapshots, at least 1."""
    return max(1, round(control_hz / FPS))


def trace_frames(backend: Backend, trace: Trace, camera: str) -> Iterator[NDArray[np.uint8]]:
    """Render an episode again, FPS frames for each second of simulation.

    Args:
        backend: of the episode's scene; its world 0 is used.
        trace: of the episode.
        camera: name of the camera.

    Yields:
        Images (H, W, 3) uint8 RGB.
    """
    backend.reset([trace.task_id], [trace.init_id], [0])
    for qpos, mocap in zip(trace.qpos, trace.mocap_pos, strict=True):
        backend.restore(Snapshot(qpos, mocap))
        yield np.ascontiguousarray(backend.render([camera], [0])[camera][0])


def enlarged(scene: DeployScene, size: int, look: str | None = None) -> DeployScene:
    """Return a copy of a scene with square images of another size, for videos.

    Args:
        scene: to be rendered.
        size: [px] width and height of the images.
        look: name of another render profile; None: that of the scene.
    """
    world = scene.scene
    options = {**world.backend_options, **({"render_profile": look} if look else {})}
    pictured = {"observation_width": size, "observation_height": size, "backend_options": options}
    return scene.model_copy(update={"scene": world.model_copy(update=pictured)})
