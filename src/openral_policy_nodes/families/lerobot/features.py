"""What a LeRobot policy takes and gives: said by its server, checked on both sides. NumPy only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from openral_core.errors import PolicyError

EMPTY_CAMERA = "observation.images.empty_camera_"
"""Inputs of this prefix are filled by the policy itself (`empty_cameras` of its configuration)."""
ENVIRONMENT = "observation.environment_state"
"""The simulator's own state; no robot can send it."""


FILLING_KINDS = ("smolvla", "pi0", "pi05")
"""Policies that put an empty image where a camera of their configuration is missing."""


@dataclass(frozen=True)
class Features:
    """The inputs and outputs of one loaded policy, as its server's `hello` tells them."""

    kind: str
    """LeRobot's name of the policy."""
    images: Mapping[str, Sequence[int]]
    """Name -> (channels, height, width) of the demonstrations."""
    any_size: bool
    """The policy resizes images itself, so that their size need not be that of the demonstrations."""
    state: int
    """Length of `observation.state`; 0: the policy takes none."""
    other: Sequence[str]
    """Inputs that are neither a camera nor `observation.state`, and that the policy reads."""
    action: int
    """Length of an action."""
    rows: int
    """Actions of one chunk."""
    n_action_steps: int
    """Of them, how many LeRobot executes before it infers again."""
    n_obs_steps: int
    """T, consecutive control steps that the policy sees at once."""
    normalization: Mapping[str, str]
    """Kind of feature -> how its numbers are normalised (MEAN_STD, MIN_MAX, IDENTITY...)."""
    versions: Mapping[str, str]
    """Distribution -> version in the server's interpreter."""

    def to_wire(self) -> dict[str, Any]:
        """Return plain values for the wire."""
        plain = asdict(self)
        plain["images"] = {name: [int(side) for side in shape] for name, shape in self.images.items()}
        plain["other"] = list(self.other)
        return plain

    @classmethod
    def from_wire(cls, description: Mapping[str, Any]) -> Features:
        """Read a server's description.

        Raises:
            PolicyError: something is missing; the server is another one.
        """
        try:
            return cls(**{field.name: description[field.name] for field in fields(cls)})
        except KeyError as error:
            raise PolicyError(
                f"lerobot: the server's description lacks {error}; it is not one of this version, stop it"
            ) from error

    def fault(self, data: Mapping[str, Any]) -> str | None:
        """Return what is wrong with a request's images, state and instructions, or None.

        SmolVLA runs with a camera missing and says nothing, so this is looked at before the policy sees it.
        """
        images, instructions = data.get("images"), data.get("instructions")
        if not isinstance(images, Mapping) or not isinstance(instructions, list) or not instructions:
            return "a request has images by name, state, and a list of instructions that is not empty"
        if not all(isinstance(sentence, str) for sentence in instructions):
            return "instructions must be strings"
        missing, unknown = sorted(set(self.images) - set(images)), sorted(set(images) - set(self.images))
        if missing or unknown:
            return (
                f"the policy looks through {', '.join(sorted(self.images)) or 'no camera'}; "
                f"missing: {', '.join(missing) or 'none'}, unknown: {', '.join(unknown) or 'none'}"
            )
        lead = (len(instructions),) if self.n_obs_steps == 1 else (len(instructions), self.n_obs_steps)
        for name, (channels, height, width) in self.images.items():
            image = images[name]
            shape = getattr(image, "shape", ())
            size = shape[-3:-1] if self.any_size and len(shape) == len(lead) + 3 else (height, width)
            fault = _array_fault(name, image, np.uint8, (*lead, *size, channels))
            if fault:
                return fault
        if not self.state:
            return None
        return _array_fault("state", data.get("state"), np.float32, (*lead, self.state))


def _array_fault(name: str, value: Any, dtype: type, shape: tuple[int, ...]) -> str | None:
    if isinstance(value, np.ndarray) and value.dtype == dtype and value.shape == shape and value.size:
        return None
    found = f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
    return f"{name} is {found}, the policy takes {np.dtype(dtype).name} {shape}"
