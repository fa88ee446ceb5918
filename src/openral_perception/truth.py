"""Answers from the simulator's own positions, which show what a deployment could do with perfect perception.

Every such answer names the simulator as its source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_perception.geometry import NotLocatedError
from openral_perception.words import read_words

SIMULATOR = "simulator"
"""Source of every such answer."""


@dataclass(frozen=True)
class TruePositions:
    """The simulator's positions of objects at one instant."""

    stamp_s: float
    """[s] of the positions, on the node's clock."""
    age_s: float
    """[s] since then."""
    positions: Mapping[str, NDArray[np.float64]]
    """Name of the object -> (3,) [m] in the world."""

    def find(self, words: str, stale_after_s: float) -> tuple[str, NDArray[np.float64]]:
        """Return name and position (3,) [m] of the object that the words name.

        Args:
            words: such as "the red cube".
            stale_after_s: [s] age from which on positions are refused.

        Raises:
            NotLocatedError: the words name no object or several, or the positions are too old.
        """
        if self.age_s > stale_after_s:
            raise NotLocatedError(
                f"the simulator's positions are {self.age_s:.1f} s old; see whether its bridge runs"
            )
        labels = {name.replace("_", " ").lower(): name for name in self.positions}
        try:
            named = read_words(words, list(labels), {})
        except ContractError as error:
            raise NotLocatedError(str(error)) from error
        meant = {label for label in named.labels if named.colours & {*label.split()}} or named.labels
        if len(meant) != 1:
            raise NotLocatedError(f"'{words}' may be {', '.join(sorted(meant))}; name one of them")
        name = labels[next(iter(meant))]
        return name, self.positions[name]
