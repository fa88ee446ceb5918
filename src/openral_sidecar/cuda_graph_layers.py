"""Runs of Qwen3-VL's layers that a GPU replays as one CUDA graph each; computed by the layers of whoever loaded them.

A layer launches some forty kernels, for which a GPU waits. Layers that follow each other with nothing between them are
one function of tensors. Between them, some of the vision tower's hidden states are kept for the first decoder layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from openral_sidecar.cuda_graph_call import CudaGraphCall, Recorder


class DecoderRun(nn.Module):
    """Decoder layers that follow each other with nothing between them; takes the place of the first of them."""

    def __init__(self, layers: Sequence[nn.Module], record: Recorder) -> None:
        """Take over layers.

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
        """Return hidden states (B, L, F) behind the last layer.

        Args:
            hidden_states: (B, L, F).
            position_embeddings: cosine and sine of the rotary embedding, (B, L, D) each.
            attention_mask: as PyTorch's own attention takes it; None: causal.
            past_key_values: keys and values that the layers are to keep; with them nothing is recorded.
            others: what upstream passes besides; the layers read none of it without such keys and values.
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
    """Blocks of a vision tower that follow each other with nothing between them; takes the place of the last one."""

    def __init__(self, blocks: Sequence[nn.Module], record: Recorder) -> None:
        """Take over blocks.

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
        """Return hidden states (N, F) behind the last block.

        Args:
            hidden_states: (N, F), the patches of P pictures, one picture after the other.
            cu_seqlens: (P + 1,) where each picture begins and ends. A recording knows nothing of values, so that only
                pictures of one size are replayed.
            position_embeddings: cosine and sine of the rotary embedding, (N, D) each.
            others: what is passed besides; the blocks read none of it.
        """
        if len(set(cu_seqlens.diff().tolist())) == 1:
            return self.call(hidden_states, *position_embeddings, cu_seqlens)
        for block in self._blocks:
            hidden_states = block(
                hidden_states, cu_seqlens=cu_seqlens, position_embeddings=position_embeddings, **others
            )
        return hidden_states

    def _run(self, hidden: Tensor, cosine: Tensor, sine: Tensor, places: Tensor) -> Tensor:
        # The blocks ask for each picture's length; an array answers without the device.
        ends = np.linspace(0, len(hidden), len(places), dtype=np.int64)
        with casting_anew(hidden.device.type):
            for block in self._blocks:
                hidden = block(hidden, cu_seqlens=ends, position_embeddings=(cosine, sine))
        return hidden


class _Earlier(nn.Module):
    """Stands where a block was that a later `VisionRun` computes."""

    def forward(self, hidden_states: Tensor, **others: Any) -> Tensor:
        """Return what came in."""
        return hidden_states


def record_vision(visual: Any, record: Recorder) -> list[VisionRun]:
    """Let the blocks of a vision tower be replayed, and return what does it.

    A run ends where hidden states are kept for the decoder, and where RLDX-1 may look at motion.

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
    """Let the layers of a decoder be replayed, and return what does it; nothing where it has no such layers.

    Args:
        text: `Qwen3VLTextModel` on its device; it keeps no keys and values.
        first: number of the first layer after which nothing is done between layers.
        record: see `CudaGraphCall`.
    """
    if first >= len(text.layers):
        return []
    run = DecoderRun(list(text.layers[first:]), record)
    text.layers[first] = run
    del text.layers[first + 1 :]
    return [run]


def casting_anew(device: str) -> torch.autocast:
    """Return autocast as it is, but without cached copies of weights, which a recording would read after their end."""
    return torch.autocast(
        device, torch.get_autocast_dtype(device), torch.is_autocast_enabled(device), cache_enabled=False
    )
