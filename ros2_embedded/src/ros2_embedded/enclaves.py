"""Which session file a process uses when ROS 2's variables ask for security.

- `ROS_SECURITY_ENABLE=true`: the session file of an enclave in the keystore `ROS_SECURITY_KEYSTORE` is used.
- `ROS_SECURITY_ENCLAVE_OVERRIDE`, or the argument `--ros-args --enclave /name`: which enclave.
- `ROS_SECURITY_STRATEGY=Enforce`: where there is none, no session is opened; otherwise an open one is, with a
  warning.

`ZENOH_SESSION_CONFIG_URI` comes first.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

URI = "ZENOH_SESSION_CONFIG_URI"
_logger = logging.getLogger("ros2_embedded.session")


class EnclaveError(ValueError):
    """Security is asked for, and there is no enclave to have it with."""


def member_name(path: str) -> str:
    """The name in a keystore of an enclave path of ROS 2: `/arm/talker` is `arm_talker`."""
    return path.strip("/").replace("/", "_")


def secured(environment: Mapping[str, str], enclave: str = "/") -> Mapping[str, str]:
    """The environment, with the session file of the enclave where security is asked for.

    Args:
        environment: of the process.
        enclave: path of the enclave, where the environment does not name one.

    Raises:
        EnclaveError: security is enforced, and there is no such enclave.
    """
    if environment.get("ROS_SECURITY_ENABLE", "") != "true" or environment.get(URI, ""):
        return environment
    path = environment.get("ROS_SECURITY_ENCLAVE_OVERRIDE", "") or enclave
    keystore = environment.get("ROS_SECURITY_KEYSTORE", "")
    file = Path(keystore).expanduser() / "enclaves" / member_name(path) / "session.json5"
    if keystore and member_name(path) and file.is_file():
        return {**environment, URI: str(file)}
    if not keystore:
        why = "ROS_SECURITY_ENABLE=true needs ROS_SECURITY_KEYSTORE, the directory of a keystore"
    elif not member_name(path):
        why = "no enclave is named: pass --ros-args --enclave NAME, or set ROS_SECURITY_ENCLAVE_OVERRIDE"
    else:
        why = f"the keystore {keystore} has no enclave {path}: ros2 security create_enclave {keystore} {path}"
    if environment.get("ROS_SECURITY_STRATEGY", "") == "Enforce":
        raise EnclaveError(f"no session is opened: {why}")
    _logger.warning(f"this session is not secured: {why}")
    return environment
