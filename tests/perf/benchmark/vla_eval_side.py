"""The same skill, worlds and look under vla-eval (PyPI), the way its guide says: one server that batches, and shards.

Its runner asks for an observation every step, so both cameras are drawn and sent each step; its server answers from
the rest of a chunk without asking the policy.
"""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import vla_eval
from vla_eval.benchmarks.base import StepBenchmark, StepResult
from vla_eval.model_servers.predict import PredictModelServer
from vla_eval.orchestrator import Orchestrator
from vla_eval.specs import DimSpec

from openral_core.adapters.action_adapter import ActionAdapter
from openral_core.adapters.observation_adapter import ObservationAdapter
from openral_core.scene import BenchmarkScene
from openral_core.suite import load_suite
from openral_core.types import Observation, RobotState
from openral_policy_nodes.families.factory import load_policy
from openral_rskill.registry import resolve
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.backends.factory import make_backend

ANSWER_S = 120.0
"""How long a shard waits for the server [s]."""
SPECS = {"actions": DimSpec("actions", 4, "delta_xyz_and_gripper")}
SEEN = {"images": DimSpec("images", 0, "rgb"), "state": DimSpec("state", 4, "hand_xyz_and_opening")}


@dataclass(frozen=True)
class Cost:
    """What episodes cost."""

    episodes: int
    solved: int
    steps: int
    """Control steps."""
    seconds: float
    """Wall-clock time from reset to end of each episode, added up and divided by the number of shards: without the
    start of processes, the loading of the policy and the making of worlds."""

    @property
    def steps_per_s(self) -> float:
        """Control steps a second of wall-clock time."""
        return self.steps / self.seconds


class Worlds(StepBenchmark):
    """One world of a suite's scenes at a time, as shards want it."""

    def __init__(self, suite: str) -> None:
        super().__init__()
        self._scenes = {scene.task.id: scene for scene in load_suite(suite).scenes}
        self._opened: tuple[str, Backend] | None = None

    def get_tasks(self) -> list[dict[str, Any]]:
        return [
            {"name": name, "task_description": scene.task.instruction} for name, scene in self._scenes.items()
        ]

    def reset(self, task: dict[str, Any]) -> RobotState:
        scene = self._scenes[task["name"]]
        backend = self._backend(scene)
        [state] = backend.reset([backend.task_ids[0]], [scene.seed + task["episode_idx"]])
        return state

    def step(self, action: dict[str, Any]) -> StepResult:
        assert self._opened is not None
        result = self._opened[1].step(np.asarray(action["actions"])[None])
        success = bool(result.success[0, 0])
        return StepResult(result.states[0], 0.0, success, {"success": success})

    def make_obs(self, raw_obs: RobotState, task: dict[str, Any]) -> dict[str, Any]:
        cameras = [camera.name for camera in self._scenes[task["name"]].scene.cameras]
        images = {name: frames[0] for name, frames in self._backend(None).render(cameras).items()}
        state = np.append(raw_obs.ee_position, raw_obs.gripper_opening)
        return {"images": images, "task_description": task["task_description"], "state": state}

    def get_step_result(self, step_result: StepResult) -> dict[str, Any]:
        return {"success": bool(step_result.info.get("success"))}

    def get_metadata(self) -> dict[str, Any]:
        return {"max_steps": int(next(iter(self._scenes.values())).task.max_steps or 0)}

    def get_action_spec(self) -> dict[str, DimSpec]:
        return SPECS

    def get_observation_spec(self) -> dict[str, DimSpec]:
        return SEEN

    def cleanup(self) -> None:
        if self._opened is not None:
            self._opened[1].close()
            self._opened = None

    def _backend(self, scene: BenchmarkScene | None) -> Backend:
        """Return the open world, or that of another task."""
        if scene is not None and (self._opened is None or self._opened[0] != scene.task.id):
            self.cleanup()
            self._opened = scene.task.id, make_backend(scene)
        assert self._opened is not None
        return self._opened[1]


class Served(PredictModelServer):
    """A skill behind vla-eval's protocol."""

    def __init__(self, suite: str, skill: str, shards: int) -> None:
        package = resolve(skill)
        super().__init__(chunk_size=package.manifest.replay_steps, max_batch_size=shards)
        scene = load_suite(suite).scenes[0]
        self._observe = ObservationAdapter(package.manifest, scene)
        self._act = ActionAdapter(package.manifest, scene)
        self._policy = load_policy(package)

    def predict_batch(self, obs_batch: list[dict[str, Any]], ctx_batch: list[Any]) -> list[dict[str, Any]]:
        seen = [
            Observation(0.0, obs["images"], _state(obs["state"]), obs["task_description"])
            for obs in obs_batch
        ]
        return [{"actions": self._act(chunk)} for chunk in self._policy.predict(self._observe.batch(seen))]

    def get_action_spec(self) -> dict[str, DimSpec]:
        return SPECS

    def get_observation_spec(self) -> dict[str, DimSpec]:
        return SEEN


def vla_eval_run(suite: str, skill: str, *, episodes: int, shards: int, folder: Path) -> Cost:
    """Run a suite's first episodes in shards, processes with one world each, against one server."""
    config = {
        "server": {"timeout": ANSWER_S},
        "output_dir": str(folder),
        "benchmarks": [
            {
                "benchmark": "vla_eval_side:Worlds",
                "episodes_per_task": episodes,
                "params": {"suite": suite},
            }
        ],
    }
    spawn = multiprocessing.get_context("spawn")
    with vla_eval.serve_background(Served(suite, skill, shards)) as server, spawn.Pool(shards) as pool:
        config["server"] |= {"url": server.url}
        found = pool.starmap(_shard, [(config, number, shards) for number in range(shards)], chunksize=1)
    rows = [
        row for results in found for result in results for task in result["tasks"] for row in task["episodes"]
    ]
    assert not any(row.get("failure_reason") for row in rows), rows
    return Cost(
        len(rows),
        sum(row["metrics"]["success"] for row in rows),
        sum(row["steps"] for row in rows),
        sum(row["elapsed_sec"] for row in rows) / shards,
    )


def _shard(config: dict[str, Any], number: int, shards: int) -> list[dict[str, Any]]:
    return anyio.run(Orchestrator(config, number, shards, no_save=True).run)


def _state(numbers: np.ndarray) -> RobotState:
    return RobotState(0.0, (), np.zeros(0), numbers[:3], np.array([0.0, 0.0, 0.0, 1.0]), float(numbers[3]))
