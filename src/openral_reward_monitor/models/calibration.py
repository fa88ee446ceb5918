"""`calibration.json` beside a reward skill's manifest: the meaning of its scores on the cameras it was calibrated for.

Both heads must be high for a task to count as done, so the calibrated score is the lesser of the two. A rising
curve through labelled frames (isotonic regression) turns it into the probability that the task is done. Two bounds are
found from whole rollouts by split conformal prediction with one quantile for each class (Vovk 2012, "Conditional
validity of inductive conformal predictors"): from the one on a task may be called done, and below the other not done,
within the chosen error rate. Between them the monitor abstains.
"""

from __future__ import annotations

import os
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, model_validator

from openral_core.errors import ManifestError
from openral_core.schema import Count, Fault, Many, Schema, Unit, Word, raise_faults
from openral_reward_monitor.models.reward_model import RewardScores
from openral_rskill.package import RSkillPackage
from openral_rskill.store.skill_files import CALIBRATION_NAME
from openral_rskill.weights_hash import weights_sha256

FILE_NAME = CALIBRATION_NAME


class CameraCalibration(Schema):
    """What the scores of one camera's frames mean."""

    scores: Many[Unit] = Field(min_length=2)
    """Rising; the knots of the curve."""
    probabilities: Many[Unit] = Field(min_length=2)
    """That the task is done, at each knot; never falling, linear in between."""
    yes_from: Unit
    """From this score on it may be called done; rollouts that are never done keep it, for as many frames in a row as a
    mission asks for, at the error rate."""
    no_below: Unit
    """Below this score it may be called not done; rollouts that are done end there at the error rate."""
    error_rate: Unit
    rollouts_done: Count
    rollouts_not_done: Count
    recipe: Word
    """Name of the recipe whose tasks and scenes were used."""
    init_ids: Many[int]
    """The initial states of the rollouts; states of an evaluation must not be among them."""
    tasks: Many[Word] = ()
    """The simulator's tasks whose initial states they are; none: any."""

    @model_validator(mode="after")
    def _is_a_curve(self) -> CameraCalibration:
        faults = []
        if len(self.scores) != len(self.probabilities):
            faults.append(
                Fault(
                    "probabilities", f"{len(self.probabilities)} for {len(self.scores)} scores", "pair them"
                )
            )
        if (np.diff(self.scores) <= 0).any():
            faults.append(Fault("scores", "do not rise", "sort them"))
        if (np.diff(self.probabilities) < 0).any():
            faults.append(Fault("probabilities", "fall somewhere", "fit them again"))
        raise_faults(faults)
        return self

    def probability(self, score: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probability that the task is done, for scores of any shape."""
        found: NDArray[np.float64] = np.interp(score, self.scores, self.probabilities)
        return found.astype(np.float32)

    def is_done(self, score: float, threshold: float) -> bool | None:
        """Return whether a score means that the task is done; None: it is uncertain.

        Args:
            score: the lesser of the two heads, 0..1.
            threshold: the least probability that counts as done.
        """
        probable = float(self.probability(np.array([score], np.float32))[0]) >= threshold
        if probable:
            return True if score >= self.yes_from else None
        return False if score < self.no_below else None


class Calibration(Schema):
    """The whole file."""

    schema_version: Literal["0.1"] = "0.1"
    skill: Word
    weights_sha256: str | None
    """Of the weights that were calibrated; other weights need another calibration."""
    cameras: dict[str, CameraCalibration]
    """By the name of the camera."""


def joint_score(scores: RewardScores) -> NDArray[np.float32]:
    """Return (T,) 0..1: the lesser of the model's two heads, for each frame."""
    return np.minimum(scores.progress, scores.success)


def load_calibration(package: RSkillPackage) -> Calibration | None:
    """Return the calibration of a reward skill; None: it has none, and its raw scores are used.

    Raises:
        ManifestError: the file is wrong, or was made with other weights.
    """
    path = package.folder / FILE_NAME
    if not os.path.exists(path):
        return None
    try:
        found = Calibration.model_validate_json(path.read_bytes())
    except (ValidationError, OSError) as error:
        raise ManifestError(f"{path}: {error}; make it again: {_command(package)}") from error
    if found.weights_sha256 != weights_sha256(package):
        raise ManifestError(
            f"{path}: weights_sha256: it was made with other weights; make it again: {_command(package)}"
        )
    return found


def _command(package: RSkillPackage) -> str:
    return f"openral reward calibrate --rskill {package.reference}"
