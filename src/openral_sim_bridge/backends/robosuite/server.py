"""The process of robosuite's worlds: `python -m openral_sim_bridge.backends.robosuite.server`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from openral_core.files.cache import cache_home
from openral_sim_bridge.backends.remote_sim.arm_models import arm_of
from openral_sim_bridge.backends.remote_sim.command_modes import named_control
from openral_sim_bridge.backends.remote_sim.world_server_main import main
from openral_sim_bridge.backends.remote_sim.world_service import RemoteWorld
from openral_sim_bridge.backends.robosuite.arguments import robosuite_parser


def build_worlds(args: argparse.Namespace) -> Sequence[RemoteWorld]:
    """Return the worlds. Raises NotFoundError if there is no such task or arm."""
    os.environ["NUMBA_CACHE_DIR"] = str(
        cache_home() / "robosuite" / "numba"
    )  # by default it writes to site-packages
    from openral_sim_bridge.backends.robosuite.world import RobosuiteWorld

    tasks, arm, control = args.tasks.split(","), arm_of(args.robot), named_control(args.control)
    worlds = [
        RobosuiteWorld(tasks, arm, control, object_outside=args.object_outside) for _ in range(args.num_envs)
    ]
    worlds[0].warm_up()
    return worlds


if __name__ == "__main__":
    sys.exit(main("robosuite", build_worlds, robosuite_parser()))
