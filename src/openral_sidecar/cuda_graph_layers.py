"""Runs of consecutive Qwen3-VL layers, each of which is replayed as one CUDA graph.

A layer launches about forty kernels, whose launches dominate its time. Consecutive layers without other computation
between them form one function of tensors. Runs of the vision tower end where hidden states are kept for the first
decoder layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from openral_sidecar.cuda_graph_call import CudaGraphCall, Recorder


class DecoderRun(nn.Module):
    """Consecutive decoder layers without other computation between them; it replaces the first of them."""

    def __init__(self, layers: Sequence[nn.Module], record: Recorder) -> None:
        """Wrap layers.

        Args:
            layers: of one Qwen3-VL, in order.
            record: see `CudaGraphCall`.
        """
        super().__init__()
        self._layers = nn.ModuleList(layers)
        self.call = CudaGraphCall(self._run, record)

    def forward(
        self,
        hidden_states: Tensor,
        *,
        position_embeddings: tuple[Tensor, Tensor],
        attention_mask: Tensor | None = None,
        past_key_values: Any = None,
        **others: Any,
    ) -> Tensor:
        """Return the hidden states (B, L, F) after the last layer.

        Args:
            hidden_states: (B, L, F).
            position_embeddings: cosine and sine of the rotary embedding, (B, L, D) each.
            attention_mask: as for PyTorch's scaled dot-product attention; None: causal.
            past_key_values: cache of keys and values; with a cache, no CUDA graph is used.
            others: further arguments of upstream, which the layers ignore without a cache.
        """
        if past_key_values is not None:
            for layer in self._layers:
                hidden_states = layer(
                    hidden_states,
                    position_embeddings=position_embeddings,
                    attention_mask=attention_mask,
                    past_key_values=past_key_values,
                    **others,
                )
            return hidden_states
        mask = () if attention_mask is None else (attention_mask,)
        return self.call(hidden_states, *position_embeddings, *mask)

    def _run(self, hidden: Tensor, cosine: Tensor, sine: Tensor, *mask: Tensor) -> Tensor:
        with casting_anew(hidden.device.type):
            for layer in self._layers:
                hidden = layer(
                    hidden,
                    position_embeddings=(cosine, sine),
                    attention_mask=mask[0] if mask else None,
                )
        return hidden


class VisionRun(nn.Module):
    """Consecutive blocks of a vision tower without other computation between them; it replaces the last of them."""

    def __init__(self, blocks: Sequence[nn.Module], record: Recorder) -> None:
        """Wrap blocks.

        Args:
            blocks: of one Qwen3-VL, in order.
            record: see `CudaGraphCall`.
        """
        super().__init__()
        self._blocks = nn.ModuleList(blocks)
        self.call = CudaGraphCall(self._run, record)

    def forward(
        self,
        hidden_states: Tensor,
        *,
        cu_seqlens: Tensor,
        position_embeddings: tuple[Tensor, Tensor],
        **others: Any,
    ) -> Tensor:
        """Return the hidden states (N, F) after the last block.

        Args:
            hidden_states: (N, F) patches of P images, one image after the other.
            cu_seqlens: (P + 1,) patch indices at which images begin and end. As a recording cannot depend on values, a
                CUDA graph is used only for images of equal size.
            position_embeddings: cosine and sine of the rotary embedding, (N, D) each.
            others: further arguments, which the blocks ignore.
        """
        if len(set(cu_seqlens.diff().tolist())) == 1:
            return self.call(hidden_states, *position_embeddings, cu_seqlens)
        for block in self._blocks:
            hidden_states = block(
                hidden_states, cu_seqlens=cu_seqlens, position_embeddings=position_embeddings, **others
            )
        return hidden_states

    def _run(self, hidden: Tensor, cosine: Tensor, sine: Tensor, places: Tensor) -> Tensor:
        # The blocks read each image's length; a NumPy array needs no synchronization with the device.
        ends = np.linspace(0, len(hidden), len(places), dtype=np.int64)
        with casting_anew(hidden.device.type):
            for block in self._blocks:
                hidden = block(hidden, cu_seqlens=ends, position_embeddings=(cosine, sine))
        return hidden


class _Earlier(nn.Module):
    """Replaces a block that a later `VisionRun` computes."""

    def forward(self, hidden_states: Tensor, **others: Any) -> Tensor:
        """Return the hidden states unchanged."""
        return hidden_states


def record_vision(visual: Any, record: Recorder) -> list[VisionRun]:
    """Replace the blocks of a vision tower by runs, and return these.

    A run ends where hidden states are kept for the decoder, and at the layer where RLDX-1 inserts its motion block.

    Args:
        visual: `Qwen3VLVisionModel`, or upstream's variant of it, on its device.
        record: see `CudaGraphCall`.
    """
    ends = {*visual.deepstack_visual_indexes, len(visual.blocks) - 1}
    if getattr(visual, "motion_block", None) is not None:
        ends.add(visual.motion_insert_layer)
    runs, blocks, first = [], list(visual.blocks), 0
    for last in sorted(ends):
        runs.append(VisionRun(blocks[first : last + 1], record))
        visual.blocks[last] = runs[-1]
        for number in range(first, last):
            visual.blocks[number] = _Earlier()
        first = last + 1
    return runs


def record_decoder(text: Any, first: int, record: Recorder) -> list[DecoderRun]:
    """Replace the last layers of a decoder by a run, and return it; the list is empty if there are no such layers.

    Args:
        text: `Qwen3VLTextModel` on its device, used without a cache of keys and values.
        first: index of the first layer from which on there is no computation between layers.
        record: see `CudaGraphCall`.
    """
    if first >= len(text.layers):
        return []
    run = DecoderRun(list(text.layers[first:]), record)
    text.layers[first] = run
    del text.layers[first + 1 :]
    return [run]


def casting_anew(device: str) -> torch.autocast:
    """Return autocast with the present settings but no weight cache, whose copies a replay would read after release."""
    return torch.autocast(
        device, torch.get_autocast_dtype(device), torch.is_autocast_enabled(device), cache_enabled=False
    )
