"""Running statistics of a column, for `meta/stats.json` and `meta/episodes` of a LeRobot dataset."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_QUANTILE = re.compile(r"q\d+")


@dataclass
class ColumnStatistics:
    """Running count, mean, sum of squared deviations, minimum and maximum of rows of one shape.

    Only finite numbers are counted, since the joints of a recording are nan where no message names them. Means and
    deviations of parts are combined as by Chan, Golub and LeVeque (1983, "Algorithms for Computing the Sample
    Variance"), since of stamps since 1970 the square of the mean has more digits than a float64.
    """

    count: int = 0
    """Rows."""
    known: Any = 0
    """Finite numbers in each place of a row."""
    mean: Any = 0.0
    deviations: Any = 0.0
    """Sum of the squared deviations from the mean."""
    low: Any = np.inf
    high: Any = -np.inf

    def add(self, rows: NDArray[Any], count: int | None = None) -> None:
        """Add rows (N, ...) with N >= 1; `count`: how many they are counted for, if not N."""
        values = rows.astype(np.float64)
        finite = np.isfinite(values)
        known = finite.sum(0)
        mean = np.where(finite, values, 0.0).sum(0) / np.maximum(known, 1)
        apart = np.where(finite, values - mean, 0.0)
        self._combine(len(values) if count is None else count, known, mean, (apart**2).sum(0))
        self.low = np.minimum(self.low, np.where(finite, values, np.inf).min(0))
        self.high = np.maximum(self.high, np.where(finite, values, -np.inf).max(0))

    def add_counted(self, said: Mapping[str, Any]) -> None:
        """Add rows, one at least, by their statistics, in the form of `as_dict`.

        Where that has a finite mean, all of its rows are taken for known.
        """
        count = int(np.asarray(said["count"]).reshape(-1)[0])
        low, high, mean, std = (np.asarray(said[name], np.float64) for name in ("min", "max", "mean", "std"))
        finite = np.isfinite(mean)
        known, mean, std = np.where(finite, count, 0), np.where(finite, mean, 0.0), np.where(finite, std, 0.0)
        self._combine(count, known, mean, std**2 * count)
        self.low = np.minimum(self.low, np.where(finite, low, np.inf))
        self.high = np.maximum(self.high, np.where(finite, high, -np.inf))

    def as_dict(self, unknown: float = np.nan) -> dict[str, list[Any]]:
        """Return min, max, mean, std and count (of rows).

        Args:
            unknown: what stands for the first four where no number is known.
        """
        std = np.sqrt(self.deviations / np.maximum(self.known, 1))
        table = {"min": self.low, "max": self.high, "mean": self.mean, "std": std}
        found = {
            name: np.where(np.asarray(self.known) > 0, value, unknown).tolist()
            for name, value in table.items()
        }
        return found | {"count": [self.count]}

    def _combine(
        self, count: int, known: NDArray[Any], mean: NDArray[np.float64], deviations: NDArray[np.float64]
    ) -> None:
        """Add other rows by their number, and in each place that of finite numbers, mean and squared deviations."""
        before, self.known = self.known, self.known + known
        self.count += count
        share = known / np.maximum(self.known, 1)
        shift = mean - self.mean
        self.mean = self.mean + shift * share
        self.deviations = self.deviations + deviations + shift**2 * (before * share)


@dataclass
class MeanQuantiles:
    """Means of the quantiles of episodes, weighted by their rows: what LeRobot takes for those of a whole dataset."""

    count: int = 0
    """Rows."""
    sums: dict[str, Any] | None = None
    """Weighted sum of each quantile that every episode has; None before the first."""

    def add(self, said: Mapping[str, Any]) -> None:
        """Add the statistics of an episode, with its `count` and quantiles such as `q01`, or without them."""
        named = {
            name: value for name, value in said.items() if _QUANTILE.fullmatch(name) and value is not None
        }
        if said.get("count") is None or not named:
            self.sums = {}
            return
        count = int(np.asarray(said["count"]).reshape(-1)[0])
        self.count += count
        found = {name: np.asarray(value, np.float64) * count for name, value in named.items()}
        if self.sums is not None:
            found = {name: self.sums[name] + found[name] for name in self.sums if name in found}
        self.sums = found

    def as_dict(self) -> dict[str, list[Any]]:
        """Return the quantiles that every episode has and that are finite."""
        means = {name: total / self.count for name, total in (self.sums or {}).items()}
        return {name: mean.tolist() for name, mean in means.items() if np.isfinite(mean).all()}


def stats_json(
    columns: Mapping[str, ColumnStatistics], quantiles: Mapping[str, MeanQuantiles] | None = None
) -> str:
    """Return the content of `meta/stats.json`, with 0 where no number of a column is known, since JSON has no nan."""
    found = {name: column.as_dict(unknown=0.0) for name, column in columns.items()}
    for name, mean in (quantiles or {}).items():
        if name in found:
            found[name] |= mean.as_dict()
    return json.dumps(found, indent=2, allow_nan=False) + "\n"
