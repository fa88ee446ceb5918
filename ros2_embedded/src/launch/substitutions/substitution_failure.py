"""The error of substitutions, under the name it has in ROS 2."""

from ..substitution_failure import SubstitutionFailure

__all__ = ["SubstitutionFailure"]
