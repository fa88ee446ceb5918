"""Videos of an evaluated policy: the first success and the first failure of each task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from openral_core.scene import DeployScene
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.rendering.mp4 import write_mp4
from openral_sim_bridge.trace import FPS, Trace, enlarged, steps_a_frame, trace_frames
from openral_training.rl.envs.observation_encoder import ObservationEncoder
from openral_training.rl.policies.policy import StochasticPolicy

SIZE = 240
"""[px] side of the square video."""


def write_videos(
    folder: Path,
    scenes: Mapping[str, DeployScene],
    policy: StochasticPolicy,
    rows: Sequence[Mapping[str, Any]],
    encoder: ObservationEncoder,
) -> list[dict[str, Any]]:
    """Run episodes of an evaluation again, render them with the scene's first camera, and return one record per video.

    A record is the row of the episode with the additional key `file`, the video's path relative to the run's folder.

    Args:
        folder: of the videos, `<task>-<init_id>.mp4`.
        scenes: by task.
        policy: that acts, greedily.
        rows: of `evaluate_policy`.
        encoder: returns observations.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for task, scene in scenes.items():
        of_task = [row for row in rows if row["task"] == task]
        chosen = [
            next((r for r in of_task if bool(r["success"]) is ending), None) for ending in (True, False)
        ]
        # The policy gets images of the scene's own size; only the video is larger.
        acting, drawing = make_backend(scene), make_backend(enlarged(scene, SIZE))
        try:
            for row in chosen:
                if row is None:
                    continue
                path = folder / f"{task}-{row['init_id']}.mp4"
                trace = _run_again(acting, task, row, policy, encoder)
                write_mp4(path, trace_frames(drawing, trace, scene.cameras[0].name), fps=FPS, crf=28)
                made.append({**row, "file": f"{folder.name}/{path.name}"})
        finally:
            acting.close()
            drawing.close()
    return made


def _run_again(
    backend: Backend, task: str, row: Mapping[str, Any], policy: StochasticPolicy, encoder: ObservationEncoder
) -> Trace:
    """Run the episode of a row again and return snapshots of the simulator at the video's frame rate."""
    [state] = backend.reset([task], [row["init_id"]])
    snapshots = [backend.snapshot()]
    for step in range(row["steps"]):
        if step % policy.chunk == 0:
            chunk = policy.greedy(encoder.encode(backend, 0, task, state)[None])[0]
        [state] = backend.step(chunk[step % policy.chunk][None]).states
        if (step + 1) % steps_a_frame(backend.control_hz) == 0 or step + 1 == row["steps"]:
            snapshots.append(backend.snapshot())
    return Trace.of(task, row["init_id"], snapshots)
