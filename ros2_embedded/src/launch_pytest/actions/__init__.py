"""Actions of launch descriptions that are tested."""

from launch_testing.actions import ReadyToTest

__all__ = ["ReadyToTest"]
