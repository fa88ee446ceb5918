"""LIBERO's process: B worlds behind a socket. `python -m openral_sim_bridge.libero.server`."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable
from pathlib import Path

from openral_core.errors import OpenralError
from openral_core.sidecar.identity import Identity
from openral_core.sidecar.places import cache_home
from openral_core.sidecar.server import serve, server_arguments, server_options
from openral_sim_bridge.libero.service import World, WorldService
from openral_sim_bridge.libero.upstream import prepare


def main(build: Callable[[argparse.Namespace], list[World]] | None = None) -> int:
    """Build worlds (LIBERO's), then serve them until told to stop; 1 when they cannot be built."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assets", type=Path, required=True, help="folder of LIBERO's assets")
    parser.add_argument("--tasks", required=True, help="suite/name, separated by commas")
    parser.add_argument("--num-envs", type=int, default=1)
    parser.add_argument("--width", type=int, default=256, help="[px] of rendered images")
    parser.add_argument("--height", type=int, default=256, help="[px]")
    parser.add_argument("--render-profile", default="published")
    parser.add_argument("--control", choices=["relative", "absolute"], default="relative")
    server_arguments(parser)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    try:
        worlds = (build or build_worlds)(args)
    except OpenralError as error:
        logging.getLogger("openral.libero").error("%s", error)
        return 1
    size = {"width": args.width, "height": args.height}
    service = WorldService(worlds, render_profile=args.render_profile, **size)
    try:
        serve(service.handlers(), Identity("libero", tag=args.control), server_options(args))
    finally:
        service.close()
    return 0


def build_worlds(args: argparse.Namespace) -> list[World]:
    """Return the worlds that the arguments ask for. Raises OpenralError: no such task, or LIBERO is not whole."""
    prepare(args.assets, cache_home() / "libero")
    from openral_sim_bridge.libero.world import LiberoWorld

    tasks = args.tasks.split(",")
    worlds = [LiberoWorld(tasks, absolute=args.control == "absolute") for _ in range(args.num_envs)]
    # The first steps compile the controller (half a minute, once a machine); no client should wait for that.
    worlds[0].reset(tasks[0], 0)
    return list(worlds)


if __name__ == "__main__":
    sys.exit(main())
