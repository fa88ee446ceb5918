"""SmolVLA's sampling, from the embedded observation to actions, as a function of tensors that can be recorded.

LeRobot's `sample_actions` embeds images by code that reads values from the GPU. Then it encodes the prefix once and
denoises in steps that differ only in values. These parts after the embedding are computed here, with LeRobot's own
layers, so that a GPU can replay them as one CUDA graph. The actions equal those of `sample_actions` but for the order
of sums, since the prefix is padded to a fixed length with tokens that are not attended to.
"""

from __future__ import annotations

from typing import Any

import torch
from lerobot.policies.smolvla.modeling_smolvla import make_att_2d_masks
from torch import Tensor, nn
from torch.nn.functional import pad

from openral_sidecar.cuda_graph_call import CudaGraphCall, Recorder


class StaticSampling:
    """Replaces `VLAFlowMatching.sample_actions`."""

    def __init__(self, model: Any, record: Recorder) -> None:
        """Wrap a model.

        Args:
            model: `VLAFlowMatching` without real-time chunking, on its device.
            record: see `CudaGraphCall`.
        """
        self._model = model
        self.call = CudaGraphCall(self._denoise, record)

    def __call__(
        self,
        images: list[Tensor],
        img_masks: list[Tensor],
        lang_tokens: Tensor,
        lang_masks: Tensor,
        state: Tensor,
        noise: Tensor | None = None,
    ) -> Tensor:
        """Return actions (B, H, A) as `sample_actions` does, with noise from the same generator."""
        model = self._model
        if noise is None:
            shape = (state.shape[0], model.config.chunk_size, model.config.max_action_dim)
            noise = model.sample_noise(shape, state.device)
        embedded, present, later = model.embed_prefix(images, img_masks, lang_tokens, lang_masks, state=state)
        # The prefix is padded to its length with the longest sentence, so that one recording serves all sentences.
        spare = max(0, model.config.tokenizer_max_length - lang_tokens.shape[1])
        return self.call(
            pad(embedded, (0, 0, 0, spare)), pad(present, (0, spare)), pad(later, (0, spare)), noise
        )

    def _denoise(self, embedded: Tensor, present: Tensor, later: Tensor, noise: Tensor) -> Tensor:
        """Return actions (B, H, A).

        Args:
            embedded: (B, L, F) embedded images, instruction and state.
            present: (B, L) bool, false for padding.
            later: (B, L) bool, true for tokens to which the tokens before them do not attend.
            noise: (B, H, A) initial noise.
        """
        model = self._model
        _, cache = model.vlm_with_expert.forward(
            attention_mask=make_att_2d_masks(present, later),
            position_ids=torch.cumsum(present, dim=1) - 1,
            past_key_values=None,
            inputs_embeds=[embedded, None],
            use_cache=model.config.use_cache,
            fill_kv_cache=True,
        )
        steps = model.config.num_steps
        actions, step_s = noise, -1.0 / steps
        for step in range(steps):
            time = torch.full((len(noise),), 1.0 + step * step_s, dtype=torch.float32, device=noise.device)
            velocity = model.denoise_step(
                x_t=actions, prefix_pad_masks=present, past_key_values=cache, timestep=time
            )
            actions = actions + step_s * velocity
        return actions


def use_static_sampling(policy: Any, record: Recorder) -> StaticSampling:
    """Replace `sample_actions` of a SmolVLA policy, and return the replacement."""
    sampling = StaticSampling(policy.model, record)
    policy.model.sample_actions = sampling
    return sampling


def cast_products(module: nn.Module, dtype: torch.dtype) -> None:
    """Convert the linear layers of a module to the dtype in which autocast multiplies them.

    Autocast would convert each of them again in every call; the products are the same bit for bit.
    """
    for part in module.modules():
        if type(part) is nn.Linear:
            part.to(dtype)
