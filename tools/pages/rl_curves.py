"""Draw the curves of docs/rl.md from the runs' own `metrics.csv`, which lie in docs/results/rl as <config>-<seed>.csv.

A line is the share of attempts that succeeded while the policy explored, by update; what a policy does at its best on
held-out states is in the tables.

python tools/pages/rl_curves.py            # draw docs/results/rl/*.svg
python tools/pages/rl_curves.py --check    # exit 1 if one is out of date
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from page_parts import ROOT, keep

from openral_core.html.plots import Point, plot

RUNS = ROOT / "docs" / "results" / "rl"
PICTURES = {
    "five_tasks": ("metaworld_ppo", "metaworld_grpo"),
    "push_back": ("push_back_mini_ppo",),
    "imagined": ("drawer_imagined", "drawer_imagined_doubt_not_heeded"),
}
"""Name of a picture, and the configs whose runs are in it."""
COLUMN = "env/success_once"


def curve(path: Path) -> list[Point]:
    """Return (update, share of attempts that succeeded) of a run."""
    with path.open(newline="", encoding="utf-8") as file:
        return [(float(row["step"]), float(row[COLUMN])) for row in csv.DictReader(file) if row[COLUMN]]


def drawn(configs: tuple[str, ...]) -> str:
    """Return the picture of all runs of some configs."""
    lines = {
        path.stem.replace("metaworld_", "").replace("drawer_imagined_", ""): curve(path)
        for config in configs
        for path in sorted(RUNS.glob(f"{config}-*.csv"))
    }
    last = max(point[0] for points in lines.values() for point in points)
    style = "<style>text { font: 11px sans-serif; fill: #444; }</style><rect width='100%' height='100%' fill='#fff'/>"
    svg = plot(lines, x=(0.0, last)).replace(
        "<svg ", "<svg xmlns='http://www.w3.org/2000/svg' width='520' ", 1
    )
    head, _, rest = svg.partition(">")
    return f"{head}>{style}{rest}\n"


def main() -> int:
    """Draw, or see whether there is something to draw."""
    return keep(
        {
            RUNS / f"{name}.svg": lambda _, configs=configs: drawn(configs)
            for name, configs in PICTURES.items()
        }
    )


if __name__ == "__main__":
    sys.exit(main())
