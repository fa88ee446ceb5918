"""To belong to a Ray cluster, which others keep running."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import ray
from ray.exceptions import RayError

from openral_core.errors import InstallationError

JOIN_TRIES = "RAY_gcs_server_port_wait_time_s", "2"
"""How often Ray tries to reach a cluster's head, unless the user says; a try takes 40 s, and Ray would make twenty."""


def join(cluster: str, key: str) -> bool:
    """Join a cluster, unless this process belongs to one; return whether it joined now, and has to leave.

    Args:
        cluster: `auto`, the one that this machine belongs to, or RAY_ADDRESS names; or an address.
        key: option or key that named it.

    Raises:
        InstallationError: no such cluster answers.
    """
    if ray.is_initialized():
        return False
    address = os.environ.get("RAY_ADDRESS", "auto") if cluster == "auto" else cluster
    os.environ.setdefault(*JOIN_TRIES)
    try:
        ray.init(address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise InstallationError(
            f"{key} {cluster}: no Ray cluster answers at {address} ({str(error).splitlines()[0]}); start one with "
            "`ray start --head`, and on loopback alone with `--node-ip-address 127.0.0.2`: who asks for 127.0.0.1 is "
            "sent to the machine's own address"
        ) from error
    return True


def kill(actor: Any) -> None:
    """End an actor, whatever it does; one that is gone already is no error."""
    with contextlib.suppress(RayError, ValueError):
        ray.kill(actor)
