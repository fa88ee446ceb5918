"""Command line of the RLDX-1 server and of the conformance server. Runs in the sidecar's interpreter."""

from __future__ import annotations

import argparse
from pathlib import Path

from openral_sidecar.identity import Identity
from openral_sidecar.server import server_arguments

QUANTIZATIONS = ("none", "nf4")
DEFAULT_TAG = "GENERAL_EMBODIMENT"
"""Embodiment tag of fine-tuned checkpoints in their embodiment_id.json; another one there is usually a KeyError."""


def rldx_parser(
    description: str = "Serves an RLDX-1 checkpoint with upstream's own code.",
) -> argparse.ArgumentParser:
    """Return the parser of the arguments of an RLDX-1 server."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--model", required=True, help="hub id or folder of the checkpoint")
    parser.add_argument("--checkpoint", type=Path, help="folder of that checkpoint on this machine")
    parser.add_argument("--embodiment-tag", default=DEFAULT_TAG, help="name of upstream's EmbodimentTag")
    parser.add_argument("--quantization", choices=QUANTIZATIONS, default="none", help="of the backbone")
    parser.add_argument("--revision", default="", help="commit of the checkpoint on the hub")
    parser.add_argument("--device", default="cuda", help="in torch's words")
    server_arguments(parser)
    return parser


def rldx_arguments(identity: Identity, device: str) -> list[str]:
    """Return the arguments that start a server with this identity on a torch device."""
    words = ["--model", identity.model, "--embodiment-tag", identity.tag, "--device", device]
    words += ["--quantization", identity.quantization]
    return [*words, "--revision", identity.revision] if identity.revision else words


def identity_of(args: argparse.Namespace) -> Identity:
    """Return the identity of a server with these arguments."""
    return Identity(args.model, args.embodiment_tag, args.quantization, args.revision)
