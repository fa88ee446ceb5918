"""Running statistics of a column, for `meta/stats.json` and `meta/episodes` of a LeRobot dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass
class ColumnStatistics:
    """Running count, sum, sum of squares, minimum and maximum of rows of one shape."""

    count: int = 0
    total: Any = 0.0
    squares: Any = 0.0
    low: Any = np.inf
    high: Any = -np.inf

    def add(self, rows: NDArray[Any]) -> None:
        """Add rows (N, ...) with N >= 1."""
        values = rows.astype(np.float64)
        self.count += len(values)
        self.total, self.squares = self.total + values.sum(0), self.squares + (values**2).sum(0)
        self.low, self.high = np.minimum(self.low, values.min(0)), np.maximum(self.high, values.max(0))

    def add_counted(self, said: Mapping[str, Any]) -> None:
        """Add rows by their statistics, in the form of `as_dict`."""
        count = int(np.asarray(said["count"]).reshape(-1)[0])
        mean, std = np.asarray(said["mean"], np.float64), np.asarray(said["std"], np.float64)
        self.count += count
        self.total = self.total + mean * count
        self.squares = self.squares + (std**2 + mean**2) * count
        self.low, self.high = np.minimum(self.low, said["min"]), np.maximum(self.high, said["max"])

    def as_dict(self) -> dict[str, list[Any]]:
        """Return min, max, mean, std and count."""
        mean = self.total / self.count
        std = np.sqrt(np.maximum(self.squares / self.count - mean**2, 0.0))
        table = {"min": self.low, "max": self.high, "mean": mean, "std": std}
        return {name: np.asarray(value).tolist() for name, value in table.items()} | {"count": [self.count]}
