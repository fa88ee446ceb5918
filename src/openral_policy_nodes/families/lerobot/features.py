"""Inputs and outputs of a LeRobot policy, as its server describes them and both sides check them. NumPy only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from openral_core.errors import PolicyError

EMPTY_CAMERA = "observation.images.empty_camera_"
"""Prefix of inputs that the policy fills itself (`empty_cameras` of its configuration)."""
ENVIRONMENT = "observation.environment_state"
"""State of the simulator, which a robot cannot send."""


FILLING_KINDS = ("smolvla", "pi0", "pi05")
"""Policies that use an empty image where a camera of their configuration is missing."""


@dataclass(frozen=True)
class Features:
    """Inputs and outputs of a loaded policy, from its server's `hello`."""

    kind: str
    """LeRobot's name of the policy."""
    images: Mapping[str, Sequence[int]]
    """Name -> (channels, height [px], width [px]) in the demonstrations."""
    any_size: bool
    """Whether the policy resizes images itself, and so accepts sizes other than that of the demonstrations."""
    state: int
    """D, length of `observation.state`; 0: the policy takes none."""
    other: Sequence[str]
    """Inputs of the policy besides cameras and `observation.state`."""
    action: int
    """A, length of an action."""
    rows: int
    """H, number of actions of a chunk."""
    n_action_steps: int
    """Number of actions of a chunk that LeRobot executes before it infers again."""
    n_obs_steps: int
    """T, number of consecutive control steps in an observation."""
    normalization: Mapping[str, str]
    """Kind of feature -> its normalisation (MEAN_STD, MIN_MAX, IDENTITY...)."""
    versions: Mapping[str, str]
    """Distribution -> its version in the server's interpreter."""

    def to_wire(self) -> dict[str, Any]:
        """Return the fields as plain values that the wire can encode."""
        plain = asdict(self)
        plain["images"] = {name: [int(side) for side in shape] for name, shape in self.images.items()}
        plain["other"] = list(self.other)
        return plain

    @classmethod
    def from_wire(cls, description: Mapping[str, Any]) -> Features:
        """Return the features from a server's description.

        Raises:
            PolicyError: a field is missing, as the server is of another version.
        """
        try:
            return cls(**{field.name: description[field.name] for field in fields(cls)})
        except KeyError as error:
            raise PolicyError(
                f"lerobot: the server's description lacks {error}; it is not one of this version, stop it"
            ) from error

    def fault(self, data: Mapping[str, Any]) -> str | None:
        """Return the first fault of a request's images, state and instructions, or None.

        It is checked before inference, since SmolVLA for example does not report a missing camera.
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
