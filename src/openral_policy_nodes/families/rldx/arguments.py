"""The command line that the real server and the conformance server share. Runs in the sidecar's interpreter."""

from __future__ import annotations

import argparse
from pathlib import Path

from openral_sidecar.identity import Identity
from openral_sidecar.server import server_arguments

QUANTIZATIONS = ("none", "nf4")
DEFAULT_TAG = "GENERAL_EMBODIMENT"
"""The tag that fine-tuned checkpoints register; a wrong one is a KeyError at best (embodiment_id.json)."""


def rldx_parser(
    description: str = "Serves an RLDX-1 checkpoint with upstream's own code.",
) -> argparse.ArgumentParser:
    """Return a parser of what every RLDX-1 server is started with."""
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
    """Return the arguments with which a server becomes `identity`."""
    words = ["--model", identity.model, "--embodiment-tag", identity.tag, "--device", device]
    words += ["--quantization", identity.quantization]
    return [*words, "--revision", identity.revision] if identity.revision else words


def identity_of(args: argparse.Namespace) -> Identity:
    """Return who a server with these arguments is."""
    return Identity(args.model, args.embodiment_tag, args.quantization, args.revision)
