"""Serves one OpenVLA-OFT checkpoint, by `python -m` with `--checkpoint FOLDER`.

Runs in the interpreter of the sidecar `openvla_oft`. Operations besides the built-in ones:

- `predict`: images (B, N, S, S, 3) uint8, state (B, D) float32, instructions [B strings], episodes [B strings or none]
  -> chunk (B, H, A) float32.
- `reset`: episodes [strings] -> nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openral_core.errors import OpenralError
from openral_policy_nodes.families.openvla_oft.checkpoint import read_checkpoint
from openral_policy_nodes.families.openvla_oft.identity import identity_of
from openral_policy_nodes.families.openvla_oft.settings import add_arguments, settings_of
from openral_rskill.nf4.packable_weights import MIN_NUMEL
from openral_sidecar.environment.torchvision_shim import ensure_torchvision
from openral_sidecar.errors import SidecarRefused
from openral_sidecar.server import serve, server_arguments, server_options

if TYPE_CHECKING:
    from openral_policy_nodes.families.openvla_oft.model import OpenVLAOFTModel


def handlers(model: OpenVLAOFTModel) -> dict[str, Any]:
    """Return the operations of a loaded model."""

    def predict(data: dict[str, Any]) -> dict[str, Any]:
        instructions = data.get("instructions")
        if (
            not isinstance(instructions, list)
            or not instructions
            or not all(isinstance(s, str) for s in instructions)
        ):
            raise SidecarRefused("bad_request", "instructions must be a list of strings that is not empty")
        size, states = model.checkpoint.image_size, len(model.proprio.low) if model.proprio else None
        _check(
            "images", data.get("images"), np.uint8, (len(instructions), model.settings.cameras, size, size, 3)
        )
        _check("state", data.get("state"), np.float32, (len(instructions), states))
        episodes = data.get("episodes") or []
        return {"chunk": model.predict(data["images"], data["state"], instructions, episodes)}

    def reset(data: dict[str, Any]) -> dict[str, Any]:
        model.reset(data.get("episodes") or [])
        return {}

    return {"predict": predict, "reset": reset}


def describe(model: OpenVLAOFTModel) -> dict[str, Any]:
    """Return the description of a loaded model for clients."""
    return {
        "image_size": model.checkpoint.image_size,
        "action": len(model.action.low),
        "state": len(model.proprio.low) if model.proprio else 0,
        "rows": model.settings.rows,
        "packed_modules": len(model.packed),
    }


def _check(name: str, value: Any, dtype: type, shape: tuple[int | None, ...]) -> None:
    if isinstance(value, np.ndarray) and value.dtype == dtype and value.ndim == len(shape):
        sides = zip(value.shape, shape, strict=True)
        if all(wanted in (None, side) for side, wanted in sides):
            return
    found = f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
    raise SidecarRefused("bad_request", f"{name} is {found}, the policy takes {np.dtype(dtype).name} {shape}")


def openvla_parser() -> argparse.ArgumentParser:
    """Return the parser of the server's arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--checkpoint", type=Path, required=True, help="folder with config.json and model*.safetensors"
    )
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1")
    parser.add_argument(
        "--dtype", default="bf16", choices=("fp32", "bf16", "fp16", "int4"), help="of the weights; int4: NF4"
    )
    parser.add_argument("--min-numel", type=int, default=MIN_NUMEL, help="smallest layer packed by int4")
    add_arguments(parser)
    server_arguments(parser)
    return parser


def main() -> None:
    """Load the checkpoint and serve it until asked to stop."""
    parser = openvla_parser()
    arguments = parser.parse_args()
    try:
        options, settings = server_options(arguments), settings_of(arguments)
        checkpoint = read_checkpoint(arguments.checkpoint.absolute())
        ensure_torchvision()  # before timm imports it
        from openral_policy_nodes.families.openvla_oft.model import OpenVLAOFTModel

        model = OpenVLAOFTModel(checkpoint, settings, arguments.device, arguments.dtype, arguments.min_numel)
    except OpenralError as error:
        parser.exit(1, f"{error}\n")
    identity = identity_of(checkpoint, settings, arguments.dtype)
    serve(handlers(model), identity, options, describe=lambda: describe(model))


if __name__ == "__main__":
    main()
