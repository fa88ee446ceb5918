"""Sends MuJoCo's warnings to `logging` in place of a file MUJOCO_LOG.TXT in the working directory."""

from __future__ import annotations

import logging

import mujoco

_log = logging.getLogger("openral_sim_bridge.mujoco")


def log_warnings() -> None:
    """Send MuJoCo's warnings in this process to `logging` from now on; repeated calls do no harm."""
    mujoco.set_mju_user_warning(_log.warning)
