"""Videos of a run: the first successes and failures of each task, rendered from the traces of their episodes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from openral_core.scene import BenchmarkScene
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.rendering.mp4 import write_mp4
from openral_sim_bridge.trace import FPS, Trace, enlarged, trace_frames

SIZE = 240
"""[px] side of the square picture."""
_CRF = 28
"""Constant rate factor of the encoder: it gives 20 to 40 kB a video, so that a page can hold a hundred of them."""
TRACES = "traces"
VIDEOS = "films"


def trace_path(folder: Path, task: str, init_id: int) -> Path:
    """Return the path of an episode's trace in the folder of a run; `task` is its id with the simulator's family."""
    return folder / TRACES / f"{_stem(task, init_id)}.npz"


def rows_with_video(rows: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return the first `most` successes and failures of each task, in the order of the rows.

    Episodes without a result are left out.
    """
    counts: dict[tuple[str, bool], int] = {}
    chosen = []
    for row in rows:
        key = (str(row["task"]), bool(row["success"]))
        if not row["error"] and counts.get(key, 0) < most:
            counts[key] = counts.get(key, 0) + 1
            chosen.append(row)
    return chosen


def draw_videos(
    folder: Path, scenes: Sequence[BenchmarkScene], rows: Sequence[dict[str, Any]], most: int
) -> Iterator[dict[str, Any]]:
    """Render one MP4 of each row that `rows_with_video` chooses, from the scene's first camera; delete the traces.

    Args:
        folder: of the run, with traces; existing videos are kept.
        scenes: those that were run.
        rows: of the result.
        most: most successes, and most failures, of each task.

    Yields:
        One record for each video: task, init_id, success, steps, and `file` in the run's folder. Episodes without a
        trace, which ran before videos were asked for, are left out.
    """
    (folder / VIDEOS).mkdir(parents=True, exist_ok=True)
    wanted = rows_with_video(rows, most)
    for scene in scenes:
        mine = [row for row in wanted if row["task"] == scene.task.id]
        missing = [row for row in mine if not video_path(folder, row).exists()]
        traced = {row["init_id"]: trace_path(folder, scene.task.id, row["init_id"]) for row in missing}
        traced = {init_id: path for init_id, path in traced.items() if path.exists()}
        if traced:
            _draw(scene, traced, folder)
        for row in mine:
            path = video_path(folder, row)
            if path.exists():
                kept = {name: row[name] for name in ("task", "init_id", "success", "steps")}
                yield {**kept, "file": path.relative_to(folder).as_posix()}
    shutil.rmtree(folder / TRACES, ignore_errors=True)


def video_path(folder: Path, row: dict[str, Any]) -> Path:
    """Return the path of a row's video."""
    return folder / VIDEOS / f"{_stem(row['task'], row['init_id'])}.mp4"


def _draw(scene: BenchmarkScene, traces: dict[int, Path], folder: Path) -> None:
    backend = make_backend(enlarged(scene, SIZE))
    try:
        for init_id, path in traces.items():
            video = folder / VIDEOS / f"{_stem(scene.task.id, init_id)}.mp4"
            frames = trace_frames(backend, Trace.load(path), scene.cameras[0].name)
            write_mp4(video, frames, fps=FPS, crf=_CRF)
    finally:
        backend.close()


def _stem(task: str, init_id: int) -> str:
    return f"{re.sub(r'[^A-Za-z0-9_.-]', '-', task)}-{init_id}"
