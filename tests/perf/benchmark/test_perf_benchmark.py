"""`openral benchmark` on MT10 beside loops of one process, and beside vla-eval, with the same skill.

All of it runs on one machine, in turns: half of the loops, the benchmark, the other half, then vla-eval. The
benchmark's time counts from the start of its processes to its last row; of the others only the time within episodes
counts. They run less of it, so control steps a second are compared; episodes an hour are those of the benchmark's mean
length.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from statistics import harmonic_mean
from typing import Any, NamedTuple

import pytest
import torch
from serial_loop import Pictures, steps_per_s

from openral_benchmark.execute import execute
from openral_benchmark.execution_config import ExecutionConfig
from openral_benchmark.plan import Settings
from openral_core.scene import BenchmarkScene
from openral_core.suite import load_suite
from openral_core.types import Policy
from openral_policy_nodes.families.factory import load_policy
from openral_rskill.registry import resolve

SUITE, SKILL = "metaworld_mt10_fast", "mini-metaworld-mt10"
EPISODES = 30
"""A task, of the benchmark; the start of its processes and the making of ten scenes' worlds count as well."""
THEIRS = 1
"""A task, of vla-eval."""
LOOP_STEPS = {Pictures.GYMNASIUM: 12, Pictures.SAME_LOOK: 60, Pictures.LAZY: 120}
"""Control steps of an episode of every other task that a loop runs; with gymnasium's pictures one takes long."""
WORKERS = 2
BARS = {Pictures.GYMNASIUM: 4.0, Pictures.SAME_LOOK: 3.0, Pictures.LAZY: 1.8}
BATCH_BAR = 4.0
pytestmark = pytest.mark.timeout(5400)


class Found(NamedTuple):
    """What the benchmark and the loop around it cost."""

    engine: dict[str, Any]
    rows: list[dict[str, Any]]
    seconds: float
    loops: dict[Pictures, float]
    """Their speeds [steps/s]."""

    @property
    def steps(self) -> int:
        """Control steps of all episodes."""
        return sum(row["steps"] for row in self.rows)

    @property
    def steps_per_s(self) -> float:
        """Of the benchmark."""
        return self.steps / self.seconds

    def speed(self, steps_per_s: float) -> str:
        """Return a speed in words; its episodes are of the benchmark's mean length."""
        per_hour = 3600 * steps_per_s * len(self.rows) / self.steps
        return f"{per_hour:.0f} episodes an hour, {steps_per_s:.1f} steps/s"


def loops(policy: Policy, scenes: Sequence[BenchmarkScene]) -> dict[Pictures, list[float]]:
    """Return each loop's speed in each scene [steps/s]."""
    package = resolve(SKILL)
    return {
        pictures: [steps_per_s(policy, package, scene, steps, pictures) for scene in scenes]
        for pictures, steps in LOOP_STEPS.items()
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    torch.set_num_threads(1)
    suite, folder, policy = (
        load_suite(SUITE),
        tmp_path_factory.mktemp("benchmark"),
        load_policy(resolve(SKILL)),
    )
    before = loops(policy, suite.scenes[::4])
    start = time.perf_counter()
    content = execute(
        suite,
        resolve(SKILL),
        suite.scenes,
        Settings(EPISODES),
        folder,
        execution=ExecutionConfig(WORKERS),
        resume=False,
        command="",
    )
    seconds = time.perf_counter() - start
    after = loops(policy, suite.scenes[2::4])
    policy.close()
    means = {pictures: harmonic_mean(before[pictures] + after[pictures]) for pictures in LOOP_STEPS}
    return Found(content["engine"], content["results"]["episodes"], seconds, means)


@pytest.mark.parametrize("pictures", Pictures)
def test_one_policy_for_many_worlds_beats_a_serial_loop(
    found: Found, pictures: Pictures, report: Any
) -> None:
    gain = found.steps_per_s / found.loops[pictures]
    solved = sum(row["success"] for row in found.rows)
    report(
        f"{len(found.rows)} episodes of {SUITE}, {SKILL}, {WORKERS} workers",
        f"{found.speed(found.steps_per_s)}, {solved} solved",
        f"serial loop, {pictures.value}: {found.speed(found.loops[pictures])}",
        f"{BARS[pictures]:g} x (now {gain:.2f} x)",
    )
    assert gain >= BARS[pictures]


def test_policy_calls_are_batched_and_the_policy_is_loaded_once(found: Found, report: Any) -> None:
    engine = found.engine
    report("observations a batch", f"{engine['mean_batch']:.1f}", "8 worlds a worker", f">= {BATCH_BAR:g}")
    assert engine["policy_loads"] == 1
    assert engine["mean_batch"] >= BATCH_BAR


def test_beside_vla_eval(found: Found, tmp_path: Path, report: Any) -> None:
    pytest.importorskip("vla_eval", reason="the second reference: pip install 'openral[perf]'")
    from vla_eval_side import vla_eval_run

    theirs = vla_eval_run(SUITE, SKILL, episodes=THEIRS, shards=WORKERS, folder=tmp_path)
    report(
        f"the same beside vla-eval with {WORKERS} shards, the same worlds and look",
        found.speed(found.steps_per_s),
        f"{found.speed(theirs.steps_per_s)}, {theirs.solved} of {theirs.episodes} solved",
        f"quicker (now {found.steps_per_s / theirs.steps_per_s:.1f} x)",
    )
    assert theirs.episodes == THEIRS * len(load_suite(SUITE).scenes)
    assert found.steps_per_s > theirs.steps_per_s
