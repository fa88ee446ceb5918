"""The command line of the server. It does not import torch, so that it can be used outside the sidecar."""

from __future__ import annotations

import argparse
from pathlib import Path

from openral_rskill.nf4.packable_weights import MIN_NUMEL
from openral_sidecar.server import server_arguments


def robometer_parser() -> argparse.ArgumentParser:
    """Return the parser of the server's command line."""
    parser = argparse.ArgumentParser(description="Serves a Robometer checkpoint.")
    parser.add_argument("--checkpoint", type=Path, required=True, help="folder: weights, configs, tokenizer")
    parser.add_argument("--device", default="cpu", help="in torch's words: cpu, cuda, cuda:1")
    parser.add_argument("--quantization", choices=("none", "nf4"), default="nf4")
    parser.add_argument("--min-numel", type=int, default=MIN_NUMEL, help="smallest layer packed in place")
    server_arguments(parser)
    return parser
