"""`openral benchmark` against the loop that one writes first: the same skill, suite and machine, one after the other.

The loop loads the policy once, steps one world and renders each step; its world and its look are ours, so it is quicker
than one with the simulator's own rendering.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from openral_core.action_adapter import ActionAdapter
from openral_core.observation_adapter import ObservationAdapter
from openral_core.registry import RSkillPackage, resolve
from openral_core.scene import BenchmarkScene
from openral_core.suite import load_suite
from openral_core.types import Observation, Policy
from openral_policy_nodes.families import load_policy
from openral_sim_bridge.factory import make_backend
from openral_training.benchmark.execute import execute
from openral_training.benchmark.means import Means
from openral_training.benchmark.plan import Settings

SUITE, SKILL = "metaworld_mini", "mini-metaworld"
EPISODES = 10
"""A task."""
WORKERS = 2
BAR = 4.0
"""Episodes an hour, over those of the loop."""
TIMED = {"wall_s", "latency_p50_ms", "latency_p95_ms", "latency_p99_ms"}
"""What the clock decides of a row."""
pytestmark = pytest.mark.timeout(3600)


def loop(package: RSkillPackage, scenes: tuple[BenchmarkScene, ...]) -> int:
    """Run every episode; return how many were solved."""
    policy = load_policy(package)
    solved = 0
    for scene in scenes:
        backend = make_backend(scene)
        for init_id in range(scene.seed, scene.seed + EPISODES):
            solved += episode(policy, package, scene, backend, init_id)
        backend.close()
    policy.close()
    return solved


def episode(
    policy: Policy, package: RSkillPackage, scene: BenchmarkScene, backend: Any, init_id: int
) -> bool:
    observe, act = ObservationAdapter(package.manifest, scene), ActionAdapter(package.manifest, scene)
    cameras = [camera.name for camera in observe.cameras]
    [state] = backend.reset([backend.task_ids[0]], [init_id])
    for step in range(int(scene.task.max_steps or 0)):
        images = {name: frames[0] for name, frames in backend.render(cameras).items()}
        if step % package.manifest.replay_steps == 0:
            seen = Observation(state.stamp_s, images, state, scene.task.instruction)
            chunk = act(policy.predict(observe.batch([seen]))[0])
        result = backend.step(chunk[step % package.manifest.replay_steps][None])
        [state] = result.states
        if result.success[0, 0]:
            return True
    return False


def run(package: RSkillPackage, folder: Path, workers: int) -> tuple[dict[str, Any], float]:
    suite = load_suite(SUITE)
    start = time.perf_counter()
    content = execute(
        suite, package, suite.scenes, Settings(EPISODES), folder, means=Means(workers), resume=False,
        command="",
    )  # fmt: skip
    return content, time.perf_counter() - start


def rows(content: dict[str, Any]) -> str:
    untimed = [
        {name: value for name, value in row.items() if name not in TIMED}
        for row in content["results"]["episodes"]
    ]
    return json.dumps(untimed)


def test_one_policy_for_many_worlds_beats_the_loop(tmp_path, report):
    torch.set_num_threads(1)
    package, scenes = resolve(SKILL), load_suite(SUITE).scenes
    content, ours_s = run(package, tmp_path / "two", WORKERS)
    start = time.perf_counter()
    solved = loop(package, scenes)
    loop_s = time.perf_counter() - start
    alone, alone_s = run(package, tmp_path / "one", 1)
    assert rows(content) == rows(alone)
    total, engine = EPISODES * len(scenes), content["engine"]
    what = f"{total} episodes of {SUITE}, {SKILL}, {WORKERS} workers"
    report(
        what,
        f"{3600 * total / ours_s:.0f} episodes an hour, "
        f"{content['results']['all_episodes']['successes']} solved",
        f"serial loop {3600 * total / loop_s:.0f}, {solved} solved; one worker {3600 * total / alone_s:.0f}",
        f"{BAR:g} x (now {loop_s / ours_s:.1f} x)",
    )
    report("observations a batch", f"{engine['mean_batch']:.1f}", "8 worlds", "4")
    assert engine["policy_loads"] == 1
    assert engine["mean_batch"] >= 4
    assert ours_s * BAR <= loop_s
