"""Ours beside the models' own libraries on one GPU, in one run: random weights, the real dimensions.

    python tests/perf/gpu.py                     # on cuda, every model
    python tests/perf/gpu.py smolvla --calls 50
    python tests/perf/gpu.py smolvla --device cpu --tiny     # the plumbing, anywhere

Prints three tables. The first has times: what is compared is the ratio, one run on one card. The second has memory:
each model is loaded alone, packed where it can be, and asked for its largest input; what torch reserved is compared
with `min_vram_gb`, and what the card holds besides is CUDA's own, if nothing else runs there. The third says how far
answers on the card and on the CPU are apart, which takes minutes for models of 7 billion parameters. Checkpoints are
written into a folder that is removed (15 GB for OpenVLA-OFT and for RLDX-1), and each model runs in its own sidecar's
interpreter.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from openral_rskill.registry import resolve
from openral_rskill.vram import CONTEXT_GB
from openral_sidecar.environment.build import ensure_environment
from openral_sidecar.table import sidecar_spec

ROOT = Path(__file__).resolve().parents[2]
TIMES = [
    "| model | ours: p50 / p99, peak of a call | beside it | ratio | at most | whole call | at most | answers apart |",
    "|---|---|---|---|---|---|---|---|",
]
MEMORY = [
    "| model | load | host's peak [GB] | card, loaded | card, at its peak | CUDA's own | at most |",
    "|---|---|---|---|---|---|---|",
]
SAME = [
    "| model | largest difference from the CPU | median | spread of the CPU's answers | at most |",
    "|---|---|---|---|---|",
]


class Model(NamedTuple):
    """What is measured, and what is wanted of it."""

    sidecar: str
    real: str
    """Name of its real dimensions in tools/make_tiny_checkpoint.py."""
    tiny: str
    ratio: float
    """Of our median to the other's, at most."""
    call_ms: float
    """[ms] Our median of a whole call, at most, on the H100 for which it is stated; infinite: nothing is."""
    skill: str
    """That ships, and whose manifest is compared with what is measured."""
    dtype: str
    """Number format in which it is loaded alone."""

    @property
    def stated_gb(self) -> float:
        """[GB] `min_vram_gb` of the manifest in the number format that is loaded alone."""
        return resolve(self.skill).manifest.min_vram_gb[self.dtype]

    @property
    def device_tolerance(self) -> float | None:
        """That of the manifest's action contract; None: it states none."""
        contract = resolve(self.skill).manifest.action_contract
        return contract.device_tolerance if contract else None


MODELS = {
    "smolvla": Model("lerobot", "smolvla_450m", "smolvla", 0.5, 100.0, "smolvla-metaworld", "bf16"),
    "robometer": Model("robometer", "robometer_4b", "robometer", 1.05, 150.0, "robometer-4b-nf4", "int4"),
    "openvla": Model("openvla_oft", "openvla_7b", "openvla", 1.0, 60.0, "openvla-oft-libero", "int4"),
    "rldx": Model("rldx", "rldx_7b", "rldx", 0.8, math.inf, "rldx1-ft-libero-nf4", "int4"),
}


def measured(
    name: str, device: str, calls: int, *, tiny: bool, python: str = ""
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Write a checkpoint, measure both sides, ours alone and on the CPU; return what `gpu_sides.py` prints."""
    model = MODELS[name]
    python = python or str(ensure_environment(sidecar_spec(model.sidecar)))
    environment = {
        **os.environ,
        **sidecar_spec(model.sidecar).environment,
        "PYTHONPATH": os.pathsep.join(filter(None, (f"{ROOT / 'src'}", os.environ.get("PYTHONPATH")))),
        "HF_HUB_OFFLINE": "1",
    }
    with tempfile.TemporaryDirectory() as folder:
        make = [python, "tools/make_tiny_checkpoint.py", model.tiny if tiny else model.real, folder]
        subprocess.run(make, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)

        def run(what: str) -> dict[str, Any]:
            sides = [python, "tests/perf/gpu_sides.py", name, folder, device, what]
            done = subprocess.run(sides, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE)
            found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
            return found

        return run(str(calls)), run("alone"), run("same")


def times(name: str, found: dict[str, Any]) -> str:
    """Return a row of a table of Markdown: ours, the other, the ratio, and a whole call of ours."""
    (_, ours), (peer, theirs) = list(found["sides"].items())[:2]
    cells = [
        f"{side['p50_ms']:.1f} / {side['p99_ms']:.1f} ms, {side['gb']:.2f} GB" for side in (ours, theirs)
    ]
    ratio, model = ours["p50_ms"] / theirs["p50_ms"], MODELS[name]
    whole = found["sides"].get("whole", ours)["p50_ms"]
    verdicts = ["met" if is_met else "missed" for is_met in (ratio <= model.ratio, whole <= model.call_ms)]
    return (
        f"| {name} | {cells[0]} | {peer}: {cells[1]} | {ratio:.2f} | {model.ratio:g}, {verdicts[0]} "
        f"| {whole:.0f} ms | {model.call_ms:g}, {verdicts[1]} | {found['apart']:.2g} |"
    )


def memory(name: str, found: dict[str, Any]) -> str:
    """Return a row of a table of Markdown: what loading and the largest input took, and what is stated."""
    stated, peak = MODELS[name].stated_gb, found["peak_gb"]
    context = max(0.0, found["card_gb"] - peak)
    verdict = "met" if peak <= stated and context <= CONTEXT_GB else "missed"
    return (
        f"| {name} | {found['load_s']:.1f} s | {found['host_gb']:.1f} | {found['load_gb']:.2f} | {peak:.2f} "
        f"| {context:.2f} | {stated:g} + {CONTEXT_GB:g}, {verdict} |"
    )


def same(name: str, found: dict[str, float]) -> str:
    """Return a row of a table of Markdown: how far the answers of the device are from the CPU's."""
    stated = MODELS[name].device_tolerance
    verdict = "–" if stated is None else f"{stated:g}, {'met' if found['largest'] <= stated else 'missed'}"
    return f"| {name} | {found['largest']:.2g} | {found['median']:.2g} | {found['spread']:.2g} | {verdict} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", help=f"default: {', '.join(MODELS)}")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--tiny", action="store_true", help="not the real dimensions")
    parser.add_argument(
        "--python", default="", help="an interpreter that has what the sidecars need, in place of their own"
    )
    arguments = parser.parse_args()
    chosen = arguments.models or list(MODELS)
    if strange := [name for name in chosen if name not in MODELS]:
        parser.error(f"{', '.join(strange)}: not among {', '.join(MODELS)}")
    tables = [TIMES, MEMORY, SAME]
    for name in chosen:
        sides, alone, beside = measured(
            name, arguments.device, arguments.calls, tiny=arguments.tiny, python=arguments.python
        )
        rows = (times(name, sides), memory(name, alone), same(name, beside))
        tables = [[*table, row] for table, row in zip(tables, rows, strict=True)]
    sys.stdout.write("\n\n".join("\n".join(table) for table in tables) + "\n")


if __name__ == "__main__":
    main()
