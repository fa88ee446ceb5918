"""`openral sim run`: runs one skill in one scene, in one process and without ROS, as a first test of a checkpoint."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from openral_control.catch_up import CatchUp
from openral_core.adapters.action_adapter import ActionAdapter
from openral_core.adapters.observation_adapter import ObservationAdapter
from openral_core.errors import NotFoundError
from openral_core.files.output_folder import make_private
from openral_core.scene import DeployScene, SimScene
from openral_core.types import Observation
from openral_policy_nodes.families.factory import load_policy
from openral_rskill.checks.package import is_known
from openral_rskill.compatibility import require_fit
from openral_rskill.registry import RSkillPackage
from openral_rskill.vram import budget, require_budget
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.rollout import EpisodeJob, EpisodeRow, roll_out

VIDEO_SIZE = 480
"""[px] side of the video's square picture."""
SHOWN_FPS = 20
DEFAULT_STEPS = 500
"""Control steps of an episode if the scene does not limit them."""


@dataclass(frozen=True)
class SimRun:
    """Task, instruction, initial states and settings of the episodes."""

    task_id: str
    """A task of the scene."""
    instruction: str
    first_init_id: int
    """Initial state of the first episode; the following episodes count up."""
    episodes: int = 1
    horizon: int = DEFAULT_STEPS
    """Control steps after which an episode without success has failed."""
    num_envs: int = 1
    device: str = "cpu"
    allow_unevaluated: bool = False
    """Whether to run a task that the skill was not evaluated on; the result says so."""


def default_instruction(package: RSkillPackage, scene: DeployScene, task_id: str) -> str:
    """Return the instruction of the scene's own task, or the skill's first example phrase for another task.

    Raises:
        NotFoundError: there is neither.
    """
    if isinstance(scene, SimScene) and scene.task.id.rsplit("/", 1)[-1] == task_id.rsplit("/", 1)[-1]:
        return scene.task.instruction
    for example in package.manifest.examples:
        if example.task == task_id:
            return example.phrases[0]
    raise NotFoundError(
        f"{package.manifest.name} has no example for {task_id}; say what to do with --instruction"
    )


def first_state(scene: DeployScene) -> int:
    """Return the initial state that a scene begins in: a task's seed, or the deployment's `init_id`."""
    return (
        scene.seed if isinstance(scene, SimScene) else int(str(scene.scene.backend_options.get("init_id", 0)))
    )


def episode_steps(scene: DeployScene) -> int:
    """Return the control steps that an episode may take in a scene."""
    steps = scene.task.max_steps if isinstance(scene, SimScene) else None
    return steps or DEFAULT_STEPS


def simulate(
    package: RSkillPackage,
    scene: DeployScene,
    run: SimRun,
    *,
    videos: Path | None = None,
    progress: Callable[[EpisodeRow], None] = lambda row: None,
) -> list[EpisodeRow]:
    """Check the contract, then run the episodes.

    Args:
        package: the skill.
        scene: where it runs.
        run: task, instruction and initial states.
        videos: folder for one MP4 of each episode, of the policy's first camera; None: no videos.
        progress: called with each finished row.

    Raises:
        ContractError: the skill does not fit the scene; the text has one line for each failed check.
    """
    manifest = package.manifest
    require_budget(budget([package], run.device, robots=min(run.num_envs, run.episodes)))
    require_fit(package, scene, task=run.task_id, allow_unevaluated=run.allow_unevaluated)
    observe, act = ObservationAdapter(manifest, scene), ActionAdapter(manifest, scene)
    camera = observe.cameras[0].name
    jobs = [EpisodeJob(run.task_id, run.first_init_id + i, run.instruction) for i in range(run.episodes)]
    with ExitStack() as opened:
        policy = load_policy(package, run.device)
        opened.callback(policy.close)
        backend = make_backend(scene, num_envs=min(run.num_envs, run.episodes))
        opened.callback(backend.close)
        writers = None
        if videos is not None:
            writers = EpisodeVideos(videos, camera)
            opened.callback(writers.close)

        def ended(row: EpisodeRow) -> None:
            if writers:
                writers.end(row.init_id - run.first_init_id)
            progress(row)

        return roll_out(
            backend,
            policy,
            observe,
            act,
            jobs,
            catch_up=CatchUp(scene.action),
            cameras=[c.name for c in observe.cameras],
            n_action_steps=manifest.replay_steps,
            horizon=run.horizon,
            progress=ended,
            watch=writers.add if writers else lambda number, observation: None,
        )


class EpisodeVideos:
    """Writes one MP4 of each episode, from the images that the policy received.

    Only the videos of running episodes are open, since an encoder takes threads, memory and a file.
    """

    def __init__(self, folder: Path, camera: str) -> None:
        make_private(folder)
        self._folder, self._camera = folder, camera
        self._open: dict[int, Any] = {}

    def add(self, number: int, observation: Observation) -> None:
        """Append one observation's image to the video of an episode."""
        if number not in self._open:
            container = av.open(str(self._folder / f"episode_{number:03d}.mp4"), "w")
            stream = container.add_stream(
                "libx264", rate=SHOWN_FPS, options={"crf": "20", "preset": "veryfast"}
            )
            stream.pix_fmt, stream.width, stream.height = "yuv420p", VIDEO_SIZE, VIDEO_SIZE
            stream.time_base = Fraction(1, SHOWN_FPS)
            self._open[number] = container
        container = self._open[number]
        frame = av.VideoFrame.from_ndarray(_captioned(observation, self._camera), format="rgb24")
        container.mux(container.streams.video[0].encode(frame))

    def end(self, number: int) -> None:
        """Finish the video of an episode, which has ended."""
        with self._open.pop(number) as container:
            container.mux(container.streams.video[0].encode())

    def close(self) -> None:
        """Finish every video that is open."""
        for number in list(self._open):
            self.end(number)


def _captioned(observation: Observation, camera: str) -> NDArray[np.uint8]:
    image = observation.images[camera]
    canvas = cv2.resize(image, (VIDEO_SIZE, VIDEO_SIZE), interpolation=cv2.INTER_CUBIC)
    text = f"{observation.instruction}   {observation.stamp_s:.2f} s"
    cv2.putText(
        canvas, text, (12, VIDEO_SIZE - 16), cv2.FONT_HERSHEY_SIMPLEX, 0.55, (20, 20, 20), 3, cv2.LINE_AA
    )
    cv2.putText(
        canvas,
        text,
        (12, VIDEO_SIZE - 16),
        cv2.FONT_HERSHEY_SIMPLEX,
        0.55,
        (255, 255, 255),
        1,
        cv2.LINE_AA,
    )
    return np.asarray(canvas, dtype=np.uint8)


def write_result(
    folder: Path, package: RSkillPackage, scene: DeployScene, run: SimRun, rows: Sequence[EpisodeRow]
) -> Path:
    """Write `result.json`: the run, whether its task is unevaluated, and a row for each episode; return its path."""
    content = {
        "skill": f"{package.manifest.name} {package.manifest.version}",
        "scene": scene.scene.id,
        "run": asdict(run),
        "unevaluated_task": not is_known(package.manifest, scene, run.task_id),
        "episodes": [row.record() for row in rows],
    }
    make_private(folder)
    path = folder / "result.json"
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return path


def run_folder(root: Path, name: str) -> Path:
    """Return the path of a folder under `root`, named by date, time and `name`; it is not created."""
    return root / f"{time.strftime('%Y%m%d-%H%M%S')}-{name}"
