"""The contact check: the arm yields and holds where the external torque on a joint is large."""

from __future__ import annotations

import numpy as np

from openral_control.safety.joint_step import JointStep


class ContactCheck:
    """Holds while the external torque on any joint is above a threshold."""

    name = "contact"
    yields = True

    def __init__(self, threshold_nm: float) -> None:
        """Take the threshold [Nm] of the absolute external torque."""
        self._threshold = threshold_nm

    def share(self, step: JointStep) -> float:
        """Return 0 in contact or if a torque is unknown (NaN), else 1."""
        return 1.0 if bool((np.abs(step.external) < self._threshold).all()) else 0.0
