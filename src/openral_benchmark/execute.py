"""Runs a suite: checks that the skill fits, then runs block by block, with a log from which it can be resumed."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from openral_benchmark.engine import Engine
from openral_benchmark.episode_log import EpisodeLog
from openral_benchmark.execution_config import LOCAL, ExecutionConfig
from openral_benchmark.plan import Settings, identity, plan
from openral_benchmark.policy_source import PolicySource
from openral_benchmark.result import result
from openral_benchmark.videos import draw_videos, rows_with_video, trace_path
from openral_core.cli.progress import WITH_RESUME, console, progress_bar
from openral_core.scene import BenchmarkScene
from openral_core.suite import Suite
from openral_rskill.compatibility import require_fit
from openral_rskill.registry import RSkillPackage
from openral_rskill.vram import budget, require_budget
from openral_sim_bridge.backends.environments import build_environments
from openral_sim_bridge.trace import Trace


def execute(
    suite: Suite,
    package: RSkillPackage,
    scenes: Sequence[BenchmarkScene],
    settings: Settings,
    folder: Path,
    *,
    execution: ExecutionConfig,
    resume: bool,
    command: str,
    videos: int = 0,
) -> dict[str, Any]:
    """Run a suite, or the blocks that are not in the log yet, and return its result.

    Args:
        suite: the suite.
        package: the skill.
        scenes: those of the suite that are to be run.
        settings: what decides the rows beside suite and skill.
        folder: of the run; rows are logged there block by block.
        execution: workers and machines, which change no row.
        resume: whether to continue a run whose rows are in the folder.
        command: the command line, for the provenance.
        videos: number of successes and of failures of each task that videos are rendered of.

    Raises:
        ContractError: the skill does not fit a scene; one line a failing gate, before anything runs.
        ManifestError: the folder holds rows of another run.
        PolicyError: the policy cannot be loaded.
        InstallationError: there is no such cluster.
        SidecarError: the environment of a simulator could not be built.
    """
    require_budget(budget([package], settings.device, robots=settings.num_envs))
    for scene in scenes:
        require_fit(package, scene, task=scene.task.id, allow_unevaluated=settings.allow_unevaluated)
    blocks = plan(scenes, settings, traced=videos > 0)
    here = execution.cluster == LOCAL
    if here:
        build_environments(scenes, console.print)
    episode_log = EpisodeLog(folder, identity(package, scenes, settings, here=here), resume=resume)
    try:
        left = [block for block in blocks if block.number not in episode_log.done]
        source = PolicySource.of(package, settings.device)
        used: dict[str, Any] = {"cluster": execution.cluster}
        if left:
            with contextlib.closing(
                execution.pool(source, num_envs=settings.num_envs, most=len(left))
            ) as pool:
                engine = Engine(
                    pool, left, patience_s=execution.patience_s, keep=partial(_keep_trace, folder)
                )
                _run(engine, episode_log, sum(len(block.jobs) for block in blocks))
                used |= {
                    "workers": pool.size,
                    "policies": pool.policies,
                    "policy_loads": pool.policy_loads,
                    **engine.statistics.record(),
                }
    finally:
        episode_log.close()
    content = result(suite, package, scenes, settings, episode_log.entries, blocks, command)
    return {**content, "engine": used, "films": _videos(folder, scenes, content, videos)}


def _keep_trace(folder: Path, scene: BenchmarkScene, trace: Trace) -> None:
    trace.save(trace_path(folder, scene.task.id, trace.init_id))


def _videos(
    folder: Path, scenes: Sequence[BenchmarkScene], content: dict[str, Any], count: int
) -> list[dict[str, Any]]:
    """Render videos of the first `count` successes and failures of each task, with a progress bar."""
    rows = content["results"]["episodes"]
    videos: list[dict[str, Any]] = []
    if count:
        with progress_bar("films", len(rows_with_video(rows, count))) as (bar, task):
            for video in draw_videos(folder, scenes, rows, count):
                videos.append(video)
                bar.update(task, advance=1, note=str(video["task"]))
    return videos


def _run(engine: Engine, episode_log: EpisodeLog, total: int) -> None:
    """Run an engine, with a progress bar that includes the episodes which the log had before."""
    done, solved = len(episode_log.entries), sum(entry.row.success for entry in episode_log.entries)
    with progress_bar("episodes", total, goes_on=WITH_RESUME) as (bar, task):
        bar.update(task, completed=done, note=f"{solved} solved")
        for blocks in engine.run():
            for entries in blocks:
                episode_log.add(entries)
            last = f", last {engine.last}" if engine.last else ""
            note = f"{solved + engine.solved} solved{last}"
            bar.update(task, completed=done + engine.episodes, note=note)
