"""A run's result: the eval JSON of a skill, with every episode, confidence intervals and provenance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from openral_benchmark.episode_log import EpisodeEntry
from openral_benchmark.plan import Block, Settings, simulator_task
from openral_core.scene import BenchmarkScene
from openral_core.statistics import wilson_interval
from openral_core.suite import Suite
from openral_rskill.registry import RSkillPackage
from openral_rskill.result_provenance import provenance
from openral_sim_bridge.backends.environments import simulator_spec
from openral_sim_bridge.backends.fingerprint import fingerprint


def rate(entries: Sequence[EpisodeEntry]) -> dict[str, Any]:
    """Return successes, rate and Wilson interval; an episode that was cut off counts as a failure."""
    successes = sum(entry.row.success for entry in entries)
    low, high = wilson_interval(successes, len(entries))
    return {
        "success_rate": round(successes / len(entries), 4),
        "wilson_95": [round(low, 4), round(high, 4)],
        "successes": successes,
        "n_episodes": len(entries),
        "errors": sum(bool(entry.error) for entry in entries),
    }


def mean_step_latency_ms(tasks: Iterable[Sequence[EpisodeEntry]]) -> float | None:
    """Return the mean over tasks of the inference time per control step [ms]; None: no row has an inference time.

    For a task it is the sum of its episodes' inference times over the sum of their control steps: a chunk is inferred
    once for all the steps that are executed of it. A batched inference counts fully for each of its environments.
    """
    means = []
    for entries in tasks:
        timed = [entry.row for entry in entries if entry.row.inference_s is not None]
        if steps := sum(row.steps for row in timed):
            means.append(1e3 * sum(row.inference_s or 0.0 for row in timed) / steps)
    return round(sum(means) / len(means), 2) if means else None


def ordered(entries: Sequence[EpisodeEntry]) -> list[EpisodeEntry]:
    """Return entries sorted by block, then by initial state."""
    return sorted(entries, key=lambda entry: (entry.block, entry.row.init_id))


def result(
    suite: Suite,
    package: RSkillPackage,
    scenes: Sequence[BenchmarkScene],
    settings: Settings,
    entries: Sequence[EpisodeEntry],
    blocks: Sequence[Block],
    command: str,
) -> dict[str, Any]:
    """Return the eval JSON: the fields of OpenRAL's results, and further rows, intervals and provenance.

    Args:
        suite: what was run.
        package: the skill.
        scenes: the suite's scenes that were run.
        settings: how it was run.
        entries: every episode.
        blocks: of the plan, from which the task of an episode is known.
        command: the command line, for the provenance.
    """
    first = scenes[0]
    task_of = {block.number: block.scene.task.id for block in blocks}
    entries = ordered(entries)
    by_task = {
        scene.task.id: [entry for entry in entries if task_of[entry.block] == scene.task.id]
        for scene in scenes
    }
    tasks = {task: rate(mine) for task, mine in by_task.items()}
    rates = [entry["success_rate"] for entry in tasks.values()]
    return {
        "schema_version": "0.1",
        "source": {
            "status": "reproduced",
            "evaluated_by": "openral benchmark run",
            "reproduced_locally": True,
            "reproduction_cli": command,
            "paper": first.metadata.paper,
        },
        "benchmark": benchmark_section(suite, first),
        "eval_config": {
            "n_episodes": settings.n_episodes,
            "seeds": [first.seed],
            "init_ids": [first.seed, first.seed + settings.n_episodes - 1],
            "train_init_ids": _ends(suite),
            "success_key": first.task.success_key,
            "max_steps": first.task.max_steps,
            "vla_id": package.manifest.name,
            "weights_uri": package.manifest.weights_uri,
            "num_envs": settings.num_envs,
            "device": settings.device,
            "allow_unevaluated": settings.allow_unevaluated,
            "answer_delay": settings.answer_delay,
            "picture_delay": settings.picture_delay,
            "deviations": deviations(package, suite, scenes, settings),
        },
        "results": {
            **{f"{task}_success_rate": entry["success_rate"] for task, entry in tasks.items()},
            "avg_success_rate": round(sum(rates) / len(rates), 4),
            "n_tasks": len(tasks),
            "n_episodes_per_task": settings.n_episodes,
            "n_episodes_total": len(entries),
            "mean_step_latency_ms_avg": mean_step_latency_ms(by_task.values()),
            "all_episodes": rate(entries),
            "tasks": tasks,
            "episodes": [{**e.row.record(), "task": task_of[e.block], "error": e.error} for e in entries],
        },
        "baselines": {},
        "trace_id": None,
        "provenance": {**provenance(package, command), **_simulated(first)},
    }


def benchmark_section(suite: Suite, scene: BenchmarkScene) -> dict[str, Any]:
    """Return the value of a result's key `benchmark`; `scene` is any scene of the suite."""
    return {
        "name": suite.id,
        "protocol": scene.metadata.honest_scope,
        "robot": scene.robot_id,
        "simulator": scene.metadata.simulator,
        "render_profile": scene.scene.backend_options.get("render_profile"),
    }


def _ends(suite: Suite) -> list[int] | None:
    """Return the first and the last initial state that a suite reserves for training; None: it names none."""
    states = suite.train_init_ids
    return None if states is None else [states.ids()[0], states.ids()[-1]]


def _simulated(scene: BenchmarkScene) -> dict[str, Any]:
    """Return the provenance of the simulation: simulator, world, render profile and cameras.

    A simulator in a process of its own has an environment of its own, whose digest is included.
    """
    world = scene.scene
    spec = simulator_spec(scene)
    return {
        "simulator": {
            "family": str(world.backend_options.get("family")),
            "declared": scene.metadata.simulator,
            "environment_sha256": spec.digest if spec is not None else None,
        },
        "world_sha256": fingerprint(scene),
        "render_profile": world.backend_options.get("render_profile"),
        "cameras": {camera.name: f"{camera.width}x{camera.height}" for camera in scene.cameras},
    }


def deviations(
    package: RSkillPackage, suite: Suite, scenes: Sequence[BenchmarkScene], settings: Settings
) -> list[str]:
    """Return, in words, where a run deviates from the suite's protocol, or has tasks the skill was not trained on."""
    said: list[str] = []
    first = scenes[0]
    if len(scenes) < len(suite.scenes):
        said.append(f"{len(scenes)} of the suite's {len(suite.scenes)} tasks")
    if settings.n_episodes != first.n_episodes:
        said.append(f"{settings.n_episodes} episodes a task in place of {first.n_episodes}")
    known = {example.task for example in package.manifest.examples}
    if known and (unknown := [s.task.id for s in scenes if simulator_task(s) not in known]):
        said.append(f"tasks that the skill was not trained for: {', '.join(unknown)}")
    if settings.allow_unevaluated:
        said.append("tasks that the manifest does not name were allowed by hand")
    frame = package.manifest.replay_steps
    if settings.answer_delay:
        said.append(
            f"chunks executed {settings.answer_delay} frames of {frame} steps after their observation"
        )
    if settings.picture_delay:
        said.append(f"pictures {settings.picture_delay} frames of {frame} steps older than proprioception")
    return said
