"""Answers from the simulator's own positions, for what a deployment could do with perfect eyes; always said so."""

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
    """Where the simulator has things at one instant."""

    stamp_s: float
    """[s]"""
    age_s: float
    """[s]"""
    positions: Mapping[str, NDArray[np.float64]]
    """(3,) [m] in the world, by name."""

    def find(self, words: str, stale_after_s: float) -> tuple[str, NDArray[np.float64]]:
        """Return name and position of the thing that the words name.

        Raises:
            NotLocatedError: it is none, more than one, or too long ago; the text says what there is.
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
