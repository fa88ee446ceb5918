"""SmolVLA's way from the embedded observation to actions, as a function of tensors that can be recorded.

LeRobot's `sample_actions` embeds pictures by code that asks the GPU for values, and then reads the prefix once and
denoises in steps that differ in nothing but values. From the prefix on it is done here, with LeRobot's own layers, so
that a GPU may replay it as one CUDA graph. The actions are those of `sample_actions`, up to the order of sums: the
prefix is filled up to one length with what nothing looks at.
"""

from __future__ import annotations

from typing import Any

import torch
from lerobot.policies.smolvla.modeling_smolvla import make_att_2d_masks
from torch import Tensor, nn
from torch.nn.functional import pad

from openral_sidecar.cuda_graph_call import CudaGraphCall, Recorder


class StaticSampling:
    """Takes the place of `VLAFlowMatching.sample_actions`."""

    def __init__(self, model: Any, record: Recorder) -> None:
        """Take over a model.

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
        """Return (B, H, A) actions, see `sample_actions`; the noise is drawn from the same generator."""
        model = self._model
        if noise is None:
            shape = (state.shape[0], model.config.chunk_size, model.config.max_action_dim)
            noise = model.sample_noise(shape, state.device)
        embedded, present, later = model.embed_prefix(images, img_masks, lang_tokens, lang_masks, state=state)
        # As long as the longest sentence makes it, so that a new sentence needs no recording of its own.
        spare = max(0, model.config.tokenizer_max_length - lang_tokens.shape[1])
        return self.call(
            pad(embedded, (0, 0, 0, spare)), pad(present, (0, spare)), pad(later, (0, spare)), noise
        )

    def _denoise(self, embedded: Tensor, present: Tensor, later: Tensor, noise: Tensor) -> Tensor:
        """Return actions (B, H, A).

        Args:
            embedded: (B, L, F) pictures, words and state.
            present: (B, L) bool, false where there is only padding.
            later: (B, L) bool, where what stands before may not look.
            noise: (B, H, A) to begin with.
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
    """Let a SmolVLA policy sample so, and return what does."""
    sampling = StaticSampling(policy.model, record)
    policy.model.sample_actions = sampling
    return sampling


def cast_products(module: nn.Module, dtype: torch.dtype) -> None:
    """Keep the linear layers of a module in the format that autocast multiplies them in.

    Autocast would cast each of them again in every call. The products have the same bits either way.
    """
    for part in module.modules():
        if type(part) is nn.Linear:
            part.to(dtype)
