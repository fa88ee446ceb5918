"""A run: an initial policy is evaluated, updated `max_epochs` times, and evaluated on held-out initial states.

All randomness is determined by the seed and the number of the update, so a run that is killed and resumed has the same
result as an uninterrupted one.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from openral_benchmark.row_log import RunLock
from openral_core.errors import ContractError, ManifestError
from openral_core.files.atomic import write_atomically
from openral_core.files.json_file import read_json_object
from openral_core.files.settings_difference import settings_difference
from openral_core.files.yaml_document import read_document
from openral_core.manifest import MANIFEST_NAME
from openral_rskill.measured_results import set_aside_results
from openral_rskill.registry import load_package
from openral_rskill.weights_hash import weights_sha256
from openral_training.checkpoint import identity, restore_run, save_run
from openral_training.devices import torch_device
from openral_training.rl.algorithm.ppo import Learner
from openral_training.rl.collection import collect
from openral_training.rl.config import RlConfig
from openral_training.rl.envs.env_group import VecEnvSpec
from openral_training.rl.envs.shaping import ProgressModel
from openral_training.rl.initial_policy import InitialPolicy, ProgressCallback, initial_policy
from openral_training.rl.metrics_log import MetricsLog
from openral_training.rl.page import PAGE, page
from openral_training.rl.policies.mini_export import add_training
from openral_training.rl.policy_evaluation import IMAGINED, eval_metrics, evaluate_policy, imagination_gap
from openral_training.rl.settings.initial_model import MiniActorConfig
from openral_training.rl.videos import write_videos
from openral_training.rl.workers.learners import Learners
from openral_training.rl.workers.open_workers import (
    launcher_of,
    open_learners,
    open_rollout,
    open_training_rollout,
)
from openral_training.rl.workers.rollout_workers import RolloutWorkers

STATE, RESULT, CONFIG, VIDEOS = "run.safetensors", "result.json", "config.yaml", "video"
BENCHMARK = "benchmark"
"""Folder of the skill's benchmarks: one subfolder for the weights of each."""
EARLIER = "results_of_earlier_weights"
"""Key of `result.json`: files, from the run's folder, that were in the skill's eval/ beside weights of before."""


def effective_settings(config: RlConfig) -> str:
    """Return all settings of a run, defaults included, as YAML."""
    text: str = yaml.safe_dump(json.loads(config.model_dump_json()), sort_keys=False, allow_unicode=True)
    return text


def decisive_settings(config: RlConfig) -> dict[str, Any]:
    """Return the settings that determine the updates of a run: all but its length and its folder."""
    settings: dict[str, Any] = json.loads(config.model_dump_json())
    runner = settings["runner"]
    settings["runner"] = {key: runner[key] for key in runner if key not in ("max_epochs", "logger")}
    return settings


def vec_env_spec_of(config: RlConfig, initial: InitialPolicy) -> VecEnvSpec:
    """Return the environments of a run."""
    env, stages = config.env, config.rollout.pipeline_stage_num
    num_envs = env.train.total_num_envs
    return VecEnvSpec(initial.scenes, num_envs, stages, env.max_episode_steps, initial.encoder_factory)


def train(
    config: RlConfig,
    *,
    resume: bool = False,
    device: str = "cpu",
    progress_callback: ProgressCallback = lambda step, note: None,
) -> dict[str, Any]:
    """Train a policy and return the content of `result.json`: the evaluations of the initial and the final policy.

    Args:
        config: of the run.
        resume: continue the run in the config's folder, which may have been moved, or have had a smaller `max_epochs`.
        device: torch device of networks in this machine's processes, or auto.
        progress_callback: called after each update.

    Raises:
        ManifestError: the folder has a run although `resume` is False, or has none although it is True; or another
            process runs there.
        ContractError: the run in the folder has other settings, or has more updates already.
        WeightsError: the saved state of the run is damaged.
        InstallationError: torch cannot use the device.
        PolicyError: the gradient is not finite.
    """
    device = torch_device(device)
    actor = config.actor
    with contextlib.ExitStack() as open_parts:
        open_parts.enter_context(_claimed(config, resume=resume))
        initial = initial_policy(config, progress_callback)
        launcher = launcher_of(config.cluster, device)
        open_parts.callback(launcher.close)
        # Where learners run in other processes, the command's own policy only holds their state.
        device = "cpu" if config.cluster.learners_apart else device
        initial.policy.network.to(device)
        learner = Learner(initial.policy, config.algorithm, actor.optim, actor.global_batch_size)
        workers = open_rollout(config, vec_env_spec_of(config, initial), initial.policy, launcher)
        open_parts.callback(workers.close)
        learners = open_learners(config, learner, launcher, device)
        open_parts.callback(learners.close)
        progress_model = _progress_model(config, initial)
        if progress_model is not None:
            open_parts.callback(progress_model.close)
        components = _Components(
            learner,
            learners,
            workers,
            open_training_rollout(config, workers, initial.policy),
            progress_model,
        )
        return _Run(config, components, config.folder / initial.checkpoint_name, progress_callback).run()


@contextlib.contextmanager
def _claimed(config: RlConfig, *, resume: bool) -> Iterator[None]:
    """Claim the folder for a block; a block that fails with no more in a new folder leaves none behind.

    Raises:
        ManifestError: see `_claim`; or another process runs there.
    """
    folder = config.folder
    is_new, made_folder = not (folder / CONFIG).exists(), not folder.exists()
    _claim(config, resume=resume)
    lock = RunLock(folder)
    try:
        yield
    except BaseException:
        if is_new and [path.name for path in folder.iterdir()] == [CONFIG]:
            (folder / CONFIG).unlink()
            if made_folder:
                folder.rmdir()
        raise
    finally:
        lock.release()


def _claim(config: RlConfig, *, resume: bool) -> None:
    """Write the settings of a new run into its folder, or check that the existing run has the same ones."""
    folder = config.folder
    path = folder / CONFIG
    if not path.exists():
        if resume:
            raise ManifestError(
                f"{folder}: there is no run to go on with; name the --out of one, or leave out --resume to begin one"
            )
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, effective_settings(config))
        return
    if not resume:
        raise ManifestError(f"{folder}: there is a run already; add --resume, or name another --out")
    noted, wanted = read_document(path).data, decisive_settings(config)
    if isinstance(noted, dict) and isinstance(noted.get("runner"), dict):
        noted["runner"] = {key: noted["runner"].get(key) for key in wanted["runner"]}
    if others := settings_difference(noted, wanted):
        raise ContractError(
            f"{path}: that run has other settings: {others}; name another --out, or run with this file"
        )


def _progress_model(config: RlConfig, initial: InitialPolicy) -> ProgressModel | None:
    """Load the reward model, where the config has one."""
    if config.reward is None:
        return None
    instructions = {task: scene.task.instruction for task, scene in initial.scenes.items()}
    return ProgressModel(config.reward, instructions)


@dataclass(frozen=True)
class _Components:
    """The components of a run."""

    learner: Learner
    """The command's own policy and optimiser."""
    learners: Learners
    """Compute the updates."""
    workers: RolloutWorkers
    """Workers that run episodes in the simulator."""
    training_workers: RolloutWorkers
    """Workers that run the episodes of training: the same ones, or those of a world model."""
    progress_model: ProgressModel | None


class _Run:
    """The loop of a run."""

    def __init__(
        self,
        config: RlConfig,
        components: _Components,
        checkpoint: Path,
        progress_callback: ProgressCallback,
    ) -> None:
        self._config, self._components, self._checkpoint = config, components, checkpoint
        self._learner, self._policy = components.learner, components.learner.policy
        self._progress_callback = progress_callback
        self._folder = config.folder
        self._identity = identity(json.dumps(decisive_settings(config)))
        self._updates_done = restore_run(
            self._folder / STATE, self._policy.network, self._learner.optimiser, self._identity
        )
        if self._updates_done > config.runner.max_epochs:
            raise ContractError(
                f"{self._folder}: that run has made {self._updates_done} updates; give --epochs "
                f"{self._updates_done} or more"
            )
        write_atomically(
            self._folder / CONFIG, effective_settings(config)
        )  # a resumed run may have another length
        first_row = self._updates_done + 1 if self._updates_done else 0
        self._log = MetricsLog(self._folder, config.runner.logger.logger_backends, first_row)

    def run(self) -> dict[str, Any]:
        runner = self._config.runner
        if not self._updates_done:
            base = self._evaluate("base.json")
            self._log.add(0, eval_metrics(base))
        evaluation: dict[str, Any] = {}
        for update in range(self._updates_done, runner.max_epochs):
            row, last = self._update(update), update + 1 == runner.max_epochs
            if last or (update + 1) % runner.val_check_interval == 0:
                evaluation = self._evaluate(f"eval_{update + 1}.json")
                row |= eval_metrics(evaluation)
            self._log.add(update + 1, row)
            if last or (update + 1) % runner.save_interval == 0:
                save_run(
                    self._folder / STATE,
                    self._policy.network,
                    self._learner.optimiser,
                    update + 1,
                    self._identity,
                )
        self._policy.save(self._checkpoint)
        earlier: list[Path] = []
        if isinstance(self._config.actor.model, MiniActorConfig):  # it is a skill, which benchmarks judge
            scenes = self._components.workers.vec_env_spec.scenes.values()
            states, tasks = self._config.env.train.init_ids, [scene.task.id for scene in scenes]
            add_training(self._checkpoint / MANIFEST_NAME, states, tasks)
            weights = str(weights_sha256(load_package(self._checkpoint)))
            earlier = set_aside_results(self._checkpoint, weights, self._folder / BENCHMARK)
        evaluation = evaluation or self._evaluate(f"eval_{runner.max_epochs}.json")
        _write(self._folder / "eval" / "policy.json", evaluation)
        videos = []
        if self._config.env.eval.video_cfg.save_video:
            spec = self._components.workers.vec_env_spec
            videos = write_videos(
                self._folder / VIDEOS, spec.scenes, self._policy, evaluation["episodes"], spec.encoder
            )
        self._log.close()
        return self._result(evaluation, videos, earlier)

    def _update(self, update: int) -> dict[str, float]:
        """Collect experience, update the policy, and return the row of metrics."""
        parts = self._components
        started = time.perf_counter()
        collection = collect(parts.training_workers, self._policy, self._config, update, parts.progress_model)
        collected = time.perf_counter()
        learnt: dict[str, float] = {}
        if collection.batch is not None:
            learnt = parts.learners.update(collection.batch, update, self._config.actor.seed)
        success = collection.metrics["env/success_once"]
        self._progress_callback(update + 1, f"{100 * success:.0f} % while exploring")
        ended = time.perf_counter()
        return {
            **collection.metrics,
            **learnt,
            "env/processes_replaced": parts.workers.replaced + parts.learners.replaced,
            "time/rollout": collected - started,
            "time/train": ended - collected,
            "time/step": ended - started,
        }

    def _evaluate(self, name: str) -> dict[str, Any]:
        """Evaluate the current policy on held-out states, and write `eval/<name>`."""
        env, parts = self._config.env, self._components
        evaluation = evaluate_policy(parts.workers, self._policy, env.tasks, env.eval.init_ids.ids())
        if parts.training_workers is not parts.workers:
            trained_ids = env.train.init_ids.ids()
            evaluation[IMAGINED] = imagination_gap(
                parts.training_workers, parts.workers, self._policy, env.tasks, trained_ids
            )
        _write(self._folder / "eval" / name, evaluation)
        return evaluation

    def _result(
        self, evaluation: dict[str, Any], videos: list[dict[str, Any]], earlier: list[Path]
    ) -> dict[str, Any]:
        """Write `result.json` and the page, and return the result.

        Args:
            evaluation: of the final policy.
            videos: of its episodes.
            earlier: results of earlier weights, which were moved out of the skill's eval/.
        """
        base = read_json_object(self._folder / "eval" / "base.json", ContractError)
        names = [name for name in ("all_episodes", "tasks", IMAGINED) if name in evaluation]
        result = {
            "updates": self._config.runner.max_epochs,
            "env_steps": self._log.env_steps,
            "base": {name: base[name] for name in names},
            "policy": {name: evaluation[name] for name in names},
            "episodes": evaluation["episodes"],
            "films": videos,
            EARLIER: [str(path.relative_to(self._folder)) for path in earlier],
        }
        _write(self._folder / RESULT, result)
        (self._folder / PAGE).write_text(
            page(self._folder, result, effective_settings(self._config)), encoding="utf-8"
        )
        return result


def _write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(content, indent=1) + "\n")
