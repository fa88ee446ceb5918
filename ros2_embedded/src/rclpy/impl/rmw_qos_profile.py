"""The profile as the middleware layer of ROS 2 sees it: what `QoSProfile.get_c_qos_profile` returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rclpy.qos import QoSProfile

_POLICIES = (
    "depth",
    "history",
    "reliability",
    "durability",
    "lifespan",
    "deadline",
    "liveliness",
    "liveliness_lease_duration",
    "avoid_ros_namespace_conventions",
)


class rmw_qos_profile_t:
    """A snapshot of a profile."""

    def __init__(self, profile: QoSProfile) -> None:
        """Copy the policies."""
        self._policies = {name: getattr(profile, name) for name in _POLICIES}

    def to_dict(self) -> dict[str, Any]:
        """The policies by name, so that `QoSProfile(**profile.to_dict())` is the same profile."""
        return dict(self._policies)

    @staticmethod
    def predefined(qos_profile_name: str) -> rmw_qos_profile_t:
        """A profile of `rclpy.qos` by its name there, e.g. `qos_profile_sensor_data`.

        Raises:
            RuntimeError: no such profile.
        """
        from rclpy import qos

        profile = getattr(qos, qos_profile_name, None)
        if not isinstance(profile, qos.QoSProfile):
            raise RuntimeError(f"Requested unknown rmw_qos_profile: {qos_profile_name!r}")
        return profile.get_c_qos_profile()
