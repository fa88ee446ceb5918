"""The runner of launch tests with ROS."""

from __future__ import annotations

from launch_testing.test_runner import LaunchTestRunner as _LaunchTestRunner


class LaunchTestRunner(_LaunchTestRunner):
    """As that of `launch_testing`: the actions of `launch_ros` need no preparation."""
