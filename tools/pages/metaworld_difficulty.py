"""MetaWorld's fifty tasks by difficulty, and what a skill solved of each group.

The groups are those of Seo et al. 2022, "Masked World Models for Visual Control" (arXiv:2206.14244), of the tasks of
Yu et al. 2019 (arXiv:1910.10897). SmolVLA (arXiv:2506.01844) and others report the mean of the four groups, in which
five very hard tasks weigh as much as twenty-eight easy ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openral_core.statistics import wilson_interval

GROUPS = {
    "easy": [
        "button-press",
        "button-press-topdown",
        "button-press-topdown-wall",
        "button-press-wall",
        "coffee-button",
        "dial-turn",
        "door-close",
        "door-lock",
        "door-open",
        "door-unlock",
        "drawer-close",
        "drawer-open",
        "faucet-close",
        "faucet-open",
        "handle-press",
        "handle-press-side",
        "handle-pull",
        "handle-pull-side",
        "lever-pull",
        "peg-unplug-side",
        "plate-slide",
        "plate-slide-back",
        "plate-slide-back-side",
        "plate-slide-side",
        "reach",
        "reach-wall",
        "window-close",
        "window-open",
    ],
    "medium": [
        "basketball",
        "bin-picking",
        "box-close",
        "coffee-pull",
        "coffee-push",
        "hammer",
        "peg-insert-side",
        "push-wall",
        "soccer",
        "sweep",
        "sweep-into",
    ],
    "hard": ["assembly", "hand-insert", "pick-out-of-hole", "pick-place", "push", "push-back"],
    "very hard": ["disassemble", "pick-place-wall", "shelf-place", "stick-pull", "stick-push"],
}


def difficulty_rows(episodes: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return a row a group, successes of episodes with their Wilson interval, and the means over tasks and groups.

    Args:
        episodes: rows of a result, as many of each of the fifty tasks.
    """
    rows, rates = [], []
    for name, tasks in GROUPS.items():
        solved = [
            row["success"] for row in episodes if row["task"].split("/")[-1].removesuffix("-v3") in tasks
        ]
        low, high = wilson_interval(sum(solved), len(solved))
        rates.append(sum(solved) / len(solved))
        rows.append((f"{name}: {len(tasks)} tasks", f"{sum(solved)}/{len(solved)} ({low:.2f}–{high:.2f})"))
    plain = sum(row["success"] for row in episodes) / len(episodes)
    return [
        *rows,
        ("mean of the fifty tasks", f"{plain:.3f}"),
        ("mean of the four groups", f"{sum(rates) / len(rates):.3f}"),
    ]
