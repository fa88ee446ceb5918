"""Actions of test descriptions."""

from .ready import ReadyToTest
from .test import GTest, PyTest, Test

__all__ = ["GTest", "PyTest", "ReadyToTest", "Test"]
