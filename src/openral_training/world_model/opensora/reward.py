"""RLinf's reward model for its world models: a residual network (He et al., arXiv:1512.03385) on one frame."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from openral_core.errors import PolicyError

_STAGES = (64, 128, 256, 512)


class _Block(nn.Module):
    """A residual block of two convolutions."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        straight = stride == 1 and before == after
        self.downsample = (
            None
            if straight
            else nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))
        )

    def forward(self, x: Tensor) -> Tensor:
        past = x if self.downsample is None else self.downsample(x)
        inner = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        out: Tensor = (inner + past).relu()
        return out


class FrameReward(nn.Module):
    """Predicts the probability that a frame shows success; the task is no input, so each suite has its own model."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, _STAGES[0], 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(_STAGES[0])
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        for number, after in enumerate(_STAGES):
            before, stride = (_STAGES[number - 1], 2) if number else (after, 1)
            blocks = nn.Sequential(_Block(before, after, stride), _Block(after, after, 1))
            self.add_module(f"layer{number + 1}", blocks)
        self.fc = nn.Linear(_STAGES[-1], 1)

    @torch.no_grad()
    def forward(self, frames: Tensor) -> Tensor:
        """Return probabilities (B,) of success for frames (B, 3, P, P) in -1..1."""
        x = self.maxpool(self.bn1(self.conv1(frames)).relu())
        for number in range(len(_STAGES)):
            x = self.get_submodule(f"layer{number + 1}")(x)
        found: Tensor = self.fc(x.mean((-2, -1))).squeeze(-1).sigmoid()
        return found


def load_frame_reward(path: Path) -> FrameReward:
    """Read a reward model that `openral world-model convert` wrote.

    Raises:
        PolicyError: the file is missing, or has other tensors.
    """
    network = FrameReward()
    try:
        tensors = load_file(path)
        # In published files the network may be a part of another one, whose name is the prefix of `conv1`.
        roots = [
            name.removesuffix("conv1.weight") for name, value in tensors.items() if value.shape[1:2] == (3,)
        ]
        prefix = roots[0] if roots else ""
        own = {
            name.removeprefix(prefix): value.float()
            for name, value in tensors.items()
            if name.startswith(prefix)
        }
        missing, unknown = network.load_state_dict(own, strict=False)
        lacking = [name for name in missing if not name.endswith("num_batches_tracked")]
        if lacking or unknown:
            raise ValueError(f"missing {lacking[:3]}, unknown {unknown[:3]}")
    except (OSError, SafetensorError, ValueError, RuntimeError) as error:
        raise PolicyError(
            f"{path}: not RLinf's reward model ({error}); convert its .pth with `openral world-model convert`"
        ) from error
    return network.eval()
