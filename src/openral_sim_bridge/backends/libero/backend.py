"""The Backend of LIBERO's tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from openral_sim_bridge.backends.libero.assets import ensure_assets
from openral_sim_bridge.backends.libero.spec import SPEC
from openral_sim_bridge.backends.remote_sim.arm_models import PANDA
from openral_sim_bridge.backends.remote_sim.backend import ArmBackend, open_worlds
from openral_sim_bridge.backends.remote_sim.command_modes import control_of

REPRESENTATIONS = ("delta_ee_6d_plus_gripper", "cartesian_pose")
"""Supported actions: displacements or absolute poses of the hand."""


def open_libero(
    task_ids: Sequence[str],
    *,
    representation: str,
    progress: Callable[[str], None] = lambda line: None,
    **options: Any,
) -> ArmBackend:
    """Start a process with LIBERO's worlds.

    Args:
        task_ids: `suite/name`. Initial state i of a task is its i-th stored one, after 0.5 s of settling.
        representation: of the actions, one of `REPRESENTATIONS`.
        progress: called with one line for each stage of installing the environment and the assets.
        options: of `open_worlds`.

    Raises:
        SimulationError: the representation is not supported, or the assets are not LIBERO's.
        HubError: the assets could not be downloaded.
        OpenralError: as in `open_worlds`.
    """
    control = control_of(representation, "libero", REPRESENTATIONS)
    arguments = ["--assets", str(ensure_assets(progress))]
    return open_worlds(SPEC, task_ids, arguments, arm=PANDA, control=control, progress=progress, **options)
