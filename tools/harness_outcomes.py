"""Count what each rung of the ladder is worth on states of design, as a deployment counts it, for the suite `harness`.

    python tools/harness_outcomes.py --states 10

Each rung is the only one that a deployment has, with its own judge and its own locator. The counts go into
suites/harness_outcomes.json, which the suite gives the director: no state of the suite is among those counted here.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from openral_benchmark.harness.deployment import MissionHarness
from openral_benchmark.harness.rows import HarnessRow
from openral_benchmark.harness.variants import VARIANTS
from openral_core.files.share import share_directory
from openral_core.suite import load_suite
from openral_reasoner.memory.outcomes import Outcomes
from openral_rskill.registry import resolve

FIRST = 4000
"""First initial state of design."""
START = ("home",)
RUNGS = {
    "home": START,
    "restage": ("move_to",),
    "grasp": ("pick_at",),
    "motions": ("pick_at", "place_at"),
}
"""Rung -> the motions that make it possible, besides the drive to the skill's start, which is a motion `home`."""
UNUSED = 20
"""Failures by which `grasp` is put last where `motions` is counted, which needs its motion as well."""


def main() -> None:
    """Count, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=10)
    parser.add_argument("--rskill", default="mini-metaworld-mt10")
    states = parser.parse_args().states
    torch.set_num_threads(1)
    suite, package = load_suite("harness"), resolve(parser.parse_args().rskill)
    assert suite.missions is not None
    found: list[dict[str, Any]] = []
    for scene in suite.scenes:
        for rung, motions in RUNGS.items():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "outcomes.json"
                outcomes = Outcomes(path)
                name, task = package.manifest.name, scene.task.id.removeprefix("metaworld/")
                for _ in range(UNUSED if rung == "motions" else 0):
                    outcomes.add(name, task, "grasp", False)
                harness = MissionHarness(
                    scene, package, attempt_steps=suite.missions.attempt_steps, outcomes=outcomes
                )
                row = HarnessRow(f"only {rung}", motions, "own", "own")
                with contextlib.closing(harness):
                    for variant in (name for name, each in VARIANTS.items() if each.is_for(task)):
                        for init_id in range(FIRST, FIRST + states):
                            harness.play(rung, row, variant, init_id)
                rows = [each.model_dump() for each in outcomes.rows() if each.rung == rung]
                sys.stdout.write(f"{task} {rung}: {rows}\n")
                sys.stdout.flush()
                found += rows
    text = json.dumps({"rows": found}, indent=1) + "\n"
    (share_directory() / "suites" / "harness_outcomes.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
