"""Conversion of a checkpoint's action chunks to the scene's action contract."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError, PolicyError
from openral_core.manifest import RSkillManifest
from openral_core.scene import DeployScene

OVERSHOOT = 0.1
"""Largest overshoot of a limit, as a share of the range, that is clipped.

Networks trained by regression overshoot saturated commands by a few per cent. A larger overshoot indicates wrong units
and is left to the envelope, which rejects it."""


class ActionAdapter:
    """Converts units and clips to limits for one skill in one scene. Stateless."""

    def __init__(self, manifest: RSkillManifest, scene: DeployScene) -> None:
        """Compare the two action contracts.

        Raises:
            ContractError: they differ in length or representation.
        """
        offered, demanded = scene.action, manifest.action_contract
        if demanded is None:
            raise ContractError(
                f"{manifest.name}: action_contract is missing; write its dim and representation"
            )
        if demanded.dim != offered.dim:
            raise ContractError(
                f"{manifest.name} gives {demanded.dim} numbers an action, the scene takes {offered.dim}; "
                "run it in a scene of its own robot"
            )
        if demanded.representation not in (None, offered.representation):
            raise ContractError(
                f"{manifest.name} gives {demanded.representation}, the scene takes {offered.representation}; "
                "run it in a scene with its representation"
            )
        # A command of 1 may be another distance in the demonstrations than in this scene.
        self._scale = np.ones(offered.dim, dtype=np.float32)
        if demanded.step_m is not None and offered.step_m is not None:
            translation = slice(0, 3)
            self._scale[translation] = demanded.step_m / offered.step_m
        self._low = np.asarray(offered.low, dtype=np.float32)
        self._high = np.asarray(offered.high, dtype=np.float32)

    def __call__(self, chunk: NDArray[np.floating]) -> NDArray[np.float32]:
        """Adapt one chunk.

        Args:
            chunk: (H, A) in the units of the manifest's action contract.

        Returns:
            (H, A) float32 in the units of the scene's. A small overshoot is clipped to the limits; a large one and
            values that are not finite are left unchanged, so that the envelope rejects them.

        Raises:
            PolicyError: the shape is not (H, A).
        """
        if chunk.ndim != 2 or chunk.shape[0] == 0 or chunk.shape[1] != self._low.size:
            raise PolicyError(
                f"the policy gave an action chunk {chunk.shape}, promised (H, {self._low.size})"
            )
        scaled = chunk.astype(np.float32) * self._scale
        slack = OVERSHOOT * (self._high - self._low)
        small = (scaled >= self._low - slack) & (scaled <= self._high + slack)
        clipped: NDArray[np.float32] = np.where(small, np.clip(scaled, self._low, self._high), scaled)
        return clipped
