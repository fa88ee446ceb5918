"""Serves one LeRobot checkpoint: `python -m openral_policy_nodes.families.lerobot.server --checkpoint FOLDER --port P`.

Runs in the interpreter of the sidecar `lerobot`. Operations besides the built-in ones:

- `predict`: images {name: (B, H, W, 3) or (B, T, H, W, 3) uint8}, state (B, D) or (B, T, D) float32, instructions
  [B strings], episodes [B strings or none] -> chunk (B, H, A) float32.
- `reset`: episodes [strings] -> nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openral_core.errors import OpenralError
from openral_policy_nodes.families.lerobot.checkpoint import read_checkpoint
from openral_policy_nodes.families.lerobot.identity import identity_of
from openral_sidecar.environment.checkpoint_code import refuse_checkpoint_code
from openral_sidecar.environment.torchvision_shim import ensure_torchvision
from openral_sidecar.errors import SidecarRefused
from openral_sidecar.server import serve, server_arguments, server_options

if TYPE_CHECKING:
    from openral_policy_nodes.families.lerobot.model import LeRobotModel


def handlers(model: LeRobotModel) -> dict[str, Any]:
    """Return the operations of a loaded model."""

    def predict(data: dict[str, Any]) -> dict[str, Any]:
        fault = model.features.fault(data)
        if fault:
            raise SidecarRefused("bad_request", fault)
        state = data["state"] if model.features.state else None
        episodes = data.get("episodes") or []
        return {"chunk": model.predict(data["images"], state, data["instructions"], episodes)}

    def reset(data: dict[str, Any]) -> dict[str, Any]:
        model.reset(data.get("episodes") or [])
        return {}

    return {"predict": predict, "reset": reset}


def lerobot_parser() -> argparse.ArgumentParser:
    """Return the parser of the server's arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--checkpoint", type=Path, required=True, help="folder with config.json and model.safetensors"
    )
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1")
    parser.add_argument(
        "--dtype", default="fp32", choices=("fp32", "bf16", "fp16"), help="of the matrix products"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the noise that sampling begins with")
    parser.add_argument(
        "--absent-camera",
        action="append",
        default=[],
        help="input that the checkpoint names and was trained without",
    )
    server_arguments(parser)
    return parser


def main() -> None:
    """Load the checkpoint and serve it until asked to stop."""
    parser = lerobot_parser()
    arguments = parser.parse_args()
    try:
        options = server_options(arguments)
        checkpoint = read_checkpoint(arguments.checkpoint.absolute())
        ensure_torchvision()  # before lerobot imports it
        refuse_checkpoint_code()
        from openral_policy_nodes.families.lerobot.model import LeRobotModel

        model = LeRobotModel(
            checkpoint, arguments.device, arguments.dtype, arguments.seed, arguments.absent_camera
        )
    except OpenralError as error:
        parser.exit(1, f"{error}\n")
    identity = identity_of(checkpoint, arguments.dtype)
    serve(handlers(model), identity, options, describe=model.features.to_wire)


if __name__ == "__main__":
    main()
