"""The process of LIBERO's worlds: `python -m openral_sim_bridge.backends.libero.server`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from openral_core.files.cache import cache_home
from openral_sim_bridge.backends.libero.arguments import libero_parser
from openral_sim_bridge.backends.libero.upstream import prepare
from openral_sim_bridge.backends.remote_sim.command_modes import named_control
from openral_sim_bridge.backends.remote_sim.world_server_main import main
from openral_sim_bridge.backends.remote_sim.world_service import RemoteWorld


def build_worlds(args: argparse.Namespace) -> Sequence[RemoteWorld]:
    """Return the worlds. Raises OpenralError if there is no such task, or LIBERO's installation is incomplete."""
    prepare(args.assets, cache_home() / "libero")
    from openral_sim_bridge.backends.libero.world import LiberoWorld

    tasks, control = args.tasks.split(","), named_control(args.control)
    worlds = [LiberoWorld(tasks, control=control) for _ in range(args.num_envs)]
    # The first steps compile the controller (half a minute, once per machine); no client should wait for that.
    worlds[0].reset(tasks[0], 0)
    return worlds


if __name__ == "__main__":
    sys.exit(main("libero", build_worlds, libero_parser()))
