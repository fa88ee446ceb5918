"""Write how far the states that judge the MetaWorld skills lie from those of training: no figure is typed by hand.

A held-out number proves little if its state lies on top of one that training saw. An initial state of MetaWorld is a
vector of where objects and goal are (3 or 6 numbers, in metres), so the distance to the nearest state of training says
how new it is. Training is taken to have seen all states that the manifest's `trained_init_ids` name; demonstrations
began in some of them, so the distances are at least these.

python tools/pages/heldout_distance.py --measure    # draw every state again (twenty minutes), then rewrite the page
python tools/pages/heldout_distance.py              # rewrite docs/benchmark.md from docs/results/heldout_distance.json
python tools/pages/heldout_distance.py --check      # exit 1 if the page is out of date
"""

from __future__ import annotations

import functools
import json
import statistics
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from page_parts import ROOT, keep, with_part

from openral_core.manifest import load_manifest
from openral_rskill.license import is_evaluated
from openral_sim_bridge.backends.metaworld.initial_states import random_vector

PAGE = ROOT / "docs" / "benchmark.md"
RESULTS = ROOT / "docs" / "results" / "heldout_distance.json"
JUDGED = (
    ("mini-metaworld", "metaworld_mini"),
    ("mini-metaworld-mt10", "metaworld_mt10_fast"),
    ("mini-metaworld-mt50", "metaworld_mt50_fast"),
)
"""Skills, and the suites whose episodes ship with them."""
LEAST_MM = 0.01
"""[mm] to which distances are kept."""
NEAR_M = 1e-3
"""[m] within which a held-out state is hardly another one."""


def nearest(heldout: NDArray[np.float64], trained: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (N,) the Euclidean distance of each held-out vector (N, D) to the nearest one of training (M, D)."""
    apart = np.linalg.norm(heldout[:, None] - trained[None], axis=-1)
    found: NDArray[np.float64] = apart.min(axis=1)
    return found


@functools.cache
def state(task: str, number: int) -> NDArray[np.float64]:
    """Return the vector of an initial state; drawing fifty takes a second, and suites share tasks."""
    return random_vector(task.removeprefix("metaworld/"), number)


def judged_states(skill: str, suite: str) -> dict[str, list[int]]:
    """Return the initial states of each task, as the rows of the shipped result name them."""
    path = ROOT / "rskills" / skill / "eval" / f"{suite}.json"
    states: dict[str, list[int]] = {}
    for row in json.loads(path.read_text(encoding="utf-8"))["results"]["episodes"]:
        states.setdefault(row["task"], []).append(row["init_id"])
    return states


def trained_states(skill: str, task: str) -> list[int]:
    """Return the initial states of a task that training may have seen, by the skill's manifest."""
    seen = load_manifest(ROOT / "rskills" / skill).trained_init_ids
    return sorted(
        {
            number
            for entry, states in seen.items()
            if is_evaluated([entry], task, "")
            for number in states.ids()
        }
    )


def distances(skill: str, suite: str) -> dict[str, list[float]]:
    """Return the distance [m] of each judged state to the nearest of training, by task."""

    found = {}
    for task, numbers in judged_states(skill, suite).items():
        heldout, trained = (
            np.stack([state(task, number) for number in some])
            for some in (numbers, trained_states(skill, task))
        )
        apart = nearest(heldout, trained)
        found[task] = [round(float(value), 5) for value in apart]
        sys.stderr.write(f"{suite}: {task}, median {1e3 * statistics.median(found[task]):.1f} mm\n")
    return found


def table(results: dict[str, Any]) -> list[str]:
    """Return a row a suite."""
    lines = [
        "| skill, suite | held-out states | nearest state of training: least | median | within 1 mm |",
        "|---|---|---|---|---|",
    ]
    for row in results["rows"]:
        tasks: dict[str, list[float]] = row["distances_m"]
        every = [value for values in tasks.values() for value in values]
        least = 1e3 * min(every)
        shown = f"{least:.2f} mm" if least >= LEAST_MM else f"under {LEAST_MM} mm"
        lines.append(
            f"| `{row['skill']}`, `{row['suite']}` | {len(every)} of {len(tasks)} tasks "
            f"| {shown} | {1e3 * statistics.median(every):.1f} mm "
            f"| {sum(value < NEAR_M for value in every)} |"
        )
    return lines


def main() -> int:
    """Measure, rewrite or check."""
    if "--measure" in sys.argv:
        rows = [
            {"skill": skill, "suite": suite, "distances_m": distances(skill, suite)}
            for skill, suite in JUDGED
        ]
        lines = ",\n".join(json.dumps(row) for row in rows)
        RESULTS.write_text(f'{{"rows": [\n{lines}\n]}}\n', encoding="utf-8")
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    return keep({PAGE: lambda text: with_part(text, "distance", table(results))})


if __name__ == "__main__":
    sys.exit(main())
