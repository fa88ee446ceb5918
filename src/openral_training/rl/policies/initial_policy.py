"""What a run begins with: a policy, and what it sees of which scenes. One function a kind of policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from openral_benchmark.single_run import default_instruction
from openral_core.errors import ContractError
from openral_core.scene import BenchmarkScene, load_scene
from openral_core.suite import with_task
from openral_rskill.registry import resolve
from openral_training.rl.config import RlConfig
from openral_training.rl.envs.observation_encoder import Sight, StateSenses
from openral_training.rl.policies.demonstrate import clone, demonstrate, joined
from openral_training.rl.policies.mini_actor import MiniActor, MiniActorConfig
from openral_training.rl.policies.mini_features import MiniEyes, check_skill
from openral_training.rl.policies.policy import StochasticPolicy
from openral_training.rl.policies.state_mlp import MlpConfig, MlpShape, StateMlp, load_state_mlp
from openral_training.rl.policies.token_actor import PictureSenses, TokenActor
from openral_training.rl.policies.token_model import TokenConfig
from openral_training.rl.settings.actor import Base
from openral_training.rl.settings.algorithm import Ppo

BASE = "base.safetensors"
Say = Callable[[int, str], None]
"""Told the number of updates that are done and a line about them."""


@dataclass(frozen=True)
class Beginning:
    """What a run begins with."""

    policy: StochasticPolicy
    """The base, the same one whenever a run is gone on with."""
    scenes: dict[str, BenchmarkScene]
    """By task, each with the words that the policy is told."""
    sight: Sight
    """Makes what the policy sees."""
    kept: str
    """Name, in the run's folder, under which the policy is saved in the end."""


def begin(config: RlConfig, say: Say = lambda step, note: None) -> Beginning:
    """Return what a run begins with.

    Args:
        config: of the run.
        say: told what is done for it.

    Raises:
        OpenralError: a scene or a skill is not there, or they do not fit each other.
    """
    model = config.actor.model
    if isinstance(model, MiniActorConfig):
        return _skill(config, model)
    return _tokens(config, model) if isinstance(model, TokenConfig) else _cloned(config, say)


def _scenes(config: RlConfig, words: Callable[[str], str]) -> dict[str, BenchmarkScene]:
    """Return the scene of each task, with its words."""
    scene = load_scene(config.env.scene, BenchmarkScene)
    family = scene.scene.backend_options["family"]
    return {task: with_task(scene, f"{family}/{task}", words(task)) for task in config.env.tasks}


def _value_width(config: RlConfig, chunk: int) -> int:
    """Return V: one value a control step where rewards have that grain, else one."""
    algorithm = config.algorithm
    return chunk if isinstance(algorithm, Ppo) and algorithm.reward_type == "action" else 1


def _skill(config: RlConfig, model: MiniActorConfig) -> Beginning:
    """Begin with a skill of the family `mini`, which is told what its manifest says first of each task."""
    package = resolve(model.model_path)
    bare = load_scene(config.env.scene)
    said = config.env.instructions
    scenes = _scenes(config, lambda task: said.get(task) or default_instruction(package, bare, task))
    check_skill(package, scenes)
    torch.manual_seed(config.actor.seed)
    policy = MiniActor(
        package,
        model,
        tasks=config.env.tasks,
        value_width=_value_width(config, model.chunk),
        temperature=config.rollout.sampling_params.temperature,
    )
    return Beginning(policy, scenes, partial(MiniEyes, package.folder), "policy")


def _tokens(config: RlConfig, model: TokenConfig) -> Beginning:
    """Begin with a language model that sees and writes its actions."""
    said = {task: config.env.instructions[task] for task in config.env.tasks}
    scenes = _scenes(config, lambda task: said[task])
    torch.manual_seed(config.actor.seed)
    policy = TokenActor(
        model,
        said,
        action_dim=scenes[config.env.tasks[0]].action.dim,
        value_width=_value_width(config, model.chunk),
        temperature=config.rollout.sampling_params.temperature,
    )
    return Beginning(policy, scenes, partial(PictureSenses, policy.model.image_size), "policy")


def _cloned(config: RlConfig, say: Say) -> Beginning:
    """Begin with a policy on the state."""
    scenes = _scenes(config, lambda task: config.env.instructions.get(task, task))
    return Beginning(
        state_policy(config, config.folder / BASE, say), scenes, StateSenses, "policy.safetensors"
    )


def state_policy(config: RlConfig, path: Path, say: Say = lambda step, note: None) -> StateMlp:
    """Return the policy on the state that a run begins with: cloned from demonstrations, or the one cloned before.

    Args:
        config: of the run.
        path: of its file.
        say: told of each task and of the cloning.

    Raises:
        ContractError: the run's policy is of another kind.
    """
    model = config.actor.model
    if not isinstance(model, MlpConfig):
        raise ContractError(f"actor.model.model_type: {model.model_type} acts on no state; take mlp")
    if not path.is_file():
        _clone(config, model, config.base or Base(), path, say)
    return load_state_mlp(path, config.rollout.sampling_params.temperature)


def _clone(config: RlConfig, model: MlpConfig, base: Base, path: Path, say: Say) -> None:
    """Let experts show the tasks, clone them, and write the policy."""
    senses, seed = StateSenses(config.env.tasks), config.actor.seed
    ids = list(config.env.train.init_ids.ids())[: base.demos]
    shows = []
    for task, scene in _scenes(config, str).items():
        say(0, f"the expert shows {task}")
        shown = demonstrate(
            scene,
            task,
            ids,
            senses,
            chunk=model.chunk,
            horizon=config.env.max_episode_steps,
            noise=base.noise,
            seed=seed,
        )
        shows.append(shown)
    torch.manual_seed(seed)
    everything = joined(shows)
    shape = MlpShape(
        **model.model_dump(),
        observation_dim=senses.dim,
        action_dim=everything.actions.shape[-1],
        value_width=_value_width(config, model.chunk),
    )
    policy = StateMlp(shape)
    clone(policy, everything, base, seed, lambda step, loss: say(0, f"cloning, step {step}"))
    policy.save(path)
