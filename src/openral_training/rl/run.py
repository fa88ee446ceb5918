"""A whole run: a base is cloned and evaluated, updated again and again, and evaluated on states it never learnt on.

All chance comes from the seed and the number of the update, so a run that is killed and goes on ends where an unbroken
one ends.
"""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any

import yaml

from openral_core.errors import ContractError, ManifestError
from openral_training.checkpoint import identity, restore_run, save_run
from openral_training.devices import torch_device
from openral_training.rl.algorithm.ppo import Learner
from openral_training.rl.collection import collect
from openral_training.rl.config import RlConfig
from openral_training.rl.envs.shaping import ProgressModel
from openral_training.rl.envs.simulators import VecEnvSpec
from openral_training.rl.initial_policy import InitialPolicy, ProgressCallback, initial_policy
from openral_training.rl.metrics_log import Logbook
from openral_training.rl.page import PAGE, page
from openral_training.rl.policy_evaluation import IMAGINED, eval_metrics, evaluate_policy, imagination_gap
from openral_training.rl.videos import write_videos
from openral_training.rl.workers.learners import Learners
from openral_training.rl.workers.placement import (
    launcher_of,
    open_learners,
    open_rollout,
    open_training_rollout,
)
from openral_training.rl.workers.rollout_workers import RolloutWorkers

STATE, RESULT, CONFIG, VIDEOS = "run.safetensors", "result.json", "config.yaml", "video"


def effective(config: RlConfig) -> str:
    """Return every value that is in force, defaults included, as YAML."""
    text: str = yaml.safe_dump(json.loads(config.model_dump_json()), sort_keys=False, allow_unicode=True)
    return text


def vec_env_spec_of(config: RlConfig, initial: InitialPolicy) -> VecEnvSpec:
    """Return the worlds of a run, before anybody has built one."""
    env, stages = config.env, config.rollout.pipeline_stage_num
    worlds = env.train.total_num_envs
    return VecEnvSpec(initial.scenes, worlds, stages, env.max_episode_steps, initial.encoder_factory)


def train(
    config: RlConfig,
    *,
    resume: bool = False,
    device: str = "cpu",
    progress_callback: ProgressCallback = lambda step, note: None,
) -> dict[str, Any]:
    """Run it, and return what `result.json` says: base and policy, evaluated on held-out states.

    Args:
        config: see `config`.
        resume: go on with what is in the run's folder.
        device: where networks of this machine's processes are: auto, or a torch device.
        progress_callback: told of each update.

    Raises:
        ManifestError: there is a run in the folder already and it is not to be gone on with.
        ContractError: the run in the folder was made with other settings.
        InstallationError: torch cannot use the device.
    """
    device = torch_device(device)
    _claim(config.folder, effective(config), resume=resume)
    initial = initial_policy(config, progress_callback)
    launcher = launcher_of(config.cluster, device)
    actor = config.actor
    # Where learners have processes of their own, the command only keeps what they send.
    device = "cpu" if config.cluster.learners_apart else device
    initial.policy.network.to(device)
    learner = Learner(initial.policy, config.algorithm, actor.optim, actor.global_batch_size)
    with contextlib.ExitStack() as open_parts:
        open_parts.callback(launcher.close)
        workers = open_rollout(config, vec_env_spec_of(config, initial), initial.policy, launcher)
        open_parts.callback(workers.close)
        learners = open_learners(config, learner, launcher, device)
        open_parts.callback(learners.close)
        training_workers = open_training_rollout(config, workers, initial.policy)
        return _Run(config, initial, learner, workers, training_workers, learners, progress_callback).go()


def _claim(folder: Path, settings: str, *, resume: bool) -> None:
    """Make the folder of a run, or see that the run in it is this one."""
    path = folder / CONFIG
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(settings, encoding="utf-8")
    elif not resume:
        raise ManifestError(f"{folder}: there is a run already; add --resume, or name another --out")
    elif path.read_text(encoding="utf-8") != settings:
        raise ContractError(f"{path}: that run has other settings; name another --out, or run with this file")


class _Run:
    """The loop, and what it needs."""

    def __init__(
        self,
        config: RlConfig,
        initial: InitialPolicy,
        learner: Learner,
        workers: RolloutWorkers,
        training_workers: RolloutWorkers,
        learners: Learners,
        progress_callback: ProgressCallback,
    ) -> None:
        self._config, self._learner, self._workers, self._learners = config, learner, workers, learners
        self._training_workers = training_workers
        self._policy, self._progress_callback = learner.policy, progress_callback
        self._folder = config.folder
        self._identity = identity(config)
        self._done = restore_run(
            self._folder / STATE, self._policy.network, learner.optimiser, self._identity
        )
        words = {task: scene.task.instruction for task, scene in initial.scenes.items()}
        self._progress = ProgressModel(config.reward, words) if config.reward else None
        self._checkpoint = self._folder / initial.checkpoint_name
        self._log = Logbook(self._folder, config.runner.logger.logger_backends, self._done + bool(self._done))

    def go(self) -> dict[str, Any]:
        runner = self._config.runner
        if not self._done:
            base = self._evaluate("base.json")
            self._log.add(0, eval_metrics(base))
        for update in range(self._done, runner.max_epochs):
            row = self._update(update)
            if (update + 1) % runner.val_check_interval == 0 and update + 1 < runner.max_epochs:
                row |= eval_metrics(self._evaluate(f"eval_{update + 1}.json"))
            self._log.add(update + 1, row)
            if (update + 1) % runner.save_interval == 0 or update + 1 == runner.max_epochs:
                save_run(
                    self._folder / STATE,
                    self._policy.network,
                    self._learner.optimiser,
                    update + 1,
                    self._identity,
                )
        self._policy.save(self._checkpoint)
        evaluation = self._evaluate("policy.json")
        videos = []
        if self._config.env.eval.video_cfg.save_video:
            scenes, encoder = self._workers.vec_env_spec.scenes, self._workers.vec_env_spec.encoder
            videos = write_videos(
                self._folder / VIDEOS, scenes, self._policy, evaluation["episodes"], encoder
            )
        self._log.close()
        return self._result(evaluation, videos)

    def _update(self, update: int) -> dict[str, float]:
        """Collect, learn, and return the row of figures."""
        started = time.perf_counter()
        gathered = collect(self._training_workers, self._policy, self._config, update, self._progress)
        collected = time.perf_counter()
        learnt: dict[str, float] = {}
        if gathered.batch is not None:
            learnt = self._learners.update(gathered.batch, update, self._config.actor.seed)
        success = gathered.metrics["env/success_once"]
        self._progress_callback(update + 1, f"{100 * success:.0f} % while exploring")
        ended = time.perf_counter()
        return {
            **gathered.metrics,
            **learnt,
            "env/processes_replaced": self._workers.replaced + self._learners.replaced,
            "time/rollout": collected - started,
            "time/train": ended - collected,
            "time/step": ended - started,
        }

    def _evaluate(self, name: str) -> dict[str, Any]:
        """Evaluate the policy as it is on held-out states, and write `eval/<name>`."""
        env = self._config.env
        evaluation = evaluate_policy(self._workers, self._policy, env.tasks, env.eval.init_ids.ids())
        if self._training_workers is not self._workers:
            seen = env.train.init_ids.ids()
            evaluation[IMAGINED] = imagination_gap(
                self._training_workers, self._workers, self._policy, env.tasks, seen
            )
        _write(self._folder / "eval" / name, evaluation)
        return evaluation

    def _result(self, evaluation: dict[str, Any], videos: list[dict[str, Any]]) -> dict[str, Any]:
        """Write result and page, and return the result."""
        base = json.loads((self._folder / "eval" / "base.json").read_text(encoding="utf-8"))
        names = [name for name in ("all_episodes", "tasks", IMAGINED) if name in evaluation]
        result = {
            "updates": self._config.runner.max_epochs,
            "env_steps": self._log.env_steps,
            "base": {name: base[name] for name in names},
            "policy": {name: evaluation[name] for name in names},
            "episodes": evaluation["episodes"],
            "films": videos,
        }
        _write(self._folder / RESULT, result)
        (self._folder / PAGE).write_text(
            page(self._folder, result, effective(self._config)), encoding="utf-8"
        )
        return result


def _write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
