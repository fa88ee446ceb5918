"""CUDA graphs of RLDX-1: of denoising, and of most of the backbone's layers.

Upstream's `get_action` encodes images and instruction with 18 layers of Qwen3-VL and denoises an action chunk with its
MSAT transformer. Two parts of it launch the same kernels whatever the values of their tensors are. Before the fifth
decoder layer upstream replaces all images but the newest by their mean; the layers after it are a function of tensors
whose shapes depend on the length of the instruction only. Denoising is a function of a fixed number of the backbone's
last tokens. Both are computed by upstream's own layers, and so is the vision tower. The first decoder layers depend on
values of tensors on the host, and are not recorded. Upstream's own graphs (`rldx/inference`) support one observation,
one instruction and a backbone that is not packed.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from transformers.feature_extraction_utils import BatchFeature

from openral_sidecar.cuda_graph_call import CudaGraphCall, CudaGraphs, Recorder
from openral_sidecar.cuda_graph_layers import DecoderRun, casting_anew, record_vision
from openral_sidecar.host_noise import HostNoise


class StaticDenoising:
    """Replaces `RLDXActionModel.get_action_with_features`."""

    def __init__(self, head: Any, record: Recorder) -> None:
        """Wrap an action head.

        Args:
            head: upstream's `RLDXActionModel`, on its device.
            record: see `CudaGraphCall`.
        """
        self._head, self._upstream = head, head.get_action_with_features
        self.call = CudaGraphCall(self._denoise, record)

    def __call__(
        self,
        backbone_features: Tensor,
        state_features: Tensor,
        embodiment_id: Tensor,
        backbone_output: Mapping[str, Any],
        action_input: Any = None,
    ) -> Any:
        """Return the result of the replaced method, with the noise that it would draw on a CPU.

        Checkpoints with force inputs (`use_physics`) or real-time chunking are run by upstream's code.
        """
        head = self._head
        if head.use_physics or head._rtc.enabled_inference():
            return self._upstream(
                backbone_features, state_features, embodiment_id, backbone_output, action_input
            )
        with HostNoise():
            noise = torch.randn(
                (len(backbone_features), head.config.action_horizon, head.action_dim),
                dtype=backbone_features.dtype,
                device=backbone_features.device,
            )
        visible = backbone_output.get("backbone_attention_mask")
        mask = () if visible is None or visible.all() else (visible,)
        actions = self.call(backbone_features, state_features, embodiment_id, noise, *mask)
        return BatchFeature(
            data={
                "action_pred": actions,
                "backbone_features": backbone_features,
                "state_features": state_features,
            }
        )

    def _denoise(
        self, seen: Tensor, state: Tensor, embodiment: Tensor, noise: Tensor, *mask: Tensor
    ) -> Tensor:
        """Return actions (B, H, A).

        Args:
            seen: (B, N, F) the backbone's last tokens.
            state: (B, S, E) embedded state.
            embodiment: (B,) index of the robot among those of the checkpoint.
            noise: (B, H, A) initial noise.
            mask: (B, N), 0 for tokens that are not attended to; absent where there are no such tokens.
        """
        head, actions = self._head, noise
        times = [*_timesteps(head), 1.0]
        with casting_anew(noise.device.type):
            places = torch.arange(noise.shape[1], device=noise.device)
            for time, following in pairwise(times):
                now = torch.full((len(noise),), time, dtype=noise.dtype, device=noise.device)
                rows = head.action_encoder(actions, now[:, None].expand(-1, noise.shape[1]), embodiment)
                if head.config.add_pos_embed:
                    rows = rows + head.position_embedding(places)[None]
                out = head.model(
                    hidden_states=torch.cat((state, rows), dim=1),
                    encoder_hidden_states=seen,
                    timestep=now,
                    encoder_attention_mask=mask[0] if mask else None,
                )
                velocity = head.action_decoder(out, embodiment)[:, -noise.shape[1] :]
                actions = actions + (following - time) * velocity
        return actions


def record_parts(model: Any, record: Recorder) -> tuple[DecoderRun | None, StaticDenoising]:
    """Replace the parts of a model that can be recorded, and return the replacements.

    Args:
        model: upstream's RLDX, with its weights on its device.
        record: see `CudaGraphCall`.

    Returns:
        The run of decoder layers, None where the checkpoint has none after the layer that reduces the images, and the
        denoising.
    """
    record_vision(model.backbone.qwen_model.model.visual, record)
    text = model.backbone.qwen_model.model.language_model
    # The backbone generates no tokens, so cached keys and values would only take memory.
    text.config.use_cache = False
    wrappers, run = text.layers, None
    first = wrappers[0].internal_projection
    if len(wrappers) > first:
        run = DecoderRun([wrapper.layer for wrapper in wrappers[first:]], record)
        wrappers[first].layer = run
        del wrappers[first + 1 :]
    denoising = StaticDenoising(model.action_model, record)
    model.action_model.get_action_with_features = denoising
    return run, denoising


class Recorded:
    """Replaces `transformers.AutoModel`, or another such replacement, in upstream's loader."""

    def __init__(self, auto_model: Any) -> None:
        self._auto_model = auto_model

    def from_pretrained(self, folder: Any, **options: Any) -> Any:
        """Load a model onto a GPU as the original does, and record its parts as CUDA graphs."""
        model = self._auto_model.from_pretrained(folder, **options)
        record_parts(model, CudaGraphs())
        return model


def _timesteps(head: Any) -> list[float]:
    """Return the times at which denoising steps begin, from 0 (noise) to less than 1 (actions)."""
    chosen = getattr(head, "denoising_timesteps", None)
    if chosen is not None:
        return [float(time) for time in chosen]
    return [step / head.num_inference_timesteps for step in range(head.num_inference_timesteps)]
