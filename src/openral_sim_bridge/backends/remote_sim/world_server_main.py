"""The main function of a process that serves worlds on a socket."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Sequence

from openral_core.errors import OpenralError
from openral_sidecar.identity import Identity
from openral_sidecar.server import serve, server_options
from openral_sim_bridge.backends.remote_sim.world_service import RemoteWorld, WorldService

Builder = Callable[[argparse.Namespace], Sequence[RemoteWorld]]
"""Returns the worlds that the arguments describe. Raises OpenralError if they cannot be built."""


def main(name: str, build: Builder, parser: argparse.ArgumentParser) -> int:
    """Build worlds and serve them until the process is stopped; return the exit status, 1 if they cannot be built.

    Args:
        name: of the simulator, as in its spec.
        build: builds the worlds.
        parser: of the command line; see `worlds_parser`.
    """
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    try:
        worlds = build(args)
    except OpenralError as error:
        logging.getLogger(f"openral.{name}").error("%s", error)
        return 1
    size = {"width": args.width, "height": args.height}
    service = WorldService(worlds, render_profile=args.render_profile, **size)
    try:
        serve(service.handlers(), Identity(name, tag=args.control), server_options(args))
    finally:
        service.close()
    return 0
