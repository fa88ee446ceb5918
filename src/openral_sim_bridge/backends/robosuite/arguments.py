"""The command line of robosuite's process."""

from __future__ import annotations

import argparse

from openral_sim_bridge.backends.remote_sim.arguments import worlds_parser


def robosuite_parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments of robosuite's process."""
    parser = worlds_parser("robosuite")
    parser.add_argument("--robot", default="franka_panda", help="name of the arm's description")
    parser.add_argument(
        "--object-outside", action="store_true", help="cubes begin beside the range of robosuite's own states"
    )
    return parser
