"""Answers from the simulator's own positions, which show what a deployment could do with perfect perception.

Every such answer names the simulator as its source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_perception.colours import COLOURS
from openral_perception.geometry import NotLocatedError
from openral_perception.words import Wanted, read_words, words_of

SIMULATOR = "simulator"
"""Source of every such answer."""
ARTICLES = ("a", "an", "the")
"""Words before a whole name, such as "the object", that are no part of it."""


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
        said = [word for word in words_of(words) if word not in ARTICLES]
        if len(exact := [label for label in labels if words_of(label) == said]) == 1:
            return labels[exact[0]], self.positions[labels[exact[0]]]
        try:
            named = read_words(words, list(labels), {})
        except ContractError as error:
            raise NotLocatedError(str(error)) from error
        meant = _of_colours(named)
        if not meant:
            raise NotLocatedError(f"'{words}' is not there; there is {', '.join(sorted(named.labels))}")
        if len(meant) != 1:
            raise NotLocatedError(f"'{words}' may be {', '.join(sorted(meant))}; name one of them")
        name = labels[next(iter(meant))]
        return name, self.positions[name]


def _of_colours(named: Wanted) -> set[str]:
    """Return the labels with one of the colours that are named in their names, else those without a colour in them."""
    colours = {label: {*words_of(label)} & {*COLOURS} for label in named.labels}
    fitting = {label for label, own in colours.items() if own & named.colours}
    return fitting or {label for label, own in colours.items() if not own or not named.colours}
