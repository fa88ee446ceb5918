"""Running statistics of a column, for `meta/stats.json` and `meta/episodes` of a LeRobot dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass
class ColumnStatistics:
    """Running count, mean, sum of squared deviations, minimum and maximum of rows of one shape.

    Means and deviations of parts are combined as by Chan, Golub and LeVeque (1983, "Algorithms for Computing the Sample
    Variance"), since of stamps since 1970 the square of the mean has more digits than a float64.
    """

    count: int = 0
    mean: Any = 0.0
    deviations: Any = 0.0
    """Sum of the squared deviations from the mean."""
    low: Any = np.inf
    high: Any = -np.inf

    def add(self, rows: NDArray[Any]) -> None:
        """Add rows (N, ...) with N >= 1."""
        values = rows.astype(np.float64)
        mean = values.mean(0)
        self._combine(len(values), mean, ((values - mean) ** 2).sum(0))
        self.low, self.high = np.minimum(self.low, values.min(0)), np.maximum(self.high, values.max(0))

    def add_counted(self, said: Mapping[str, Any]) -> None:
        """Add rows, one at least, by their statistics, in the form of `as_dict`."""
        count = int(np.asarray(said["count"]).reshape(-1)[0])
        mean, std = np.asarray(said["mean"], np.float64), np.asarray(said["std"], np.float64)
        self._combine(count, mean, std**2 * count)
        self.low, self.high = np.minimum(self.low, said["min"]), np.maximum(self.high, said["max"])

    def as_dict(self) -> dict[str, list[Any]]:
        """Return min, max, mean, std and count."""
        std = np.sqrt(self.deviations / self.count)
        table = {"min": self.low, "max": self.high, "mean": self.mean, "std": std}
        return {name: np.asarray(value).tolist() for name, value in table.items()} | {"count": [self.count]}

    def _combine(self, count: int, mean: NDArray[np.float64], deviations: NDArray[np.float64]) -> None:
        """Add the count, the mean and the sum of squared deviations of other rows."""
        before, self.count = self.count, self.count + count
        shift = mean - self.mean
        self.mean = self.mean + shift * (count / self.count)
        self.deviations = self.deviations + deviations + shift**2 * (before * count / self.count)
