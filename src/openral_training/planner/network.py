"""The matcher in torch: MiniLM with low-rank adapters, a head that compares two phrases, a head for speech acts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

from openral_training.planner.labelled_utterance import ACTS

WIDTH = 128
"""Width of the comparison's hidden states."""
HEADS = 4
FIRST_ADAPTED = 2
"""Index of the first encoder layer with adapters; those below it are used as published."""
LINEARS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)


class Adapter(nn.Module):
    """A frozen linear map with a trained low-rank addition (Hu et al. 2021, arXiv 2106.09685)."""

    def __init__(self, weight: Tensor, bias: Tensor, rank: int) -> None:
        super().__init__()
        self.register_buffer("weight", weight, persistent=False)
        self.register_buffer("bias", bias, persistent=False)
        self.down = nn.Parameter(torch.randn(rank, weight.shape[1]) / weight.shape[1] ** 0.5)
        self.up = nn.Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, x: Tensor) -> Tensor:
        """Return the output (..., out_features) for x (..., in_features)."""
        weight, bias = self.get_buffer("weight"), self.get_buffer("bias")
        y: Tensor = F.linear(x, weight, bias) + F.linear(F.linear(x, self.down), self.up)
        return y


class Encoder(nn.Module):
    """The encoder all-MiniLM-L6-v2, with adapters in its upper layers."""

    def __init__(self, folder: Path, rank: int) -> None:
        super().__init__()
        config = json.loads((folder / "config.json").read_text())
        self.heads, self.layers = int(config["num_attention_heads"]), int(config["num_hidden_layers"])
        self.epsilon = float(config["layer_norm_eps"])
        self.fixed = {name: value.float() for name, value in load_file(folder / "model.safetensors").items()}
        self.adapters = nn.ModuleDict()
        for layer in range(FIRST_ADAPTED, self.layers):
            for linear in LINEARS:
                name = f"encoder.layer.{layer}.{linear}"
                self.adapters[name.replace(".", "_")] = Adapter(
                    self.fixed[f"{name}.weight"], self.fixed[f"{name}.bias"], rank
                )

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Encoder:
        """Apply `fn` to the frozen weights, too, which are not registered as parameters or buffers."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.fixed = {name: fn(value) for name, value in self.fixed.items()}
        return self

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return token states (N, T, 384) of token ids (N, T); the mask (N, T) is False for padding."""
        with torch.no_grad():
            hidden = self.fixed["embeddings.word_embeddings.weight"][ids]
            hidden = hidden + self.fixed["embeddings.position_embeddings.weight"][: ids.shape[1]]
            hidden = hidden + self.fixed["embeddings.token_type_embeddings.weight"][0]
            hidden = self._norm(hidden, "embeddings.LayerNorm")
            for layer in range(FIRST_ADAPTED):
                hidden = self._layer(hidden, mask, layer)
        for layer in range(FIRST_ADAPTED, self.layers):
            hidden = self._layer(hidden, mask, layer)
        return hidden

    def _layer(self, hidden: Tensor, mask: Tensor, layer: int) -> Tensor:
        query, key, value = (
            self._linear(hidden, layer, f"attention.self.{name}")
            .reshape(*hidden.shape[:2], self.heads, -1)
            .transpose(1, 2)
            for name in ("query", "key", "value")
        )
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None, :])
        mixed = self._linear(mixed.transpose(1, 2).flatten(2), layer, "attention.output.dense")
        hidden = self._norm(hidden + mixed, f"encoder.layer.{layer}.attention.output.LayerNorm")
        inner = self._linear(F.gelu(self._linear(hidden, layer, "intermediate.dense")), layer, "output.dense")
        return self._norm(hidden + inner, f"encoder.layer.{layer}.output.LayerNorm")

    def _linear(self, x: Tensor, layer: int, linear: str) -> Tensor:
        name = f"encoder.layer.{layer}.{linear}"
        if layer >= FIRST_ADAPTED:
            y: Tensor = self.adapters[name.replace(".", "_")](x)
            return y
        return F.linear(x, self.fixed[f"{name}.weight"], self.fixed[f"{name}.bias"])

    def _norm(self, x: Tensor, name: str) -> Tensor:
        weight, bias = self.fixed[f"{name}.weight"], self.fixed[f"{name}.bias"]
        return F.layer_norm(x, (x.shape[-1],), weight, bias, self.epsilon)


class Matcher(nn.Module):
    """Compares a clause with an example of a task, token by token, and classifies the speech act of a clause."""

    def __init__(self, folder: Path, rank: int = 32) -> None:
        super().__init__()
        self.encoder = Encoder(folder, rank)
        size = self.encoder.fixed["embeddings.LayerNorm.weight"].shape[0]
        self.scale = nn.Parameter(torch.tensor(10.0))
        self.project = nn.Linear(size, WIDTH)
        self.compare = nn.Linear(4 * WIDTH + 1, WIDTH)
        self.side = nn.Parameter(torch.zeros(2, WIDTH))
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.mix = nn.Linear(WIDTH, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.inner, self.outer = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.pooled, self.match = nn.Linear(4 * WIDTH, WIDTH), nn.Linear(WIDTH, 1)
        self.parts = nn.Linear(WIDTH, 2)
        self.act_weight = nn.Linear(size, 4)
        self.act_inner, self.act = nn.Linear(5 * size, WIDTH), nn.Linear(WIDTH, len(ACTS))

    @property
    def device(self) -> torch.device:
        """The device of the parameters."""
        return self.scale.device

    def acts(self, states: Tensor, mask: Tensor) -> Tensor:
        """Return logits (N, 6) of `ACTS` for token states (N, T, 384) and their mask (N, T)."""
        weight = self.act_weight(states).masked_fill(~mask[..., None], -1e4).softmax(1)
        pooled = torch.einsum("nth,ntd->nhd", weight, states).flatten(1)
        logits: Tensor = self.act(F.gelu(self.act_inner(torch.cat([pooled, states[:, 0]], 1))))
        return logits

    def matches(self, one: Tensor, one_mask: Tensor, other: Tensor, other_mask: Tensor) -> Tensor:
        """Return logits (P, 3) of same order, same action and same object, for P pairs of clause and example.

        Args:
            one: (P, T, 384) token states of the clauses.
            one_mask: (P, T) False for padding.
            other: (P, S, 384) token states of the examples.
            other_mask: (P, S) False for padding.
        """
        near = F.normalize(one, dim=-1) @ F.normalize(other, dim=-1).transpose(1, 2)
        p, q = self.project(one), self.project(other)
        rows = near.masked_fill(~other_mask[:, None, :], -1.0)
        columns = near.masked_fill(~one_mask[:, :, None], -1.0)
        to_other = (rows * self.scale).masked_fill(~other_mask[:, None, :], -1e4).softmax(2) @ q
        to_one = (columns * self.scale).masked_fill(~one_mask[:, :, None], -1e4).softmax(1).transpose(
            1, 2
        ) @ p
        x = torch.cat(
            [
                self._compared(p, to_other, rows.amax(2)) + self.side[0],
                self._compared(q, to_one, columns.amax(1)) + self.side[1],
            ],
            1,
        )
        mask = torch.cat([one_mask, other_mask], 1)
        query, key, value = self.qkv(x).unflatten(2, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None, :])
        x = self.norm1(x + self.mix(mixed.transpose(1, 2).flatten(2)))
        x = self.norm2(x + self.outer(F.gelu(self.inner(x))))
        parts = []
        for part, kept in ((x[:, : one.shape[1]], one_mask), (x[:, one.shape[1] :], other_mask)):
            parts.append((part * kept[..., None]).sum(1) / kept.sum(1, keepdim=True))
            parts.append(part.masked_fill(~kept[..., None], -1e4).amax(1))
        pooled = F.gelu(self.pooled(torch.cat(parts, 1)))
        return torch.cat([self.match(pooled), self.parts(pooled)], 1)

    def _compared(self, own: Tensor, aligned: Tensor, near: Tensor) -> Tensor:
        features = torch.cat([own, aligned, own * aligned, (own - aligned).abs(), near[..., None]], -1)
        compared: Tensor = F.gelu(self.compare(features))
        return compared
