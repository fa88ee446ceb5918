"""The plan of a benchmark run: blocks of episodes, which do not depend on the number of workers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

from openral_benchmark.run_identity import RunIdentity, run_identity
from openral_core.errors import NotFoundError
from openral_core.scene import BenchmarkScene
from openral_core.suite import Suite
from openral_rskill.registry import RSkillPackage
from openral_sim_bridge.backends.environments import environment_digests
from openral_sim_bridge.backends.fingerprint import fingerprint
from openral_sim_bridge.rollout import EpisodeJob


@dataclass(frozen=True)
class Settings:
    """How a suite is run; suite, skill and settings decide every row."""

    n_episodes: int
    """Episodes a task."""
    num_envs: int = 8
    """Environments that are stepped together under one batch of the policy."""
    device: str = "cpu"
    allow_unevaluated: bool = False
    """Run tasks that the skill's manifest does not name as evaluated; the result says so."""
    answer_delay: int = 0
    """[frames] from an observation to the first executed step of its chunk; see `EpisodeJob`."""
    picture_delay: int = 0
    """[frames] by which images are older than the proprioception; see `EpisodeJob`."""


@dataclass(frozen=True)
class Block:
    """Episodes of one task that one worker runs, in environments that share batches.

    Rows may depend on the batch in their last bit, so blocks must not depend on the number of workers. A block that was
    running when a run was killed is run again as a whole.
    """

    number: int
    scene: BenchmarkScene
    jobs: tuple[EpisodeJob, ...]


def simulator_task(scene: BenchmarkScene) -> str:
    """Return the task's id as its simulator knows it: metaworld/reach-v3 -> reach-v3."""
    return scene.task.id.removeprefix(f"{scene.scene.backend_options.get('family')}/")


def chosen_scenes(suite: Suite, tasks: Sequence[str]) -> tuple[BenchmarkScene, ...]:
    """Return the suite's scenes, or those of some tasks.

    Raises:
        NotFoundError: the suite has no such task; the text lists those that it has.
    """
    known = {scene.task.id: scene for scene in suite.scenes}
    if unknown := [task for task in tasks if task not in known]:
        raise NotFoundError(f"{suite.id} has no task {', '.join(unknown)}; it has {', '.join(known)}")
    return tuple(scene for name, scene in known.items() if not tasks or name in tasks)


EPISODES_A_WORLD = 4
"""Most episodes of a block for each of its environments. An environment whose episode ended early gets the next one, so
long blocks keep the batches full; of short ones less is repeated when a run is killed, and more can run at once."""
WANTED_BLOCKS = 16
"""Blocks of a run whose tasks have enough episodes to fill each block's environments once, so that up to so many
workers have work even with a single task."""
FEW_BLOCKS = 8
"""A run of fewer blocks is cut into shorter ones, of at least `SHORT` episodes, up to about so many."""
SHORT = 4
"""Least episodes of such a block. Inference takes 3.2 ms an environment in batches of eight, 3.6 ms in batches of
four, and 6.1 ms for a single one (`mini` on one core)."""


def plan(scenes: Sequence[BenchmarkScene], settings: Settings, *, traced: bool = False) -> list[Block]:
    """Cut every task's episodes into blocks of nearly equal length; initial states count from the scene's seed.

    Args:
        scenes: one a task; the more there are, the fewer blocks a task has.
        settings: how the suite is run.
        traced: whether episodes keep a trace for videos, which changes no row.
    """
    blocks: list[Block] = []
    for scene in scenes:
        first, task = scene.seed, simulator_task(scene)
        jobs = [
            EpisodeJob(
                task,
                first + episode,
                scene.task.words_of(episode),
                traced,
                settings.answer_delay,
                settings.picture_delay,
            )
            for episode in range(settings.n_episodes)
        ]
        least = math.ceil(len(jobs) / (EPISODES_A_WORLD * settings.num_envs))
        count = max(least, min(math.ceil(WANTED_BLOCKS / len(scenes)), len(jobs) // settings.num_envs))
        if count * len(scenes) < FEW_BLOCKS:
            count = max(count, min(math.ceil(FEW_BLOCKS / len(scenes)), len(jobs) // SHORT))
        bounds = [len(jobs) * number // count for number in range(count + 1)]
        blocks += [
            Block(len(blocks) + number, scene, tuple(jobs[start:end]))
            for number, (start, end) in enumerate(pairwise(bounds))
        ]
    return blocks


def identity(
    package: RSkillPackage, scenes: Sequence[BenchmarkScene], settings: Settings, *, here: bool
) -> RunIdentity:
    """Return everything that decides the rows; a run is resumed only if it is the same. Raises as `fingerprint`.

    Args:
        package: the skill.
        scenes: of the run.
        settings: of the run.
        here: see `environment_digests`.
    """
    return run_identity(
        package,
        tasks=", ".join(scene.task.id for scene in scenes),
        scenes=[scene.model_dump(mode="json") for scene in scenes],
        worlds=[fingerprint(scene) for scene in scenes],
        **environment_digests(scenes, here=here),
        blocks=(EPISODES_A_WORLD, WANTED_BLOCKS, FEW_BLOCKS, SHORT),
        **asdict(settings),
    )
