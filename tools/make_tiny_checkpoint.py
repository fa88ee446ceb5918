"""Write a checkpoint with random weights in the file layout of a trained one, to try the plumbing without a network.

    python tools/make_tiny_checkpoint.py smolvla /tmp/tiny-smolvla

It is built and saved by upstream's own code, so it runs in the interpreter of the family's sidecar: if this one has not
got the code, the sidecar's environment is built and does it.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = "here"
SIDECARS = {
    "smolvla": "lerobot",
    "smolvla_450m": "lerobot",
    "act": "lerobot",
    "diffusion": "lerobot",
    "openvla": "openvla_oft",
    "openvla_7b": "openvla_oft",
    "robometer": "robometer",
    "robometer_500mb": "robometer",
    "robometer_4b": "robometer",
    "rldx": "rldx",
    "rldx_7b": "rldx",
    "llava": HERE,
}
"""Family -> sidecar that has its code; here: `pip install 'openral[vla]'` has it. Those named by a size are as large as
that, to measure with."""
BUILDERS = {
    HERE: ("transformers", "llava"),
    "lerobot": ("lerobot", "lerobot_policies"),
    "openvla_oft": ("timm", "openvla"),
    "robometer": ("bitsandbytes", "robometer"),
    "rldx": ("rldx", "rldx"),
}
"""Sidecar -> a module that only it has, and the builder."""


def main() -> None:
    """Build here, or have the sidecar's interpreter run this file again."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("family", choices=sorted(SIDECARS))
    parser.add_argument("folder", type=Path, help="where to; made if need be")
    parser.add_argument("--image", type=int, help="[px] height and width of a camera's image")
    parser.add_argument("--state", type=int, help="length of the proprioception")
    parser.add_argument("--action", type=int, help="length of an action")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    sidecar = SIDECARS[arguments.family]
    marker, builder = BUILDERS[sidecar]
    sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "src")]
    if sidecar != HERE:
        if importlib.util.find_spec(marker) is None:
            sys.exit(_in_sidecar(sidecar))
        from openral_sidecar.environment.torchvision_shim import ensure_torchvision

        ensure_torchvision()  # before anything imports it
    make = importlib.import_module(f"tiny_checkpoints.{builder}").make
    chosen = {name: getattr(arguments, name) for name in ("image", "state", "action")}
    given = {name: value for name, value in chosen.items() if value is not None}
    make(arguments.family, arguments.folder.absolute(), seed=arguments.seed, **given)
    _say(f"{arguments.folder}: {arguments.family}; random weights, proves plumbing only")


def _in_sidecar(name: str) -> int:
    from openral_sidecar.environment.build import ensure_environment
    from openral_sidecar.table import sidecar_spec

    python = ensure_environment(sidecar_spec(name), progress=_say)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run([str(python), __file__, *sys.argv[1:]], env=environment, check=False).returncode


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
