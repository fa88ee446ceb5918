"""The RBM network: a Qwen3-VL without language head, and three small heads, named as in the released weights.

Source of the structure: `robometer/models/rbm.py` and `heads.py` of https://github.com/robometer/robometer (MIT). The
4-B model built from it has 4,447,004,940 parameters, as its authors count.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers import Qwen3VLConfig, Qwen3VLModel

DROPOUT = 0.1
"""Dropout rate of the heads in training; being a layer of its own, it counts in the names of the weights."""


@dataclass(frozen=True)
class RbmLogits:
    """Logits of the heads for one sequence with T frames."""

    progress: Tensor
    """(T, bins) float32."""
    success: Tensor
    """(T,) float32."""


class RBM(nn.Module):
    """Robometer's reward model."""

    def __init__(self, config: Qwen3VLConfig, progress_bins: int, progress_token: int) -> None:
        """Build it with random weights, on the current default device and in the current default dtype.

        Args:
            config: of the backbone.
            progress_bins: outputs of the progress head.
            progress_token: id of the token that follows each frame, whose hidden state the heads read.
        """
        super().__init__()
        hidden = config.text_config.hidden_size
        self.model = Qwen3VLModel(config)
        self.progress_head = _head(hidden, progress_bins)
        self.success_head = _head(hidden, 1)
        # These two are not used in scoring; they are built so that every weight of the checkpoint has a parameter.
        self.preference_head = _head(hidden, 1)
        self.frame_pool_attn = nn.Linear(hidden, 1, bias=False)
        self._progress_token = progress_token

    @torch.inference_mode()
    def forward(self, inputs: dict[str, Tensor]) -> RbmLogits:
        """Score one sequence.

        Attention is causal, so the logits of a frame depend on it and on those before it only.

        Args:
            inputs: of the processor, batch of one: input_ids, attention_mask, pixel_values, image_grid_thw.
        """
        # No tokens follow this sequence; a cache of keys and values would take 0.5 GB for the 4-B model at 8 x 640².
        hidden = self.model(**inputs, use_cache=False).last_hidden_state[0]
        frames = hidden[inputs["input_ids"][0] == self._progress_token]
        return RbmLogits(
            progress=self.progress_head(frames).float(),
            success=self.success_head(frames).squeeze(-1).float(),
        )


def _head(hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(hidden, hidden // 2),
        nn.LayerNorm(hidden // 2),
        nn.GELU(),
        nn.Dropout(DROPOUT),
        nn.Linear(hidden // 2, outputs),
    )
