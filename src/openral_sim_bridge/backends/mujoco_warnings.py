"""MuJoCo's warnings go where ours go, and not into a MUJOCO_LOG.TXT in whatever folder the process was started in."""

from __future__ import annotations

import logging

import mujoco

_log = logging.getLogger("openral_sim_bridge.mujoco")


def log_warnings() -> None:
    """Hand MuJoCo's warnings to `logging`, in this process and from now on; may be called again."""
    mujoco.set_mju_user_warning(_log.warning)
