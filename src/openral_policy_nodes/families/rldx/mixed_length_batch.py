"""RLDX-1 on a batch of sentences of different lengths, with PyTorch's own attention.

Upstream pads such a batch on the left. Before the fifth decoder layer its `LayerWrapper` cuts tokens of older pictures
out of everything that is indexed by token, the attention mask included, of which it expects one number a token, (B, L).
That is the form for flash attention. For PyTorch's attention transformers makes the mask (B, 1, L, L), each token's
view of the others, and upstream's indexing ends in `IndexError`. Where no sentence is padded there is no mask at all,
so only batches of different lengths are concerned. Here the wrapper is given the form that it expects, and the decoder
layers theirs.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class ViewOfEach(nn.Module):
    """A decoder layer that is given a mask of one number a token, and attends as transformers would let it."""

    def __init__(self, layer: nn.Module) -> None:
        """Take over a layer with PyTorch's attention."""
        super().__init__()
        self.layer = layer

    def forward(self, hidden_states: Tensor, *args: Any, **options: Any) -> Any:
        """Return what the layer does; see `causal_mask` for the option `attention_mask`."""
        mask = options.get("attention_mask")
        if mask is not None and mask.dim() == 2:
            options["attention_mask"] = causal_mask(mask)
        return self.layer(hidden_states, *args, **options)


def causal_mask(present: Tensor) -> Tensor:
    """(B, L), false for padding -> (B, 1, L, L): each token sees itself and those before it that are no padding."""
    length = present.shape[1]
    before = torch.ones(length, length, dtype=torch.bool, device=present.device).tril()
    return before & present.bool()[:, None, None, :]


def tokens_present(mask: Tensor) -> Tensor:
    """(B, 1, L, L) as transformers makes it -> (B, L): what the last token sees, which padding on the left is not."""
    return mask[:, 0, -1]


def let_sentences_differ(model: nn.Module) -> None:
    """Let a model read batches of sentences of different lengths.

    Args:
        model: upstream's RLDX, or whatever has its `backbone`.
    """
    for wrapper in model.backbone.qwen_model.model.language_model.layers:  # type: ignore[union-attr]
        if wrapper.layer_idx == wrapper.internal_projection:
            wrapper.layer = ViewOfEach(wrapper.layer)
            wrapper.register_forward_pre_hook(_flatten, with_kwargs=True)
            wrapper.register_forward_hook(_widen)


def _flatten(wrapper: nn.Module, args: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    mask = options.get("attention_mask")
    if mask is not None and mask.dim() == 4:
        options = {**options, "attention_mask": tokens_present(mask)}
    return args, options


def _widen(wrapper: nn.Module, args: Any, answer: tuple[Any, dict[str, Any]]) -> tuple[Any, dict[str, Any]]:
    """Upstream hands the mask that the wrapper returns to the layers that follow."""
    hidden, options = answer
    mask = options.get("attention_mask")
    if mask is not None and mask.dim() == 2:
        options = {**options, "attention_mask": causal_mask(mask)}
    return hidden, options


class AnySentences:
    """Stands in for `transformers.AutoModel`, or for what stands in for it, in upstream's loader."""

    def __init__(self, auto_model: Any) -> None:
        self._auto_model = auto_model

    def from_pretrained(self, folder: Any, **options: Any) -> Any:
        """Load as the original does."""
        model = self._auto_model.from_pretrained(folder, **options)
        if model.backbone.qwen_model.config._attn_implementation == "sdpa":
            let_sentences_differ(model)
        return model
