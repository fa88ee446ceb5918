"""The trained parts of the planner: whether a clause orders what an example says, and the speech act of a clause.

The network is trained by `openral train planner`; `openral_training.planner.network` is the same in torch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from openral_core.errors import InstallationError
from openral_core.sentence_encoder import Array, SentenceEncoder, gelu, layer_norm, linear, softmax

HEADS = 4
"""Attention heads of the comparison."""
WEIGHTS = Path(__file__).with_name("planner.safetensors")
MAX_TOKENS = 40
"""Tokens of a clause that are read; later ones are ignored."""
MOST_REMEMBERED = 4096
"""Clauses and examples whose states are kept."""


@dataclass(frozen=True)
class SpeechAct:
    """Probabilities of what a clause is; they add up to 1."""

    order: float
    statement: float
    question: float
    forbidden: float
    unreal: float
    """It speaks of something imagined, reported, quoted, for somebody else, or for later."""
    fragment: float
    """It lacks a verb or an object."""

    @property
    def no_order(self) -> float:
        """Probability, 0..1, of a question, a prohibition, or something that is not to be done now."""
        return self.question + self.forbidden + self.unreal


def _load(path: Path) -> tuple[dict[str, Array], frozenset[str]]:
    """Read the trained weights as float32, and the words. Raises InstallationError: they cannot be read."""
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise InstallationError(f"{error.name} is not installed: pip install 'openral[models]'") from error
    try:
        with safe_open(str(path), "np") as file:
            weights = {name: file.get_tensor(name).astype(np.float32) for name in file.keys()}  # noqa: SIM118
            metadata = file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise InstallationError(
            f"the planner's weights {path} cannot be read ({error}); `openral train planner` writes them"
        ) from error
    return weights, frozenset(metadata.get("words", "").split())


class TokenEncoder(SentenceEncoder):
    """The MiniLM sentence encoder with the trained low-rank adapters merged into its weights."""

    def __init__(self, weights: dict[str, Array], folder: Path | None = None) -> None:
        """Load the encoder in `folder` (None: the packaged one), and merge the adapters of `weights` into it."""
        super().__init__(folder)
        for name in list(self._weights):
            key = f"encoder.adapters.{name.removesuffix('.weight').replace('.', '_')}"
            if f"{key}.up" in weights:
                self._weights[name] = self._weights[name] + weights[f"{key}.up"] @ weights[f"{key}.down"]
        self._states: dict[str, Array] = {}
        self.vocabulary: dict[str, int] = self._tokenizer.get_vocab()
        """Token -> id of the tokenizer."""

    def states(self, text: str) -> Array:
        """Return the token states (T, 384) of a text; the first one is that of the start token."""
        if text not in self._states:
            if len(self._states) > MOST_REMEMBERED:
                self._states.clear()
            hidden = self._embed(np.array([self._tokenizer.encode(text).ids[:MAX_TOKENS]]))
            for layer in range(self._layers):
                hidden = self._layer(hidden, f"encoder.layer.{layer}.")
            self._states[text] = hidden[0]
        return self._states[text]


class LearnedMatcher:
    """Compares clauses with examples token by token. Deterministic."""

    def __init__(self, path: Path = WEIGHTS) -> None:
        """Load the encoder, and trained weights. Raises InstallationError: they cannot be loaded."""
        self._weights, self.words = _load(path)
        """`words` are those of the training's orders, without names of things."""
        self.encoder = TokenEncoder(self._weights)
        self._projected: dict[str, tuple[Array, Array]] = {}

    def act(self, clause: str) -> SpeechAct:
        """Return the probabilities of a clause's speech act."""
        states = self.encoder.states(clause)
        weight = softmax(self._linear(states, "act_weight"), 0)
        pooled = np.concatenate([(weight.T @ states).ravel(), states[0]])
        logits = self._linear(gelu(self._linear(pooled[None], "act_inner")), "act")[0]
        return SpeechAct(*(float(p) for p in softmax(logits, 0)))

    def scores(self, clause: str, examples: Sequence[str]) -> Array:
        """Return for each example the probability, 0..1, that the clause orders just that."""
        one = self._side(clause)
        sides = [self._side(example) for example in examples]
        logits = np.zeros(len(examples), np.float32)
        for length in sorted({len(unit) for unit, _ in sides}):
            chosen = [i for i, (unit, _) in enumerate(sides) if len(unit) == length]
            units = np.stack([sides[i][0] for i in chosen])
            logits[chosen] = self._logits(one, units, np.stack([sides[i][1] for i in chosen]))
        probabilities: Array = (1.0 / (1.0 + np.exp(-np.clip(logits, -30, 30)))).astype(np.float32)
        return probabilities

    def _side(self, text: str) -> tuple[Array, Array]:
        """Return the unit token states of a text (T, 384), and their projections (T, 128)."""
        if text not in self._projected:
            if len(self._projected) > MOST_REMEMBERED:
                self._projected.clear()
            states = self.encoder.states(text)
            unit = states / np.linalg.norm(states, axis=1, keepdims=True)
            self._projected[text] = (unit, self._linear(states, "project"))
        return self._projected[text]

    def _logits(self, one: tuple[Array, Array], units: Array, q: Array) -> Array:
        """Return the logits (N,) of a clause with N examples of S tokens each.

        Args:
            one: states (T, 384) and projections (T, 128) of the clause.
            units: (N, S, 384) states of the examples.
            q: (N, S, 128) their projections.
        """
        unit, own = one
        near = unit @ units.transpose(0, 2, 1)
        p = np.broadcast_to(own, (len(q), *own.shape))
        scale = float(self._weights["scale"])
        there = self._compared(p, softmax(near * scale, 2) @ q, near.max(2))
        back = self._compared(q, softmax(near * scale, 1).transpose(0, 2, 1) @ p, near.max(1))
        x = np.concatenate([there + self._weights["side"][0], back + self._weights["side"][1]], axis=1)
        qkv = self._linear(x, "qkv").reshape(*x.shape[:2], 3, HEADS, -1).transpose(2, 0, 3, 1, 4)
        attention = softmax(qkv[0] @ qkv[1].swapaxes(2, 3) / math.sqrt(qkv.shape[-1]), 3)
        mixed = (attention @ qkv[2]).transpose(0, 2, 1, 3).reshape(x.shape)
        x = self._norm(x + self._linear(mixed, "mix"), "norm1")
        x = self._norm(x + self._linear(gelu(self._linear(x, "inner")), "outer"), "norm2")
        clause, example = x[:, : len(unit)], x[:, len(unit) :]
        pooled = np.concatenate([clause.mean(1), clause.max(1), example.mean(1), example.max(1)], axis=1)
        return self._linear(gelu(self._linear(pooled, "pooled")), "match")[:, 0]

    def _compared(self, own: Array, aligned: Array, near: Array) -> Array:
        features = [own, aligned, own * aligned, np.abs(own - aligned), near[..., None]]
        return gelu(self._linear(np.concatenate(features, axis=-1), "compare"))

    def _linear(self, x: Array, name: str) -> Array:
        return linear(x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _norm(self, x: Array, name: str) -> Array:
        return layer_norm(x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])
