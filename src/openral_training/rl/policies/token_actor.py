"""A policy that generates actions as tokens: one token per number, each conditioned on those before it.

`sample` generates token by token with a key-value cache. `evaluate` reads all tokens of a decision in one forward pass
and returns the same log-probabilities, up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from openral_core.scene import BenchmarkScene
from openral_core.types import RobotState
from openral_policy_nodes.families.openvla_oft.actions import bin_centres
from openral_sim_bridge.backend import Backend
from openral_training.rl.policies.heads import BinHead
from openral_training.rl.policies.policy import Decision, PolicyEvaluation, to_numpy
from openral_training.rl.policies.token_model import TokenModel
from openral_training.rl.settings.initial_model import TokenConfig


class ImageEncoder:
    """Encodes an environment as (S * S * 3 + 1,) uint8: the image of the scene's first camera, and the task's index."""

    def __init__(self, size: int, scenes: Mapping[str, BenchmarkScene]) -> None:
        """Look up the cameras.

        Args:
            size: S [px], the side of the square image.
            scenes: by task.
        """
        self._size, self._tasks = size, list(scenes)
        self._cameras = {task: scene.cameras[0].name for task, scene in scenes.items()}

    @property
    def dim(self) -> int:
        """Length D of an observation."""
        return self._size**2 * 3 + 1

    def encode(self, backend: Backend, env: int, task: str, state: RobotState) -> NDArray[np.uint8]:
        """Return the image and the task's index of one environment."""
        camera = self._cameras[task]
        image = backend.render([camera], [env])[camera][0]
        resized = cv2.resize(image, (self._size, self._size), interpolation=cv2.INTER_AREA)
        return np.append(resized.reshape(-1), self._tasks.index(task)).astype(np.uint8)


class TokenActor:
    """A StochasticPolicy on the observations of `ImageEncoder`."""

    def __init__(
        self,
        config: TokenConfig,
        instructions: Mapping[str, str],
        *,
        action_dim: int,
        value_width: int,
        temperature: float,
    ) -> None:
        """Load a checkpoint. Raises as `TokenModel`.

        Args:
            config: which checkpoint.
            instructions: by task, in the order of the encoder's scenes.
            action_dim: A, the length of an action.
            value_width: V, the number of the critic's values.
            temperature: > 0; see `state_mlp.StateMlp`.
        """
        self.chunk, self.action_dim, self.value_width = config.chunk, action_dim, value_width
        self._arguments = config, dict(instructions), action_dim, value_width, temperature
        self.model = TokenModel(config, value_width)
        self._prompts = [self.model.prompt(instruction) for instruction in instructions.values()]
        self._token_head = BinHead(config.bins, 1, 1, temperature)
        self._chunk_head = BinHead(config.bins, config.chunk, action_dim, temperature)
        self._bin_centres = torch.from_numpy(bin_centres(config.bins).astype(np.float32))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the arguments and the trained parameters alone; the copy loads the checkpoint again."""
        return _rebuild, (*self._arguments, self.model.state_dict())

    @property
    def network(self) -> nn.Module:
        """All parameters that are trained and saved."""
        return self.model

    def actor_parameters(self) -> Iterator[nn.Parameter]:
        """Yield the parameters of LoRA."""
        yield from self.model.lora_parameters()

    def critic_parameters(self) -> Iterator[nn.Parameter]:
        """Yield the parameters of the critic."""
        yield from self.model.critic.parameters()

    @torch.no_grad()
    def sample(self, observations: NDArray[Any], noise: NDArray[np.float32]) -> Decision:
        """Sample actions; see `StochasticPolicy.sample`."""
        token_noise = torch.from_numpy(noise).flatten(1).to(self.model.device)

        def sample(logits: Tensor, place: int, rows: Tensor) -> Tensor:
            return self._token_head.sample(logits, token_noise[rows, place].view(-1, 1, 1))

        tokens, logprobs, values = self._generate(observations, sample)
        return Decision(self._actions(tokens), to_numpy(tokens), to_numpy(logprobs), to_numpy(values))

    def evaluate(self, observations: Tensor, tokens: Tensor) -> PolicyEvaluation:
        """Return log-probabilities of tokens, entropies, and values."""
        by_task: list[tuple[Tensor, Tensor, Tensor]] = []
        order: list[Tensor] = []
        for prompt, pixels, rows in self._by_task(observations):
            hidden = self.model.read_tokens(prompt, pixels, tokens[rows].flatten(1))
            logprobs, entropy = self._chunk_head.evaluate(self.model.logits(hidden), tokens[rows])
            by_task.append((logprobs, entropy, self.model.values(hidden[:, 0])))
            order.append(rows)
        back = torch.argsort(torch.cat(order))
        return PolicyEvaluation(*(torch.cat(parts)[back] for parts in zip(*by_task, strict=True)))

    @torch.no_grad()
    def values(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        """Return the critic's values (B, V)."""
        values = np.zeros((len(observations), self.value_width), np.float32)
        for prompt, pixels, rows in self._by_task(torch.from_numpy(observations)):
            values[rows] = to_numpy(self.model.values(self.model.prefill(prompt, pixels)[0]))
        return values

    @torch.no_grad()
    def greedy(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        """Return the actions of greedy decoding: at each position the likeliest token."""
        tokens, _, _ = self._generate(observations, lambda logits, place, rows: self._token_head.mode(logits))
        return self._actions(tokens)

    def save(self, path: Path) -> None:
        """Write LoRA into a folder in the format of peft: `adapter_model.safetensors` and its config."""
        self.model.adapted.save_pretrained(path, safe_serialization=True)

    def _generate(
        self, observations: NDArray[Any], choose: Callable[[Tensor, int, Tensor], Tensor]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Generate token by token; return tokens and log-probabilities (B, C, A), and values (B, V).

        `choose` returns tokens (b, 1, 1) for logits (b, K), a position in the sequence, and the rows (b,) of the batch.
        """
        count, length = len(observations), self.chunk * self.action_dim
        device = self.model.device
        tokens, logprobs = torch.zeros(2, count, length, device=device)
        values = torch.zeros(count, self.value_width, device=device)
        for prompt, pixels, rows in self._by_task(torch.from_numpy(observations)):
            hidden, cache = self.model.prefill(prompt, pixels)
            values[rows] = self.model.values(hidden)
            for place in range(length):
                logits = self.model.logits(hidden)
                chosen = choose(logits, place, rows)
                tokens[rows, place] = chosen.view(-1)
                logprobs[rows, place] = self._token_head.evaluate(logits, chosen)[0].view(-1)
                if place + 1 < length:
                    hidden, cache = self.model.decode(chosen.view(-1), cache)
        shape = (count, self.chunk, self.action_dim)
        return tokens.view(shape), logprobs.view(shape), values

    def _by_task(self, observations: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Yield prompts, pixels and row numbers, one task at a time, so that prompts of a batch need no padding."""
        device, size = self.model.device, self.model.image_size
        for index, prompt in enumerate(self._prompts):
            rows = torch.nonzero(observations[:, -1].cpu() == index)[:, 0]
            if len(rows):
                images = observations[rows, :-1].view(-1, size, size, 3).to(device)
                yield prompt.to(device).expand(len(rows), -1), self.model.pixels(images), rows

    def _actions(self, tokens: Tensor) -> NDArray[np.float32]:
        """Return the centres of the tokens' bins; the two highest tokens have the same centre, as in OpenVLA."""
        return to_numpy(self._bin_centres[tokens.long().cpu().clamp(max=len(self._bin_centres) - 1)])


def _rebuild(
    config: TokenConfig,
    instructions: Mapping[str, str],
    action_dim: int,
    value_width: int,
    temperature: float,
    trained: Mapping[str, Any],
) -> TokenActor:
    """Load the checkpoint, and then the trained parameters: the inverse of `__reduce__`."""
    actor = TokenActor(
        config, instructions, action_dim=action_dim, value_width=value_width, temperature=temperature
    )
    actor.model.load_state_dict(trained)
    return actor
