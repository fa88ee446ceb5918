"""The server behind the policy of `faults_family.py`: it leads the hand to a point, or misbehaves by its dials."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from openral_core.errors import SidecarError
from openral_sidecar.identity import Identity
from openral_sidecar.server import serve, server_arguments, server_options

STEP_M = 0.01
"""[m] of an action of 1."""
SPEED = 0.2
"""Greatest action."""
HORIZON = 16
TARGETS = {"open the drawer": (-0.15, 0.7, 0.2), "close the drawer": (0.0, 0.7, 0.2)}
"""[m] where the mock world's tasks are solved; see `openral_sim_bridge.backends.fake`."""
HOME = (0.0, 0.6, 0.2)


def way(position: Any, target: Any) -> Any:
    """Return the actions (H, 4) that lead from a position (3,) [m] to a target and stay there."""
    actions = np.zeros((HORIZON, 4), np.float32)
    actions[:, 3] = -1.0
    place = np.asarray(position, np.float64).copy()
    for row in actions:
        row[:3] = np.clip((np.asarray(target) - place) / STEP_M, -SPEED, SPEED)
        place += STEP_M * row[:3]
    return actions


class Model:
    """Answers by the dials of the moment."""

    def __init__(self, dials: Path) -> None:
        self._dials = dials

    def act(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return `action` (B, H, 4) for `state` (B, 4) and B `instructions`."""
        dials = json.loads(self._dials.read_text()) if self._dials.is_file() else {}
        time.sleep(dials.get("delay_s", 0.0))
        actions = np.stack(
            [
                way(state[:3], TARGETS.get(words, HOME))
                for state, words in zip(data["state"], data["instructions"], strict=True)
            ]
        )
        behaviour = dials.get("policy", "answer")
        if behaviour == "stay":
            actions[:, :, :3] = 0.0
        if behaviour == "nan":
            actions[:, -1, 0] = np.nan
        if behaviour == "far":
            actions[:, 0, 0] = 100.0
        if behaviour == "short":
            actions = actions[:, :-1]
        return {"action": actions}


def main() -> None:
    """Serve, with a process of its own below it, as a compiler or a simulator would be."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--dials", type=Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--alone", action="store_true", help="without a process of its own")
    server_arguments(parser)
    args = parser.parse_args()
    try:
        options = server_options(args)
    except SidecarError as error:
        sys.exit(f"error: {error}")
    children = []
    if not args.alone:
        children.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1e6)"]).pid)
    model = Model(args.dials)
    try:
        serve({"act": model.act}, Identity(args.model), options, describe=lambda: {"child": children})
    except SidecarError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
