"""Fits the calibration of a reward model on rollouts whose success is known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from openral_core.errors import ContractError
from openral_reward_monitor.models.calibration import CameraCalibration
from openral_training.reward_eval.cases import Scored
from openral_training.reward_eval.measures import DWELL

DIGITS = 4
"""Decimal places to which scores and probabilities are rounded."""


def fit(
    scored: Sequence[Scored], *, error_rate: float, recipe: str, init_ids: Sequence[int]
) -> CameraCalibration:
    """Return the calibration of a camera.

    Args:
        scored: rollouts from states that the model is neither trained nor evaluated on.
        error_rate: see `CameraCalibration.error_rate`.
        recipe: name of the recipe, for the record.
        init_ids: the initial states, for the record.

    Raises:
        ContractError: too few rollouts for that error rate; the text says how many there must be.
    """
    done = np.sort([float(one.joint[-1]) for one in scored if one.done])
    # The gate judges a whole attempt, so a failure is represented by the highest score that it keeps for the gate's
    # dwell.
    failed = np.sort([_kept(one.joint) for one in scored if not one.case.truth.any()])
    least = math.ceil(1 / error_rate) - 1
    if min(len(done), len(failed)) < least:
        raise ContractError(
            f"{len(done)} rollouts that succeeded and {len(failed)} that never did; an error rate of {error_rate:g} "
            f"needs {least} of each: more --episodes, or a higher --error-rate"
        )
    yes_from = failed[math.ceil((len(failed) + 1) * (1 - error_rate)) - 1]
    no_below = done[math.floor((len(done) + 1) * error_rate) - 1]
    scores, probabilities = _curve(scored, len(done), len(failed))
    return CameraCalibration(
        scores=tuple(scores),
        probabilities=tuple(probabilities),
        yes_from=round(float(yes_from), DIGITS),
        no_below=round(float(no_below), DIGITS),
        error_rate=error_rate,
        rollouts_done=len(done),
        rollouts_not_done=len(failed),
        recipe=recipe,
        init_ids=tuple(init_ids),
        tasks=tuple(dict.fromkeys(one.case.acted for one in scored)),
    )


def _kept(joint: NDArray[np.float32]) -> float:
    """Return the highest score that a rollout keeps for DWELL frames in a row; or the lowest score of a shorter one."""
    if len(joint) <= DWELL:
        return float(joint.min())
    return float(sliding_window_view(joint, DWELL).min(axis=1).max())


def _curve(scored: Sequence[Scored], done: int, failed: int) -> tuple[list[float], list[float]]:
    """Return the knots of the isotonic regression over all frames, in which each rollout has the same weight."""
    score = np.concatenate([one.joint for one in scored]).astype(np.float64).round(DIGITS)
    truth = np.concatenate([one.case.truth for one in scored]).astype(np.float64)
    weight = np.concatenate([np.full(len(one.joint), 1 / len(one.joint)) for one in scored])
    knots, place = np.unique(score, return_inverse=True)
    weights = np.bincount(place, weight)
    mean = np.bincount(place, weight * truth) / weights
    fitted: NDArray[np.float64] = isotonic_regression(mean, weights=weights).x
    # No probability is 0 or 1 (Laplace's rule of succession, with whole rollouts as trials).
    fitted = np.clip(fitted, 1 / (failed + 2), 1 - 1 / (done + 2)).round(DIGITS)
    # Knots within a constant part of the curve are left out.
    bends = np.flatnonzero((np.diff(fitted, prepend=-1) != 0) | (np.diff(fitted, append=2) != 0))
    knots, fitted = knots[bends], fitted[bends]
    if knots[0] > 0:
        knots, fitted = np.append(0.0, knots), np.append(fitted[0], fitted)
    if knots[-1] < 1:
        knots, fitted = np.append(knots, 1.0), np.append(fitted, fitted[-1])
    return knots.tolist(), fitted.tolist()
