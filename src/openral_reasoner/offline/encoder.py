"""Token states of the sentence encoder with the planner's trained low-rank adapters, in numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from openral_core.errors import InstallationError
from openral_core.sentence import MOST_REMEMBERED, Array, SentenceEncoder

WEIGHTS = Path(__file__).with_name("planner.safetensors")
MAX_TOKENS = 40
"""Longer clauses are read up to here."""


@dataclass(frozen=True)
class Trained:
    """What training leaves behind."""

    weights: dict[str, Array]
    words: frozenset[str]
    """The words that the training's orders were made of, names of things left out."""


def load_trained(path: Path = WEIGHTS) -> Trained:
    """Read the trained weights as float32, and the words.

    Raises:
        InstallationError: the file is missing or cannot be read, or `safetensors` is missing.
    """
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
    """MiniLM with the adapters merged into its weights."""

    def __init__(self, weights: dict[str, Array], folder: Path | None = None) -> None:
        """Merge the adapters.

        Args:
            weights: as `load_trained` returns them.
            folder: of the published encoder; None: the packaged one.
        """
        super().__init__(folder)
        for name in list(self._weights):
            key = f"encoder.adapters.{name.removesuffix('.weight').replace('.', '_')}"
            if f"{key}.up" in weights:
                self._weights[name] = self._weights[name] + weights[f"{key}.up"] @ weights[f"{key}.down"]
        self._states: dict[str, Array] = {}

    def vocabulary(self) -> dict[str, int]:
        """Pieces of the tokenizer with their ids; of the whole words the common ones have low ids."""
        vocabulary: dict[str, int] = self._tokenizer.get_vocab()
        return vocabulary

    def states(self, texts: Sequence[str]) -> list[Array]:
        """Return for each text its (T, 384) token states, the first one the start token's."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._states]
        by_length: dict[int, list[tuple[str, list[int]]]] = {}
        for text in missing:
            ids = self._tokenizer.encode(text).ids[:MAX_TOKENS]
            by_length.setdefault(len(ids), []).append((text, ids))
        found = {text: self._states[text] for text in texts if text in self._states}
        for group in by_length.values():
            hidden = self._embed(np.array([ids for _, ids in group]))
            for layer in range(self._layers):
                hidden = self._layer(hidden, f"encoder.layer.{layer}.")
            found.update({text: state for (text, _), state in zip(group, hidden, strict=True)})
        if len(self._states) + len(found) > MOST_REMEMBERED:
            self._states.clear()
        self._states.update(found)
        return [found[text] for text in texts]
