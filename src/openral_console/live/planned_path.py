"""The path of the hand under a chunk of actions, as points for a viewer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_core.scene import DeployScene


def planned_points(
    scene: DeployScene, data: NDArray[np.floating], start: NDArray[np.float64], age_s: float
) -> NDArray[np.float64]:
    """Return the points (n, 3) [m] of the world frame that the rest of a chunk leads the hand through, `start` first.

    Displacements add up, as the envelope counts them where actions count from the set point. Where they count
    from the hand, the points say how far it would lead at most.

    Args:
        scene: whose action contract the chunk is in.
        data: (H, A) all steps of the chunk.
        start: (3,) [m] set point of the hand now, or the hand where nobody says it.
        age_s: [s] since the observation that the chunk answers: steps that are past lead nowhere any more.

    Raises:
        ContractError: the actions are no displacements of the hand, or the chunk does not fit the contract.
    """
    if not scene.action.representation.startswith("delta_ee"):
        what = f"action.representation {scene.action.representation}"
        raise ContractError(f"{what}: only displacements of the hand (delta_ee_*) can be drawn")
    if data.ndim != 2 or data.shape[1] != scene.action.dim or not np.isfinite(data).all():
        raise ContractError(f"a chunk of shape {data.shape} is not (H, {scene.action.dim}) finite numbers")
    past = max(0, round(age_s * scene.control_hz))
    steps = np.asarray(data[past:, :3], np.float64) * (scene.action.step_m or 0.0)
    points: NDArray[np.float64] = np.vstack([start, start + np.cumsum(steps, axis=0)])
    return points


def box_edges(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the twelve edges of a box as (24, 3) points, two for each edge."""
    edges = []
    for axis in range(3):
        others = [other for other in range(3) if other != axis]
        for bits in ((0, 0), (0, 1), (1, 0), (1, 1)):
            begin = low.copy()
            for other, bit in zip(others, bits, strict=True):
                begin[other] = (low, high)[bit][other]
            end = begin.copy()
            begin[axis], end[axis] = low[axis], high[axis]
            edges += [begin, end]
    return np.array(edges)
