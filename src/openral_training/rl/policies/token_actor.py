"""A policy that writes its actions as words: one token a number, each drawn knowing those before it.

While it acts, keys and values of picture, question and earlier tokens are kept (the cache), so each token costs one
token. An update reads a whole decision at once and finds the same probabilities again, up to rounding.
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
from openral_training.rl.policies.token_model import TokenConfig, TokenModel


class ImageEncoder:
    """Encodes a world as (S * S * 3 + 1,) uint8: the image of the scene's first camera, and which task it is."""

    def __init__(self, size: int, scenes: Mapping[str, BenchmarkScene]) -> None:
        """Remember the cameras.

        Args:
            size: S [px]
            scenes: by task.
        """
        self._size, self._tasks = size, list(scenes)
        self._cameras = {task: scene.cameras[0].name for task, scene in scenes.items()}

    @property
    def dim(self) -> int:
        """D"""
        return self._size**2 * 3 + 1

    def encode(self, backend: Backend, env: int, task: str, state: RobotState) -> NDArray[np.uint8]:
        """Return the image and the task of one world."""
        camera = self._cameras[task]
        image = backend.render([camera], [env])[camera][0]
        small = cv2.resize(image, (self._size, self._size), interpolation=cv2.INTER_AREA)
        return np.append(small.reshape(-1), self._tasks.index(task)).astype(np.uint8)


class TokenActor:
    """A StochasticPolicy that sees with an `ImageEncoder` and writes its actions as tokens."""

    def __init__(
        self,
        config: TokenConfig,
        words: Mapping[str, str],
        *,
        action_dim: int,
        value_width: int,
        temperature: float,
    ) -> None:
        """Load a checkpoint. Raises as `TokenModel`.

        Args:
            config: which.
            words: of each task, in the order of the encoder.
            action_dim: A
            value_width: V
            temperature: > 0; see `state_mlp.StateMlp`.
        """
        self.chunk, self.action_dim, self.value_width = config.chunk, action_dim, value_width
        self._made_of = config, dict(words), action_dim, value_width, temperature
        self.model = TokenModel(config, value_width)
        self._prompts = [self.model.prompt(said) for said in words.values()]
        self._one = BinHead(config.bins, 1, 1, temperature)
        self._all = BinHead(config.bins, config.chunk, action_dim, temperature)
        self._values = torch.from_numpy(bin_centres(config.bins).astype(np.float32))

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel light: a copy, in this process or another, loads the checkpoint and takes over what was learnt."""
        return _again, (*self._made_of, self.model.state_dict())

    @property
    def network(self) -> nn.Module:
        """All that is learnt and saved."""
        return self.model

    def actor_parameters(self) -> Iterator[nn.Parameter]:
        """Yield what the actor's loss moves."""
        yield from self.model.learnt()

    def critic_parameters(self) -> Iterator[nn.Parameter]:
        """Yield what the critic's loss moves."""
        yield from self.model.critic.parameters()

    @torch.no_grad()
    def sample(self, observations: NDArray[Any], noise: NDArray[np.float32]) -> Decision:
        """Act by chance."""
        chance = torch.from_numpy(noise).flatten(1).to(self.model.device)

        def draw(scores: Tensor, place: int, rows: Tensor) -> Tensor:
            return self._one.draw(scores, chance[rows, place].view(-1, 1, 1))

        tokens, logprobs, values = self._write(observations, draw)
        return Decision(self._actions(tokens), to_numpy(tokens), to_numpy(logprobs), to_numpy(values))

    def evaluate(self, observations: Tensor, tokens: Tensor) -> PolicyEvaluation:
        """Return how likely tokens were, their entropy, and values."""
        found: dict[str, list[Tensor]] = {"logprobs": [], "entropy": [], "values": []}
        order: list[Tensor] = []
        for prompt, pixels, rows in self._by_task(observations):
            hidden = self.model.read(prompt, pixels, tokens[rows].flatten(1))
            logprobs, entropy = self._all.evaluate(self.model.scores(hidden), tokens[rows])
            for name, tensor in zip(
                found, (logprobs, entropy, self.model.expected(hidden[:, 0])), strict=True
            ):
                found[name].append(tensor)
            order.append(rows)
        back = torch.argsort(torch.cat(order))
        return PolicyEvaluation(**{name: torch.cat(parts)[back] for name, parts in found.items()})

    @torch.no_grad()
    def values(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        """Return (B, V) expected returns."""
        made = np.zeros((len(observations), self.value_width), np.float32)
        for prompt, pixels, rows in self._by_task(torch.from_numpy(observations)):
            made[rows] = to_numpy(self.model.expected(self.model.begin(prompt, pixels)[0]))
        return made

    @torch.no_grad()
    def greedy(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        """Return the actions of the likeliest token each time."""
        tokens, _, _ = self._write(observations, lambda scores, place, rows: self._one.best(scores))
        return self._actions(tokens)

    def save(self, path: Path) -> None:
        """Write LoRA as peft does, `adapter_model.safetensors` and its config, into a folder."""
        self.model.adapted.save_pretrained(path, safe_serialization=True)

    def _write(
        self, observations: NDArray[Any], choose: Callable[[Tensor, int, Tensor], Tensor]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Write token after token; return tokens, log-probabilities (B, C, A), and values (B, V)."""
        count, length = len(observations), self.chunk * self.action_dim
        device = self.model.device
        tokens, logprobs = torch.zeros(2, count, length, device=device)
        values = torch.zeros(count, self.value_width, device=device)
        for prompt, pixels, rows in self._by_task(torch.from_numpy(observations)):
            hidden, cache = self.model.begin(prompt, pixels)
            values[rows] = self.model.expected(hidden)
            for place in range(length):
                scores = self.model.scores(hidden)
                chosen = choose(scores, place, rows)
                tokens[rows, place] = chosen.view(-1)
                logprobs[rows, place] = self._one.evaluate(scores, chosen)[0].view(-1)
                if place + 1 < length:
                    hidden, cache = self.model.go_on(chosen.view(-1), cache)
        shape = (count, self.chunk, self.action_dim)
        return tokens.view(shape), logprobs.view(shape), values

    def _by_task(self, observations: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Yield prompts, pixels and rows of one task at a time: no padding, so no row depends on its neighbours'."""
        device, size = self.model.device, self.model.image_size
        for index, prompt in enumerate(self._prompts):
            rows = torch.nonzero(observations[:, -1].cpu() == index)[:, 0]
            if len(rows):
                images = observations[rows, :-1].view(-1, size, size, 3).to(device)
                yield prompt.to(device).expand(len(rows), -1), self.model.pixels(images), rows

    def _actions(self, tokens: Tensor) -> NDArray[np.float32]:
        """Return the middles of the bins; the two highest tokens share one, as in OpenVLA."""
        return to_numpy(self._values[tokens.long().cpu().clamp(max=len(self._values) - 1)])


def _again(
    config: TokenConfig,
    words: Mapping[str, str],
    action_dim: int,
    value_width: int,
    temperature: float,
    learnt: Mapping[str, Any],
) -> TokenActor:
    actor = TokenActor(config, words, action_dim=action_dim, value_width=value_width, temperature=temperature)
    actor.model.load_state_dict(learnt)
    return actor
