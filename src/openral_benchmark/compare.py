"""Paired comparison of two runs, from the episodes that both ran (same task, initial state and instruction)."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openral_core.errors import ManifestError

RESULT = "result.json"
WORLD = "world_sha256"
CONDITIONS = {
    "benchmark": ("name", "render_profile", "simulator"),
    "eval_config": ("max_steps", "success_key", "num_envs", "answer_delay", "picture_delay"),
    "provenance": ("cameras", WORLD),
}
"""Conditions that decide rows beside skill, task, initial state and instruction, by section of the result."""
_WANTED = f"name the {RESULT} of a run, or its folder"


@dataclass(frozen=True)
class RunComparison:
    """Comparison of two runs on the same episodes."""

    episodes: int
    """Episodes that both ran."""
    successes: tuple[int, int]
    """Of these, the episodes that the first and the second run solved."""
    only_first: int
    """Episodes that only the first run solved."""
    only_second: int
    """Episodes that only the second run solved."""
    p_value: float
    """p-value of the two-sided exact McNemar test: the chance of so great a difference between equal policies."""
    conditions: tuple[str, ...] = ()
    """Other conditions that differ between the runs, and episodes without a result, each in words; a difference may be
    due to them."""

    @property
    def words(self) -> str:
        """Whether the runs differ significantly (p < 0.05), in words."""
        a, b = self.successes
        if self.p_value < 0.05:
            better = "the first" if a > b else "the second"
            return f"{better} is better (p = {self.p_value:.2g})"
        return f"no difference can be told (p = {self.p_value:.2g})"


def compare(first: dict[str, Any], second: dict[str, Any]) -> RunComparison:
    """Compare two results, episode by episode (task, initial state, instruction).

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
    p_value = exact_mcnemar(only_a, only_b)
    conditions = (*_other_conditions(first, second), *_cut_off(first, second, set(both)))
    return RunComparison(len(both), solved, only_a, only_b, p_value, conditions)


def _other_conditions(first: dict[str, Any], second: dict[str, Any]) -> tuple[str, ...]:
    """Return, in words, the conditions that differ, with both values; one that a result lacks is left out."""
    found = []
    for section, names in CONDITIONS.items():
        a, b = (result.get(section) for result in (first, second))
        if not isinstance(a, dict) or not isinstance(b, dict):
            continue
        both = [name for name in names if name in a and name in b]
        found += [_told(name, a[name], b[name]) for name in both if a[name] != b[name]]
    return tuple(found)


def _told(name: str, first: object, second: object) -> str:
    """Return, in words, a condition that differs; digests say nothing to a reader."""
    return "the files of robot or world" if name == WORLD else f"{name}: {first} and {second}"


def _cut_off(
    first: dict[str, Any], second: dict[str, Any], both: Collection[tuple[str, int, str]]
) -> tuple[str, ...]:
    """Return, in words, how many of the shared episodes have no result in either run; they count as failures."""
    a, b = (
        sum(bool(row.get("error")) and _key(row) in both for row in result["results"]["episodes"])
        for result in (first, second)
    )
    return (f"episodes without a result: {a} and {b}",) if a or b else ()


def exact_mcnemar(only_first: int, only_second: int) -> float:
    """Return the two-sided p-value of the exact McNemar test, a binomial test on the discordant pairs (1947)."""
    total, least = only_first + only_second, min(only_first, only_second)
    tail: float = sum(math.comb(total, k) for k in range(least + 1)) / 2**total
    return min(1.0, 2.0 * tail)


def result_file(path: Path) -> Path:
    """Return the result in the folder of a run; a path that is no folder is the result itself."""
    return path / RESULT if path.is_dir() else path


def read_result(path: Path, sections: Sequence[str] = ()) -> dict[str, Any]:
    """Read an eval JSON with episodes.

    Args:
        path: the file, or the folder of its run.
        sections: keys that it must have besides `results`.

    Raises:
        ManifestError: it cannot be read, or is no such file.
    """
    file = result_file(path)
    try:
        content: dict[str, Any] = json.loads(file.read_bytes())
        _episodes(content)
    except OSError as error:
        raise ManifestError(f"{file}: {error.strerror}; {_WANTED}") from error
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"{file}: is no JSON; {_WANTED}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise ManifestError(f"{file}: is no result of `openral benchmark run`; {_WANTED}") from error
    if missing := [name for name in sections if not isinstance(content.get(name), dict)]:
        raise ManifestError(f"{file}: is no result of `openral benchmark run`, no {missing[0]}; {_WANTED}")
    return content


def _episodes(content: dict[str, Any]) -> dict[tuple[str, int, str], bool]:
    return {_key(row): bool(row["success"]) for row in content["results"]["episodes"]}


def _key(row: dict[str, Any]) -> tuple[str, int, str]:
    return row["task"], row["init_id"], row["instruction"]
