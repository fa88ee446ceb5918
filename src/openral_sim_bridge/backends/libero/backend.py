"""LIBERO behind the Backend interface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from openral_sim_bridge.backends.libero.assets import ensure_assets
from openral_sim_bridge.backends.libero.spec import SPEC
from openral_sim_bridge.backends.remote_sim.arm_models import PANDA
from openral_sim_bridge.backends.remote_sim.backend import ArmBackend, open_worlds
from openral_sim_bridge.backends.remote_sim.command_modes import control_of

REPRESENTATIONS = ("delta_ee_6d_plus_gripper", "cartesian_pose")
"""What actions may mean."""


def open_libero(
    task_ids: Sequence[str],
    *,
    representation: str,
    progress: Callable[[str], None] = lambda line: None,
    **options: Any,
) -> ArmBackend:
    """Start a process with LIBERO's worlds.

    Args:
        task_ids: `suite/name`. Initial state i of a task is its i-th stored one, after it settled for half a second.
        representation: of the actions, one of `REPRESENTATIONS`.
        progress: told one line a step while environment and assets are brought.
        options: of `open_worlds`.

    Raises:
        SimulationError: another representation, or the assets are not LIBERO's.
        HubError: the assets could not be fetched.
        OpenralError: as `open_worlds`.
    """
    control = control_of(representation, "libero", REPRESENTATIONS)
    arguments = ["--assets", str(ensure_assets(progress))]
    return open_worlds(SPEC, task_ids, arguments, arm=PANDA, control=control, progress=progress, **options)
