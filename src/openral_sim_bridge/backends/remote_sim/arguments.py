"""The command line of a process with worlds; it imports no simulator, so that it is usable before one is installed."""

from __future__ import annotations

import argparse
from typing import get_args

from openral_sidecar.server import server_arguments
from openral_sim_bridge.backends.remote_sim.command_modes import ControlName


def worlds_parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of the arguments of every such process; `name` is the simulator's, as in its spec."""
    parser = argparse.ArgumentParser(description=f"{name}'s worlds behind a socket")
    parser.add_argument("--tasks", required=True, help="separated by commas")
    parser.add_argument("--num-envs", type=int, default=1)
    parser.add_argument("--width", type=int, default=256, help="[px] of rendered images")
    parser.add_argument("--height", type=int, default=256, help="[px]")
    parser.add_argument("--render-profile", default="published")
    parser.add_argument("--control", choices=get_args(ControlName), default="relative")
    server_arguments(parser)
    return parser
