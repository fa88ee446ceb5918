"""Ours beside the models' own libraries on one GPU, in one run: random weights, the real dimensions.

    python tests/perf/gpu.py                     # on cuda, every model
    python tests/perf/gpu.py smolvla --calls 50
    python tests/perf/gpu.py smolvla --device cpu --tiny     # the plumbing, anywhere

Checkpoints are written into a folder that is removed (9 GB for Robometer, once), and each model runs in its own
sidecar's interpreter. What is compared is the ratio: one run on one card.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from openral_sidecar.environment.build import ensure_environment
from openral_sidecar.table import sidecar_spec

ROOT = Path(__file__).resolve().parents[2]


class Model(NamedTuple):
    """What is measured, and what is wanted of it."""

    sidecar: str
    real: str
    """Name of its real dimensions in tools/make_tiny_checkpoint.py."""
    tiny: str
    ratio: float
    """Of our median to the other's, at most."""


MODELS = {
    "smolvla": Model("lerobot", "smolvla_450m", "smolvla", 0.5),
    "robometer": Model("robometer", "robometer_4b", "robometer", 1.05),
}


def measured(name: str, device: str, calls: int, *, tiny: bool) -> dict[str, Any]:
    """Write a checkpoint, measure both sides and return what `gpu_sides.py` prints."""
    model = MODELS[name]
    python = str(ensure_environment(sidecar_spec(model.sidecar)))
    environment = {
        **os.environ,
        **sidecar_spec(model.sidecar).environment,
        "PYTHONPATH": f"{ROOT / 'src'}",
        "HF_HUB_OFFLINE": "1",
    }
    with tempfile.TemporaryDirectory() as folder:
        make = [python, "tools/make_tiny_checkpoint.py", model.tiny if tiny else model.real, folder]
        subprocess.run(make, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        sides = [python, "tests/perf/gpu_sides.py", name, folder, device, str(calls)]
        done = subprocess.run(sides, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def row(name: str, found: dict[str, Any]) -> str:
    """Return a row of a table of Markdown: ours, the other and the ratio."""
    (_, ours), (peer, theirs) = found["sides"].items()
    cells = [
        f"{side['p50_ms']:.1f} / {side['p99_ms']:.1f} ms, {side['gb']:.2f} GB" for side in (ours, theirs)
    ]
    ratio = ours["p50_ms"] / theirs["p50_ms"]
    wanted = MODELS[name].ratio
    verdict = "met" if ratio <= wanted else "missed"
    return f"| {name} | {cells[0]} | {peer}: {cells[1]} | {ratio:.2f} | {wanted:g}, {verdict} | {found['apart']:.2g} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", help=f"default: {', '.join(MODELS)}")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--tiny", action="store_true", help="not the real dimensions")
    arguments = parser.parse_args()
    chosen = arguments.models or list(MODELS)
    if strange := [name for name in chosen if name not in MODELS]:
        parser.error(f"{', '.join(strange)}: not among {', '.join(MODELS)}")
    table = [
        "| model | ours: p50 / p99, peak of a call | beside it | ratio | at most | answers apart |",
        "|---|---|---|---|---|---|",
    ]
    for name in chosen:
        table.append(row(name, measured(name, arguments.device, arguments.calls, tiny=arguments.tiny)))
    sys.stdout.write("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
