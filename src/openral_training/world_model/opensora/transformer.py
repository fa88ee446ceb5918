"""The video transformer of OpenSora 1.2 (STDiT3, Zheng et al., arXiv:2412.20404), with one action per frame.

Spatial blocks attend to the patches of one frame and are modulated by time and action; temporal blocks attend to the
same patch of earlier frames and are modulated by time. Text is not used. Tensors have the names of the published
checkpoints. Shapes: B worlds, T frames, S patches of a frame, W width of a token, C channels of a latent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm, linear, pad, scaled_dot_product_attention

_EPSILON = 1e-6
_WAVES = 256
"""Length of the sinusoidal encoding of a time, before it is embedded."""
_TRAINED_SIZE = 512
"""[px] side of the image for which positions of neighbouring patches differ by 1."""
PATCH = 2
"""[latent px] side of a patch."""


@dataclass(frozen=True)
class VideoShape:
    """Shape of the transformer."""

    channels: int = 4
    """C, channels of a latent."""
    width: int = 1152
    """W, width of a token."""
    depth: int = 28
    """Pairs of a spatial and a temporal block."""
    heads: int = 16
    action_dim: int = 7
    condition_frames: int = 4
    """Number of first frames, which have no action."""
    hidden_ratio: float = 4.0


def _modulated(x: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
    return layer_norm(x, x.shape[-1:], eps=_EPSILON) * (1 + scale) + shift


class RmsNorm(nn.Module):
    """Divides by the root of the mean square (Zhang and Sennrich, arXiv:1910.07467)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """Return x (..., width) normalised."""
        size = x.float().square().mean(-1, keepdim=True).add(_EPSILON).rsqrt()
        return self.weight * (x.float() * size).to(x.dtype)


class Attention(nn.Module):
    """Self-attention with normalised queries and keys."""

    def __init__(self, shape: VideoShape, *, temporal: bool) -> None:
        super().__init__()
        self._heads, self._temporal = shape.heads, temporal
        self.qkv = nn.Linear(shape.width, 3 * shape.width)
        self.q_norm, self.k_norm = (RmsNorm(shape.width // shape.heads) for _ in range(2))
        self.proj = nn.Linear(shape.width, shape.width)

    def forward(self, x: Tensor, turns: Tensor) -> Tensor:
        """Return attended tokens (B, N, W); temporal attention is causal.

        Args:
            x: (B, N, W) tokens.
            turns: frequencies (head width / 2,) of the rotary embedding of time.
        """
        q, k, v = self.qkv(x).unflatten(-1, (3, self._heads, -1)).permute(2, 0, 3, 1, 4)
        q, k = self.q_norm(q), self.k_norm(k)
        if self._temporal:
            q, k = _rotated(q, turns), _rotated(k, turns)
        found = scaled_dot_product_attention(q, k, v, is_causal=self._temporal)
        out: Tensor = self.proj(found.transpose(1, 2).flatten(2))
        return out


def _rotated(x: Tensor, turns: Tensor) -> Tensor:
    """Apply the rotary embedding of time to (..., N, width), along N (RoFormer, arXiv:2104.09864)."""
    angle = torch.arange(x.shape[-2], device=x.device)[:, None] * turns
    angle = angle.repeat_interleave(2, -1)
    even, odd = x[..., 0::2], x[..., 1::2]
    across = torch.stack([-odd, even], -1).flatten(-2)
    return (x * angle.cos() + across * angle.sin()).to(x.dtype)


class Mlp(nn.Module):
    """A feed-forward network of two layers."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.act = nn.GELU("tanh")

    def forward(self, x: Tensor) -> Tensor:
        """Return (..., W) for x (..., W)."""
        out: Tensor = self.fc2(self.act(self.fc1(x)))
        return out


class TransformerBlock(nn.Module):
    """Attention and a feed-forward network, both modulated and gated."""

    def __init__(self, shape: VideoShape, *, temporal: bool) -> None:
        super().__init__()
        self._temporal = temporal
        self.attn = Attention(shape, temporal=temporal)
        self.mlp = Mlp(shape.width, int(shape.width * shape.hidden_ratio))
        self.scale_shift_table = nn.Parameter(torch.randn(6, shape.width) / shape.width**0.5)

    def forward(self, x: Tensor, modulation: Tensor, turns: Tensor) -> Tensor:
        """Return tokens (B, T, S, W).

        Args:
            x: tokens (B, T, S, W).
            modulation: (B, T, 6 W) shift, scale and gate of both parts, for each frame.
            turns: see Attention.
        """
        table = self.scale_shift_table + modulation.view(*modulation.shape[:2], 6, -1)
        shift, scale, gate, shift_2, scale_2, gate_2 = table[:, :, None].unbind(3)
        seen = _modulated(x, shift, scale)
        if self._temporal:
            looked = self.attn(seen.transpose(1, 2).flatten(0, 1), turns)
            looked = looked.unflatten(0, (len(x), -1)).transpose(1, 2)
        else:
            looked = self.attn(seen.flatten(0, 1), turns).unflatten(0, (len(x), -1))
        x = x + gate * looked
        out: Tensor = x + gate_2 * self.mlp(_modulated(x, shift_2, scale_2))
        return out


class PatchEmbed(nn.Module):
    """Embeds the patches of latents as tokens."""

    def __init__(self, shape: VideoShape) -> None:
        super().__init__()
        size = (1, PATCH, PATCH)
        self.proj = nn.Conv3d(shape.channels, shape.width, size, size)


class TimeEmbed(nn.Module):
    """Embeds the time of the flow."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(_WAVES, width), nn.SiLU(), nn.Linear(width, width))

    def forward(self, time: Tensor) -> Tensor:
        """Return (..., W) for times (...), 0 to 1000."""
        half = _WAVES // 2
        speeds = torch.exp(-math.log(10000) * torch.arange(half, device=time.device) / half)
        angle = time[..., None] * speeds
        waves = torch.cat([angle.cos(), angle.sin()], -1)
        out: Tensor = self.mlp(waves)
        return out


class ActionEmbed(nn.Module):
    """Embeds actions; frames without an action have an embedding of their own."""

    def __init__(self, shape: VideoShape) -> None:
        super().__init__()
        self.fc = nn.Sequential(
            nn.Linear(shape.action_dim, 4 * shape.width), nn.SiLU(), nn.Linear(4 * shape.width, shape.width)
        )
        self.none = nn.Parameter(torch.zeros(1, shape.width))

    def forward(self, actions: Tensor, before: int) -> Tensor:
        """Return (B, before + H, W) for actions (B, H, A)."""
        nothing = self.none.expand(len(actions), before, -1)
        return torch.cat([nothing, self.fc(actions)], 1)


class FinalLayer(nn.Module):
    """Converts tokens to patches of the velocity."""

    def __init__(self, shape: VideoShape) -> None:
        super().__init__()
        # Twice the channels: the second half is a variance, which rectified flow does not use.
        self.linear = nn.Linear(shape.width, PATCH * PATCH * 2 * shape.channels)
        self.scale_shift_table = nn.Parameter(torch.randn(2, shape.width) / shape.width**0.5)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        """Return (B, T, S, patch numbers) of tokens (B, T, S, W) and embedded times (B, T, W)."""
        shift, scale = (self.scale_shift_table + time[:, :, None]).unbind(2)
        return linear(
            _modulated(x, shift[:, :, None], scale[:, :, None]), self.linear.weight, self.linear.bias
        )


class VideoTransformer(nn.Module):
    """The whole transformer."""

    def __init__(self, shape: VideoShape) -> None:
        """Initialise the networks from torch's generator."""
        super().__init__()
        self.shape = shape
        head = shape.width // shape.heads
        self.x_embedder, self.t_embedder = PatchEmbed(shape), TimeEmbed(shape.width)
        self.action_embedder = ActionEmbed(shape)
        self.t_block = nn.Sequential(nn.SiLU(), nn.Linear(shape.width, 6 * shape.width))
        self.spatial_blocks = nn.ModuleList(
            TransformerBlock(shape, temporal=False) for _ in range(shape.depth)
        )
        self.temporal_blocks = nn.ModuleList(
            TransformerBlock(shape, temporal=True) for _ in range(shape.depth)
        )
        self.final_layer = FinalLayer(shape)
        self.register_buffer("turns", 10000.0 ** (-torch.arange(0, head, 2) / head), persistent=False)

    turns: Tensor

    def forward(self, latents: Tensor, times: Tensor, actions: Tensor, size: int) -> Tensor:
        """Return the velocity (B, C, T, h, w) of the flow.

        Args:
            latents: (B, C, T, h, w)
            times: (B, T) of the flow for each frame, 0 (clean) to 1000 (noise).
            actions: (B, H, A) normalised; those of the last H frames.
            size: [px] side of the images that the latents encode.
        """
        height, width = latents.shape[-2:]
        latents = pad(latents, (0, width % PATCH, 0, height % PATCH))
        grid = self.x_embedder.proj(latents)
        rows, columns = grid.shape[-2:]
        x = grid.flatten(3).permute(0, 2, 3, 1)
        x = x + _places(rows, columns, x.shape[-1], size).to(x)
        time = self.t_embedder(times)
        embedded = self.action_embedder(actions, latents.shape[2] - actions.shape[1])
        spatial, temporal = self.t_block(time + embedded), self.t_block(time)
        for look, remember in zip(self.spatial_blocks, self.temporal_blocks, strict=True):
            x = remember(look(x, spatial, self.turns), temporal, self.turns)
        out = self.final_layer(x, time).unflatten(-1, (PATCH, PATCH, -1)).unflatten(2, (rows, columns))
        video = out.permute(0, 6, 1, 2, 4, 3, 5).flatten(5).flatten(3, 4)
        found: Tensor = video[:, : self.shape.channels, :, :height, :width]
        return found


def _places(rows: int, columns: int, width: int, size: int) -> Tensor:
    """Return (S, W) the sinusoidal encoding of the position of each patch, scaled as in OpenSora."""
    scale, base = size / _TRAINED_SIZE, round((rows * columns) ** 0.5)
    half = width // 2
    speeds = 1.0 / 10000 ** (torch.arange(0, half, 2) / half)
    down, right = (torch.arange(count) / scale * base / count for count in (rows, columns))

    def waves(place: Tensor) -> Tensor:
        angle = place[:, None] * speeds
        return torch.cat([angle.sin(), angle.cos()], -1)

    # The first half encodes the column, the second half the row.
    return torch.cat([waves(right.repeat(rows)), waves(down.repeat_interleave(columns))], -1)
