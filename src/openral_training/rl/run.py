"""A whole run: a base is cloned and judged, updated again and again, and judged on states it never learnt on.

All chance comes from the seed and the number of the update, so a run that is killed and goes on ends where an unbroken
one ends.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import yaml

from openral_core.errors import ContractError, ManifestError
from openral_core.scene import BenchmarkScene, DeployScene, load_scene
from openral_core.suite import with_task
from openral_training.checkpoint import identity, restore_run, save_run
from openral_training.rl.collection import collect
from openral_training.rl.config import RlConfig
from openral_training.rl.demonstrate import clone, demonstrate, joined
from openral_training.rl.films import film
from openral_training.rl.judge import eval_metrics, judge
from openral_training.rl.learner import Learner
from openral_training.rl.learners import Learners
from openral_training.rl.logbook import Logbook
from openral_training.rl.page import PAGE, page
from openral_training.rl.placement import launcher_of, open_learners, open_players
from openral_training.rl.players import Players
from openral_training.rl.senses import Senses
from openral_training.rl.settings.algorithm import Ppo
from openral_training.rl.simulators import Grounds
from openral_training.rl.state_mlp import MlpShape, StateMlp, load_state_mlp

BASE, STATE, POLICY, RESULT, CONFIG, FILMS = (
    "base.safetensors", "run.safetensors", "policy.safetensors", "result.json", "config.yaml", "video",
)  # fmt: skip
Say = Callable[[int, str], None]
"""Told the number of updates that are done and a line about them."""


def scenes_of(config: RlConfig) -> dict[str, DeployScene]:
    """Return the scene of each task. Raises as `openral_core.scene.load_scene`."""
    scene = load_scene(config.env.scene, BenchmarkScene)
    family = scene.scene.backend_options["family"]
    return {task: with_task(scene, f"{family}/{task}", task) for task in config.env.tasks}


def effective(config: RlConfig) -> str:
    """Return every value that is in force, defaults included, as YAML."""
    text: str = yaml.safe_dump(json.loads(config.model_dump_json()), sort_keys=False, allow_unicode=True)
    return text


def grounds_of(config: RlConfig, scenes: dict[str, DeployScene]) -> Grounds:
    """Return the worlds of a run, before anybody has built one."""
    env, stages = config.env, config.rollout.pipeline_stage_num
    return Grounds(scenes, env.train.total_num_envs, stages, env.max_episode_steps)


def base_policy(config: RlConfig, scenes: dict[str, DeployScene], path: Path, say: Say) -> StateMlp:
    """Return the policy to begin with: cloned from demonstrations, or the one that was cloned before.

    Args:
        config: of the run.
        scenes: by task.
        path: of its file.
        say: told of each task and of the cloning.
    """
    temperature = config.rollout.sampling_params.temperature
    if path.is_file():
        return load_state_mlp(path, temperature)
    model, senses, seed = config.actor.model, Senses(config.env.tasks), config.actor.seed
    ids = list(config.env.train.init_ids.ids())[: config.base.demos]
    shows = []
    for task, scene in scenes.items():
        say(0, f"the expert shows {task}")
        shown = demonstrate(
            scene, task, ids, senses, chunk=model.chunk, horizon=config.env.max_episode_steps,
            noise=config.base.noise, seed=seed,
        )  # fmt: skip
        shows.append(shown)
    torch.manual_seed(seed)
    everything, algorithm = joined(shows), config.algorithm
    width = model.chunk if isinstance(algorithm, Ppo) and algorithm.reward_type == "action" else 1
    shape = MlpShape(
        **model.model_dump(),
        observation_dim=senses.dim,
        action_dim=everything.actions.shape[-1],
        value_width=width,
    )
    policy = StateMlp(shape)
    clone(policy, everything, config.base, seed, lambda step, loss: say(0, f"cloning, step {step}"))
    policy.save(path)
    return load_state_mlp(path, temperature)


def train(config: RlConfig, *, resume: bool = False, say: Say = lambda step, note: None) -> dict[str, Any]:
    """Run it, and return what `result.json` says: base and policy, judged on held-out states.

    Args:
        config: see `config`.
        resume: go on with what is in the run's folder.
        say: told of each update.

    Raises:
        ManifestError: there is a run in the folder already and it is not to be gone on with.
        ContractError: the run in the folder was made with other settings.
    """
    _claim(config.folder, effective(config), resume=resume)
    scenes = scenes_of(config)
    policy = base_policy(config, scenes, config.folder / BASE, say)
    launcher = launcher_of(config.cluster)
    actor = config.actor
    learner = Learner(policy, config.algorithm, actor.optim, actor.global_batch_size)
    with contextlib.ExitStack() as open_parts:
        open_parts.callback(launcher.close)
        players = open_players(config, grounds_of(config, scenes), policy, launcher)
        open_parts.callback(players.close)
        learners = open_learners(config, learner, launcher)
        open_parts.callback(learners.close)
        return _Run(config, learner, players, learners, say).go()


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
        self, config: RlConfig, learner: Learner, players: Players, learners: Learners, say: Say
    ) -> None:
        self._config, self._learner, self._players, self._learners = config, learner, players, learners
        self._policy, self._say = learner.policy, say
        self._folder = config.folder
        self._identity = identity(config)
        self._done = restore_run(
            self._folder / STATE, self._policy.network, learner.optimiser, self._identity
        )
        self._log = Logbook(self._folder, config.runner.logger.logger_backends, self._done + bool(self._done))

    def go(self) -> dict[str, Any]:
        runner = self._config.runner
        if not self._done:
            base = self._judge("base.json")
            self._log.add(0, eval_metrics(base))
        for update in range(self._done, runner.max_epochs):
            row = self._update(update)
            if (update + 1) % runner.val_check_interval == 0 and update + 1 < runner.max_epochs:
                row |= eval_metrics(self._judge(f"eval_{update + 1}.json"))
            self._log.add(update + 1, row)
            if (update + 1) % runner.save_interval == 0 or update + 1 == runner.max_epochs:
                save_run(
                    self._folder / STATE,
                    self._policy.network,
                    self._learner.optimiser,
                    update + 1,
                    self._identity,
                )
        self._policy.save(self._folder / POLICY)
        judged = self._judge("policy.json")
        films = []
        if self._config.env.eval.video_cfg.save_video:
            scenes, senses = self._players.grounds.scenes, self._players.grounds.senses
            films = film(self._folder / FILMS, scenes, self._policy, judged["episodes"], senses)
        self._log.close()
        return self._result(judged, films)

    def _update(self, update: int) -> dict[str, float]:
        """Collect, learn, and return the row of figures."""
        started = time.perf_counter()
        gathered = collect(self._players, self._policy, self._config, update)
        collected = time.perf_counter()
        learnt: dict[str, float] = {}
        if gathered.experience is not None:
            learnt = self._learners.update(gathered.experience, update, self._config.actor.seed)
        success = gathered.metrics["env/success_once"]
        self._say(update + 1, f"{100 * success:.0f} % while exploring")
        ended = time.perf_counter()
        return {
            **gathered.metrics, **learnt, "env/processes_replaced": self._players.replaced + self._learners.replaced,
            "time/rollout": collected - started, "time/train": ended - collected, "time/step": ended - started,
        }  # fmt: skip

    def _judge(self, name: str) -> dict[str, Any]:
        """Judge the policy as it is on held-out states, and write `eval/<name>`."""
        env = self._config.env
        judged = judge(self._players, self._policy, env.tasks, env.eval.init_ids.ids())
        _write(self._folder / "eval" / name, judged)
        return judged

    def _result(self, judged: dict[str, Any], films: list[dict[str, Any]]) -> dict[str, Any]:
        """Write result and page, and return the result."""
        base = json.loads((self._folder / "eval" / "base.json").read_text(encoding="utf-8"))
        names = ("all_episodes", "tasks")
        result = {
            "updates": self._config.runner.max_epochs,
            "env_steps": self._log.env_steps,
            "base": {name: base[name] for name in names},
            "policy": {name: judged[name] for name in names},
            "episodes": judged["episodes"],
            "films": films,
        }
        _write(self._folder / RESULT, result)
        (self._folder / PAGE).write_text(
            page(self._folder, result, effective(self._config)), encoding="utf-8"
        )
        return result


def _write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
