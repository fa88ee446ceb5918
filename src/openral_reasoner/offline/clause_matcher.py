"""The trained parts of the planner: whether a clause orders what an example says, and the speech act of a clause.

The network is trained by `openral train planner`; `openral_training.planner.network` is the same in torch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openral_core.sentence_encoder import Array, gelu
from openral_reasoner.offline.encoder import TokenEncoder, Trained, load_trained

HEADS = 4
"""Attention heads of the comparison."""


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


class LearnedMatcher:
    """Compares clauses with examples token by token. Deterministic."""

    def __init__(self, encoder: TokenEncoder | None = None, trained: Trained | None = None) -> None:
        """Load encoder and weights unless they are given. Raises InstallationError: they cannot be loaded."""
        trained = trained or load_trained()
        self._weights = trained.weights
        self.words = trained.words
        self.encoder = encoder or TokenEncoder(self._weights)
        self._projected: dict[str, tuple[Array, Array]] = {}

    def act(self, clause: str) -> SpeechAct:
        """Return the probabilities of a clause's speech act."""
        states = self.encoder.states(clause)
        weight = _softmax(self._linear(states, "act_weight"), 0)
        pooled = np.concatenate([(weight.T @ states).ravel(), states[0]])
        logits = self._linear(gelu(self._linear(pooled[None], "act_inner")), "act")[0]
        return SpeechAct(*(float(p) for p in _softmax(logits, 0)))

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
            if len(self._projected) > 4096:
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
        x = np.concatenate(
            [
                self._compared(p, _softmax(near * scale, 2) @ q, near.max(2)) + self._weights["side"][0],
                self._compared(q, _softmax(near * scale, 1).transpose(0, 2, 1) @ p, near.max(1))
                + self._weights["side"][1],
            ],
            axis=1,
        )
        qkv = self._linear(x, "qkv").reshape(*x.shape[:2], 3, HEADS, -1).transpose(2, 0, 3, 1, 4)
        attention = _softmax(qkv[0] @ qkv[1].swapaxes(2, 3) / math.sqrt(qkv.shape[-1]), 3)
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
        flat = x.reshape(-1, x.shape[-1])  # one matrix product for all tokens of all examples
        y: Array = flat @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return y.reshape(*x.shape[:-1], -1)

    def _norm(self, x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
        normed: Array = scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return normed


def _softmax(x: Array, axis: int) -> Array:
    raised = np.exp(x - x.max(axis=axis, keepdims=True))
    share: Array = raised / raised.sum(axis=axis, keepdims=True)
    return share
