"""The film of a run: its recorded states are rendered again, larger than the policy's images."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from openral_cli.deploy.run_outcome import Arrays, load_truth
from openral_core.files.finished_run_folder import FILM_BEGIN, FILM_FILE, add_facts
from openral_core.mission_record import RecordedMission, RecordedStep, load_mission, load_steps
from openral_core.scene import DeployScene
from openral_sim_bridge.backend import Snapshot
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.rendering.film_panel import PanelState, draw_panel
from openral_sim_bridge.rendering.mp4 import write_mp4
from openral_sim_bridge.trace import enlarged

SIZE = 480
"""[px] of the square picture."""
FPS = 20
LOOKS = {"fast_goals": "film_goals", "published": "film_goals"}
"""Render profile of a scene -> that of its film; for others it is `film`, which has no goal markers."""
MARGIN_S = 0.6
"""[s] shown before the first motion and after the last."""
GIF_FPS = 10
GIF_MAX_BYTES = 4_000_000
SHOWN_S = 1.5
"""[s] for which a disturbance is named in the film."""
LONG_FILM = 1200
"""Frames, a minute of simulation, from which on rendering takes minutes on a slow machine."""
MAX_FRAMES = 2400
"""Most frames of a film, two minutes; of longer runs it shows the beginning."""


def write_film(
    run_dir: Path, scene: DeployScene, *, on_frame: Callable[[int, int], None] | None = None
) -> Path:
    """Render `mission.mp4` from the record in `run_dir`, note in `run.json` when it begins, and return its path.

    Args:
        run_dir: folder with `truth.npz`, `mission.json` and `mission.jsonl`.
        scene: that was run; its first camera is the point of view.
        on_frame: called after each frame with its number, from 1, and the number of all frames.

    Raises:
        NotFoundError: a part of the record is missing.
        SimulationError: rendering failed.
    """
    truth, steps = load_truth(run_dir), load_steps(run_dir)
    film = write_mp4(run_dir / FILM_FILE, film_frames(run_dir, scene, on_frame=on_frame), fps=FPS)
    add_facts(run_dir, **{FILM_BEGIN: _filmed(truth, steps)[1][0]})
    return film


def write_gif(film: Path, path: Path, *, width: int = 640) -> Path:
    """Turn a film into an animated GIF of at most 4 MB, shrinking it until it fits, and return its path."""
    with av.open(str(film)) as container:
        frames = [
            Image.fromarray(frame.to_ndarray(format="rgb24"))
            for i, frame in enumerate(container.decode(video=0))
            if i % (FPS // GIF_FPS) == 0
        ]
    while True:
        height = round(width * frames[0].height / frames[0].width)
        small = [frame.resize((width, height), Image.Resampling.LANCZOS) for frame in frames]
        palette = small[len(small) // 2].quantize(96)
        drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in small]
        drawn[0].save(
            path, save_all=True, append_images=drawn[1:], duration=1000 // GIF_FPS, loop=0, optimize=True
        )
        if path.stat().st_size <= GIF_MAX_BYTES or width < 160:
            return path
        width = int(width * 0.85)


def film_frames(
    run_dir: Path, scene: DeployScene, *, on_frame: Callable[[int, int], None] | None = None
) -> Iterator[NDArray[np.uint8]]:
    """Yield the film's frames (SIZE, SIZE + panel, 3) uint8 RGB, FPS for each second of simulation."""
    truth, mission, steps = load_truth(run_dir), load_mission(run_dir), load_steps(run_dir)
    rows, shown_s = _filmed(truth, steps)
    camera = scene.cameras[0].name
    look = LOOKS.get(str(scene.scene.backend_options.get("render_profile")), "film")
    backend = make_backend(enlarged(scene, SIZE, look))
    try:
        resets = 0
        for count, (row, stamp_s) in enumerate(zip(rows, shown_s, strict=True), start=1):
            while resets < len(truth["reset_stamp_s"]) and truth["reset_stamp_s"][resets] <= stamp_s:
                backend.reset([str(truth["reset_task"][resets])], [int(truth["reset_init"][resets])])
                resets += 1
            qpos = truth["qpos"][row]
            backend.restore(Snapshot(qpos[~np.isnan(qpos)], truth["mocap_pos"][row]))
            picture = backend.render([camera])[camera][0]
            state = panel_state(mission, steps, stamp_s, bool(truth["held"][row]))
            panel = draw_panel(replace(state, disturbance=_disturbance(truth, stamp_s)), SIZE)
            yield np.ascontiguousarray(np.hstack([picture, panel]))
            if on_frame is not None:
                on_frame(count, len(rows))
    finally:
        backend.close()


def panel_state(
    mission: RecordedMission, steps: Sequence[RecordedStep], stamp_s: float, held: bool
) -> PanelState:
    """Return the state of the film's panel at a stamp [s], from the reasoner's steps up to it."""
    past = [step for step in steps if step.stamp_s <= stamp_s]
    states = dict.fromkeys(range(len(mission.tasks)), "pending")
    attempt: list[tuple[float, float, float]] = []
    words = ""
    for step in past:
        if step.task in states:
            states[step.task] = step.outcome
        if step.kind == "attempt":
            attempt = []
        if step.kind == "reading":
            attempt.append((step.stamp_s, step.progress, step.success))
        else:
            words = step.reason
    tasks = [(task.text, states[index]) for index, task in enumerate(mission.tasks)]
    curve = np.array(attempt, dtype=np.float64).reshape(-1, 3)
    return PanelState(stamp_s, mission.text, tasks, curve, words, held)


def _disturbance(truth: Arrays, stamp_s: float) -> str:
    """Return the newest disturbance of the last `SHOWN_S` before a stamp [s], in words; empty: there is none."""
    since = stamp_s - truth["disturbed_stamp_s"]
    just = np.flatnonzero((since >= 0.0) & (since <= SHOWN_S))
    return f"disturbed: {truth['disturbed'][just[-1]]}" if len(just) else ""


def _filmed(truth: Arrays, steps: Sequence[RecordedStep]) -> tuple[list[int], list[float]]:
    """Return the rows of the record that the film shows and when it shows them [s], `FPS` of them a second.

    They begin `MARGIN_S` before the first motion, and end as long after the last motion or the reasoner's last step.
    """
    stamps = truth["stamp_s"]
    moving = np.flatnonzero(~truth["held"])
    begin_s, end_s = (stamps[moving[0]], stamps[moving[-1]]) if len(moving) else (stamps[0], stamps[-1])
    end_s = max(end_s, steps[-1].stamp_s if steps else 0.0)
    shown_s = np.arange(max(begin_s - MARGIN_S, stamps[0]), min(end_s + MARGIN_S, stamps[-1]) + 1e-6, 1 / FPS)
    rows = np.searchsorted(stamps, shown_s + 1e-6, side="right") - 1
    return rows[:MAX_FRAMES].tolist(), shown_s[:MAX_FRAMES].tolist()
