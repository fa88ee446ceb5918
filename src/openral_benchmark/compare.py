"""Is one run better than another? Only episodes that both ran from the same initial state can tell."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openral_core.errors import ManifestError


@dataclass(frozen=True)
class RunComparison:
    """Two runs on the same episodes."""

    episodes: int
    """Episodes that both ran."""
    successes: tuple[int, int]
    only_first: int
    """Episodes that the first alone solved."""
    only_second: int
    p_value: float
    """Two-sided exact McNemar test: the chance of a difference this great between equals."""

    @property
    def words(self) -> str:
        """One sentence: whether the difference is real."""
        a, b = self.successes
        if self.p_value < 0.05:
            better = "the first" if a > b else "the second"
            return f"{better} is better (p = {self.p_value:.2g})"
        return f"no difference can be told (p = {self.p_value:.2g})"


def compare(first: dict[str, Any], second: dict[str, Any]) -> RunComparison:
    """Compare two results, episode by episode (task, initial state, words).

    Raises:
        ManifestError: they have no episode in common, or are of whole missions.
    """
    if "rows" in first["results"] or "rows" in second["results"]:
        raise ManifestError("results of whole missions hold their own comparisons; see `comparisons` in them")
    a, b = _episodes(first), _episodes(second)
    both = sorted(set(a) & set(b))
    if not both:
        raise ManifestError("the two results have no episode in common; run both on one suite")
    only_a = sum(a[key] and not b[key] for key in both)
    only_b = sum(b[key] and not a[key] for key in both)
    solved = (sum(a[key] for key in both), sum(b[key] for key in both))
    return RunComparison(len(both), solved, only_a, only_b, exact_mcnemar(only_a, only_b))


def exact_mcnemar(only_first: int, only_second: int) -> float:
    """Return the two-sided p-value of the exact McNemar test, a binomial test on the discordant pairs (1947)."""
    total, least = only_first + only_second, min(only_first, only_second)
    tail: float = sum(math.comb(total, k) for k in range(least + 1)) / 2**total
    return min(1.0, 2.0 * tail)


def read_result(path: Path) -> dict[str, Any]:
    """Read an eval JSON with episodes.

    Raises:
        ManifestError: it is none.
    """
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        _episodes(content)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ManifestError(
            f"{path}: no result of openral benchmark run ({type(error).__name__}: {error})"
        ) from error
    return content


def _episodes(content: dict[str, Any]) -> dict[tuple[str, int, str], bool]:
    return {
        (row["task"], row["init_id"], row["instruction"]): bool(row["success"])
        for row in content["results"]["episodes"]
    }
