"""Measure where the hand stands in the initial states that a skill was trained on, and write it into its manifest.

    python tools/start_poses.py mini-metaworld metaworld_drawer [--check] [--count=1]
    python tools/start_poses.py mini-robosuite-panda robosuite_panda_fast

The first argument is the skill, the second a scene of its simulator and robot. Of each task COUNT initial states are
reset, spread over those of `trained_init_ids`; nothing is stepped or drawn. With `--check` nothing is written; the exit
status is 1 if the manifest says something else. MetaWorld's hand always begins at one place, so one state is enough to
check it.
"""

from __future__ import annotations

import re
import sys

import numpy as np
from numpy.typing import NDArray

from openral_core.manifest import MANIFEST_NAME, load_manifest
from openral_core.scene import DeployScene, load_scene
from openral_rskill.registry import resolve
from openral_sim_bridge.backends.factory import make_backend
from openral_training.demonstrated_starts import start_poses, yaml_lines

COUNT = 25
"""Initial states of each task."""
_BLOCK = re.compile(r"^start_poses:.*\n(?:[ \t]+.*\n)*", re.MULTILINE)


def hands_at(scene: DeployScene, task: str, init_ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (N, 4) [m] the hand's positions and the openings of its fingers in initial states of a task."""
    options = {**scene.scene.backend_options, "tasks": [task]}
    world = scene.scene.model_copy(update={"backend_options": options})
    backend = make_backend(scene.model_copy(update={"scene": world}))
    try:
        states = [backend.reset([backend.task_ids[0]], [int(init_id)])[0] for init_id in init_ids]
    finally:
        backend.close()
    return np.array([[*state.ee_position, state.gripper_opening] for state in states])


def main() -> int:
    """Measure and write, or compare; 1 if the manifest says something else."""
    skill, where = (word for word in sys.argv[1:] if not word.startswith("--"))
    package, scene = resolve(skill), load_scene(where)
    seen = next(iter(package.manifest.trained_init_ids.values()))
    given = next((word for word in sys.argv if word.startswith("--count=")), f"--count={COUNT}")
    count = min(int(given.partition("=")[2]), seen.count)
    init_ids = np.linspace(seen.first, seen.first + seen.count - 1, count).astype(np.int64)
    hands = {example.task: hands_at(scene, example.task, init_ids) for example in package.manifest.examples}
    block = yaml_lines(start_poses(hands))
    path = package.folder / MANIFEST_NAME
    text = path.read_text(encoding="utf-8")
    changed = (
        _BLOCK.sub(lambda _: block, text, count=1) if _BLOCK.search(text) else f"{text.rstrip()}\n{block}"
    )
    if "--check" in sys.argv:
        return int(changed != text)
    path.write_text(changed, encoding="utf-8")
    load_manifest(package.folder)
    sys.stdout.write(f"{path}\n{block}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
