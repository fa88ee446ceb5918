"""Batches of sentences of different lengths for RLDX-1 with PyTorch's own attention.

Upstream pads such a batch on the left. Before the fifth decoder layer its `LayerWrapper` removes the tokens of older
images from all tensors that are indexed by token, among them the attention mask, which it expects as (B, L). That is
the format of flash attention. For PyTorch's attention transformers makes a mask (B, 1, L, L) of each token's view of
the others, and upstream's indexing raises `IndexError`. Without padding there is no mask, so only batches of different
lengths are affected. Here the mask is converted to the format that the wrapper expects, and back for the decoder
layers.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class ViewOfEach(nn.Module):
    """A decoder layer with PyTorch's attention that also accepts a mask (B, L), which it converts."""

    def __init__(self, layer: nn.Module) -> None:
        """Wrap a layer with PyTorch's attention."""
        super().__init__()
        self.layer = layer

    def forward(self, hidden_states: Tensor, *args: Any, **options: Any) -> Any:
        """Return the output of the layer; an `attention_mask` (B, L) is converted by `causal_mask`."""
        mask = options.get("attention_mask")
        if mask is not None and mask.dim() == 2:
            options["attention_mask"] = causal_mask(mask)
        return self.layer(hidden_states, *args, **options)


def causal_mask(present: Tensor) -> Tensor:
    """Return the causal mask (B, 1, L, L), without padding, of a mask (B, L) that is false for padding."""
    length = present.shape[1]
    before = torch.ones(length, length, dtype=torch.bool, device=present.device).tril()
    return before & present.bool()[:, None, None, :]


def tokens_present(mask: Tensor) -> Tensor:
    """Return the mask (B, L) of a causal mask (B, 1, L, L): the last token attends to all tokens but the padding."""
    return mask[:, 0, -1]


def let_sentences_differ(model: nn.Module) -> None:
    """Make a model accept batches of sentences of different lengths.

    Args:
        model: upstream's RLDX, or a module with the same `backbone`.
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
    """Convert the mask in the wrapper's output, since upstream passes it on to the following layers."""
    hidden, options = answer
    mask = options.get("attention_mask")
    if mask is not None and mask.dim() == 2:
        options = {**options, "attention_mask": causal_mask(mask)}
    return hidden, options


class AnySentences:
    """Replaces `transformers.AutoModel`, or another such replacement, in upstream's loader."""

    def __init__(self, auto_model: Any) -> None:
        self._auto_model = auto_model

    def from_pretrained(self, folder: Any, **options: Any) -> Any:
        """Load a model as the original does, and make it accept sentences of different lengths."""
        model = self._auto_model.from_pretrained(folder, **options)
        if model.backbone.qwen_model.config._attn_implementation == "sdpa":
            let_sentences_differ(model)
        return model
