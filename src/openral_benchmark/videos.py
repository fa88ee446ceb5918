"""Films of a run: the first successes and failures of each task, drawn from what was noted while they ran."""

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
"""[px] of the square picture."""
_CRF = 28
"""Twenty or forty kilobytes a film, so that a page can hold a hundred of them."""
TRACES = "traces"
FILMS = "films"


def trace_path(folder: Path, task: str, init_id: int) -> Path:
    """Return where a run keeps the trace of an episode; `task` with its family."""
    return folder / TRACES / f"{_stem(task, init_id)}.npz"


def rows_with_video(rows: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return the first `most` successes and failures of each task, in the order of the rows.

    Episodes that did not come to their end have nothing to show.
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
    """Draw what `rows_with_video` chooses, one MP4 each, from the scene's first camera, and delete the traces.

    Args:
        folder: of the run, with traces; films that are there are kept as they are.
        scenes: that were run.
        rows: of the result.
        most: successes and failures a task.

    Yields:
        one record a film: task, init_id, success, and `file` in the run's folder. Episodes that left no trace, since
        they ran before films were asked for, are left out.
    """
    (folder / FILMS).mkdir(parents=True, exist_ok=True)
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
    """Return where the film of a row is."""
    return folder / FILMS / f"{_stem(row['task'], row['init_id'])}.mp4"


def _draw(scene: BenchmarkScene, traces: dict[int, Path], folder: Path) -> None:
    backend = make_backend(enlarged(scene, SIZE))
    try:
        for init_id, path in traces.items():
            film = folder / FILMS / f"{_stem(scene.task.id, init_id)}.mp4"
            frames = trace_frames(backend, Trace.load(path), scene.cameras[0].name)
            write_mp4(film, frames, fps=FPS, crf=_CRF)
    finally:
        backend.close()


def _stem(task: str, init_id: int) -> str:
    return f"{re.sub(r'[^A-Za-z0-9_.-]', '-', task)}-{init_id}"
