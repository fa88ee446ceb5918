"""The command line of LIBERO's process."""

from __future__ import annotations

import argparse
from pathlib import Path

from openral_sim_bridge.backends.remote_sim.arguments import worlds_parser


def libero_parser(name: str = "libero") -> argparse.ArgumentParser:
    """Return the parser of the arguments of LIBERO's process."""
    parser = worlds_parser(name)
    parser.add_argument("--assets", type=Path, required=True, help="folder of LIBERO's assets")
    return parser
