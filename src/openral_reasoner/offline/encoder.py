"""Token states of the sentence encoder with the planner's trained low-rank adapters, in numpy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from openral_core.errors import InstallationError
from openral_core.sentence_encoder import MOST_REMEMBERED, Array, SentenceEncoder

WEIGHTS = Path(__file__).with_name("planner.safetensors")
MAX_TOKENS = 40
"""Tokens of a clause that are read; later ones are ignored."""


@dataclass(frozen=True)
class Trained:
    """The result of the training."""

    weights: dict[str, Array]
    words: frozenset[str]
    """The words of the training's orders, without names of things."""


def load_trained(path: Path = WEIGHTS) -> Trained:
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
    return Trained(weights, frozenset(metadata.get("words", "").split()))


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
