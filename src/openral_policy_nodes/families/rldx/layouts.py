"""Names of an embodiment's observation and action on the wire of RLDX-1's simulation wrapper. NumPy only.

An entry of `LAYOUTS` lists the inputs of the cameras, the parts of the state vector, and those of the action vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import PolicyError
from openral_core.types import PolicyBatch


@dataclass(frozen=True)
class WireLayout:
    """Names of one embodiment. The model's keys are those of its modality configuration."""

    videos: tuple[tuple[str, str], ...]
    """(name on the wire, key of the model), in the order of the manifest's cameras."""
    state: tuple[tuple[str, int], ...]
    """(name on the wire, number of values), in the order of the state vector."""
    state_keys: tuple[str, ...]
    """Keys of the model to which the wrapper converts the state."""
    language: str
    """Name of the instruction, on the wire and in the model."""
    action: tuple[tuple[str, int], ...]
    """(name on the wire, number of values), in the order of the action vector."""
    action_keys: tuple[str, ...]
    """Keys of the model that the wrapper converts to the action."""
    gripper: int
    """Index of the gripper in the action vector; on the wire it is 1 open and 0 closed."""

    @property
    def state_dim(self) -> int:
        """D, length of the state vector."""
        return sum(size for _, size in self.state)

    @property
    def action_dim(self) -> int:
        """A, length of the action vector."""
        return sum(size for _, size in self.action)

    def observation(self, batch: PolicyBatch) -> dict[str, Any]:
        """Return the observation of a batch in the format of the wrapper.

        Videos are (B, T, H, W, 3) uint8, parts of the state (B, 1, d) float32, and the language B strings.

        Raises:
            PolicyError: the batch has another number of cameras, no history of images, or another state.
        """
        if len(batch.images) != len(self.videos):
            raise PolicyError(f"rldx: {len(batch.images)} cameras, {len(self.videos)} needed")
        if batch.state.shape != (len(batch), self.state_dim):
            raise PolicyError(f"rldx: state {batch.state.shape}, needed {(len(batch), self.state_dim)}")
        observation: dict[str, Any] = {}
        for (name, _), video in zip(self.videos, batch.images.values(), strict=True):
            if video.ndim != 5:
                raise PolicyError(f"rldx: {name} {video.shape}, needed (B, T, H, W, 3): state the history")
            observation[name] = video
        begin = 0
        for name, size in self.state:
            observation[name] = np.ascontiguousarray(batch.state[:, None, begin : begin + size], np.float32)
            begin += size
        return {**observation, self.language: list(batch.instructions)}

    def chunks(self, action: Any, batch_size: int, horizon: int) -> NDArray[np.float32]:
        """Return (B, H, A) from the wrapper's action, with the gripper in LIBERO's convention: 1 closes, -1 opens.

        The conversion of the gripper, -sign(2g - 1), is that of upstream's `rldx/eval/sim/LIBERO/libero_env.py`.

        Raises:
            PolicyError: a key is missing or has another shape.
        """
        parts = []
        for name, size in self.action:
            part = action.get(name) if isinstance(action, Mapping) else None
            if not isinstance(part, np.ndarray) or part.dtype.kind != "f":
                have = ", ".join(map(str, action)) if isinstance(action, Mapping) else type(action).__name__
                raise PolicyError(f"rldx: the server's action has no {name}, only {have or 'nothing'}")
            if part.shape != (batch_size, horizon, size):
                raise PolicyError(f"rldx: {name} {part.shape}, needed {(batch_size, horizon, size)}")
            parts.append(part.astype(np.float32))
        chunks = np.concatenate(parts, axis=2)
        chunks[..., self.gripper] = -np.sign(2.0 * chunks[..., self.gripper] - 1.0)
        return chunks


_AXES = ("x", "y", "z", "roll", "pitch", "yaw")
"""Position [m], then an axis-angle vector [rad], in spite of upstream's names."""

LAYOUTS: Mapping[str, WireLayout] = {
    # The names that the wrapper converts where `state.x` is there (rldx/policy/rldx_policy.py).
    "libero_eef8d": WireLayout(
        videos=(("video.image", "front_view"), ("video.wrist_image", "left_wrist_view")),
        state=(*((f"state.{axis}", 1) for axis in _AXES), ("state.gripper", 2)),
        state_keys=("eef_pos_absolute", "eef_rot_absolute", "gripper_close"),
        language="annotation.human.action.task_description",
        action=(*((f"action.{axis}", 1) for axis in _AXES), ("action.gripper", 1)),
        action_keys=("eef_pos_delta", "eef_rot_delta", "gripper_close"),
        gripper=6,
    ),
}
"""State layout of the manifest -> names on the wire.

Upstream supports more embodiments (GR1, RoboCasa, Simpler). Each would need an entry here, and its state layout in
`openral_core.adapters.state_layout`.
"""


def layout_named(name: str | None) -> WireLayout:
    """Return the layout of a manifest's `state_contract.layout`.

    Raises:
        PolicyError: it has no names on the wire.
    """
    layout = LAYOUTS.get(name or "")
    if layout is None:
        raise PolicyError(
            f"rldx: state_contract.layout {name} has no names on the wire; known are {', '.join(LAYOUTS)}"
        )
    return layout
