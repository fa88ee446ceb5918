"""The initial policy of a run, with its observation encoder and scenes; one function for each kind of policy."""

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
from openral_training.rl.envs.observation_encoder import EncoderFactory, StateEncoder
from openral_training.rl.policies.mini_actor import MiniActor
from openral_training.rl.policies.mini_features import MiniFeatures, check_skill
from openral_training.rl.policies.policy import StochasticPolicy
from openral_training.rl.policies.state_mlp import MlpShape, StateMlp, load_state_mlp
from openral_training.rl.policies.token_actor import ImageEncoder, TokenActor
from openral_training.rl.settings.actor import InitialCloning
from openral_training.rl.settings.algorithm import Ppo
from openral_training.rl.settings.initial_model import MiniActorConfig, MlpConfig, TokenConfig
from openral_training.rl.state_cloning import clone, concatenated, demonstrate

BASE = "base.safetensors"
ProgressCallback = Callable[[int, str], None]
"""(number of finished updates, a line about them) -> None"""


@dataclass(frozen=True)
class InitialPolicy:
    """The initial policy of a run, with its scenes and its observation encoder."""

    policy: StochasticPolicy
    """The initial weights are the same each time, also when a run is resumed."""
    scenes: dict[str, BenchmarkScene]
    """Scenes by task, each with the instruction that the policy gets."""
    encoder_factory: EncoderFactory
    """Constructs the encoder of the policy's observations."""
    checkpoint_name: str
    """Name in the run's folder under which the final policy is saved."""


def initial_policy(
    config: RlConfig, progress_callback: ProgressCallback = lambda step, note: None
) -> InitialPolicy:
    """Return the initial policy of a run.

    Args:
        config: of the run.
        progress_callback: called while demonstrations are recorded and cloned.

    Raises:
        OpenralError: a scene or a skill is missing, or they do not fit each other.
    """
    model = config.actor.model
    if isinstance(model, MiniActorConfig):
        return _mini_actor(config, model)
    if isinstance(model, TokenConfig):
        return _token_actor(config, model)
    return _state_mlp(config, progress_callback)


def _scenes(config: RlConfig, instruction: Callable[[str], str]) -> dict[str, BenchmarkScene]:
    """Return the scene of each task, with its instruction."""
    scene = load_scene(config.env.scene, BenchmarkScene)
    family = scene.scene.backend_options["family"]
    return {task: with_task(scene, f"{family}/{task}", instruction(task)) for task in config.env.tasks}


def _value_width(config: RlConfig, chunk: int) -> int:
    """Return V: C where each control step has a reward of its own, else 1."""
    algorithm = config.algorithm
    return chunk if isinstance(algorithm, Ppo) and algorithm.reward_type == "action" else 1


def _mini_actor(config: RlConfig, model: MiniActorConfig) -> InitialPolicy:
    """Return the policy of a `mini` skill; tasks without an instruction get the first one of the skill's manifest."""
    package = resolve(model.model_path)
    scene = load_scene(config.env.scene, BenchmarkScene)
    instructions = config.env.instructions
    scenes = _scenes(config, lambda task: instructions.get(task) or default_instruction(package, scene, task))
    check_skill(package, scenes, config.env.eval.init_ids.ids())
    torch.manual_seed(config.actor.seed)
    policy = MiniActor(
        package,
        model,
        tasks=config.env.tasks,
        value_width=_value_width(config, model.chunk),
        temperature=config.rollout.sampling_params.temperature,
    )
    return InitialPolicy(policy, scenes, partial(MiniFeatures, package.folder), "policy")


def _token_actor(config: RlConfig, model: TokenConfig) -> InitialPolicy:
    """Return the policy of a vision-language model that generates action tokens."""
    instructions = {task: config.env.instructions[task] for task in config.env.tasks}
    scenes = _scenes(config, lambda task: instructions[task])
    torch.manual_seed(config.actor.seed)
    policy = TokenActor(
        model,
        instructions,
        action_dim=scenes[config.env.tasks[0]].action.dim,
        value_width=_value_width(config, model.chunk),
        temperature=config.rollout.sampling_params.temperature,
    )
    return InitialPolicy(policy, scenes, partial(ImageEncoder, policy.model.image_size), "policy")


def _state_mlp(config: RlConfig, progress_callback: ProgressCallback) -> InitialPolicy:
    """Return a policy on the simulator's state."""
    scenes = _scenes(config, lambda task: config.env.instructions.get(task, task))
    return InitialPolicy(
        state_policy(config, config.folder / BASE, progress_callback),
        scenes,
        StateEncoder,
        "policy.safetensors",
    )


def state_policy(
    config: RlConfig, path: Path, progress_callback: ProgressCallback = lambda step, note: None
) -> StateMlp:
    """Return a run's initial policy on the state, from its file, or cloned from demonstrations and written there.

    Args:
        config: of the run.
        path: of the policy's file.
        progress_callback: called for each task and while cloning.

    Raises:
        ContractError: the policy of the run does not act on the state.
    """
    model = config.actor.model
    if not isinstance(model, MlpConfig):
        raise ContractError(
            f"actor.model.model_type: is {model.model_type}, which does not act on the simulator's state; set mlp"
        )
    if not path.is_file():
        _clone(config, model, config.base or InitialCloning(), path, progress_callback)
    return load_state_mlp(path, config.rollout.sampling_params.temperature)


def _clone(
    config: RlConfig, model: MlpConfig, base: InitialCloning, path: Path, progress_callback: ProgressCallback
) -> None:
    """Clone the scripted experts of all tasks, and write the policy."""
    encoder, seed = StateEncoder(config.env.tasks), config.actor.seed
    ids = list(config.env.train.init_ids.ids()[: base.demos])
    demonstrations = []
    for task, scene in _scenes(config, str).items():
        progress_callback(0, f"demonstrations of {task}")
        of_task = demonstrate(
            scene,
            task,
            ids,
            encoder,
            chunk=model.chunk,
            horizon=config.env.max_episode_steps,
            noise=base.noise,
            seed=seed,
        )
        demonstrations.append(of_task)
    torch.manual_seed(seed)
    of_all_tasks = concatenated(demonstrations)
    shape = MlpShape(
        **model.model_dump(),
        observation_dim=encoder.dim,
        action_dim=of_all_tasks.actions.shape[-1],
        value_width=_value_width(config, model.chunk),
    )
    policy = StateMlp(shape)
    clone(policy, of_all_tasks, base, seed, lambda step, loss: progress_callback(0, f"cloning, step {step}"))
    policy.save(path)
