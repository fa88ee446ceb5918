"""Keystores for ROS over Zenoh: certificates, encrypted sessions and access control.

    python -m ros2_embedded.security create KEYSTORE
    python -m ros2_embedded.security add KEYSTORE robot --listen 192.168.1.5
    python -m ros2_embedded.security add KEYSTORE operator --listen 192.168.1.9 --connect 192.168.1.5
    python -m ros2_embedded.security policy KEYSTORE policy.yaml

A process joins with `ZENOH_SESSION_CONFIG_URI=KEYSTORE/enclaves/robot/session.json5`.
"""

from __future__ import annotations

from ros2_embedded.security.access import PolicyError, access_control, read_policy
from ros2_embedded.security.errors import KeystoreError
from ros2_embedded.security.keystore import Keystore

__all__ = ["Keystore", "KeystoreError", "PolicyError", "access_control", "read_policy"]
