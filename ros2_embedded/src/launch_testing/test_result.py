"""What comes out of tests."""

from __future__ import annotations

import sys
import time
import unittest
from typing import Any


class TestResult(unittest.TextTestResult):
    """Tells of each test as it ends, and remembers how long each took."""

    __test__ = False  # no test case of pytest

    def __init__(self) -> None:
        from unittest.runner import _WritelnDecorator

        super().__init__(_WritelnDecorator(sys.stderr), True, 2)
        self.durations: dict[str, float] = {}
        """[s] by the full name of a test."""
        self._began = 0.0
        self._first = time.monotonic()

    def begin_anew(self) -> None:
        """Let another suite run into the same result: no class is left whose end is to come."""
        self._previousTestClass = None

    def startTest(self, test: unittest.TestCase) -> None:
        """Note when it begins."""
        self._began = time.monotonic()
        super().startTest(test)

    def stopTest(self, test: unittest.TestCase) -> None:
        """Note when it ends."""
        self.durations[test.id()] = time.monotonic() - self._began
        super().stopTest(test)

    def finish(self) -> None:
        """Print the failures, and how it went on the whole."""
        self.printErrors()
        verdict = "OK" if self.wasSuccessful() else "FAILED"
        taken = time.monotonic() - self._first
        sys.stderr.write(f"\n{'-' * 70}\nRan {self.testsRun} tests in {taken:.3f}s\n\n{verdict}\n")


class FailResult(unittest.TestResult):
    """A launch that came to nothing."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason
        sys.stderr.write(f"\n{reason}\n\nFAILED\n")

    def wasSuccessful(self) -> bool:
        """Return False."""
        return False


def failures_of(result: unittest.TestResult) -> list[tuple[str, str]]:
    """The name of each test that failed, and how."""
    if isinstance(result, FailResult):
        return [("launch", result.reason)]
    unexpected: list[tuple[Any, str]] = [(test, "succeeded") for test in result.unexpectedSuccesses]
    failed: list[tuple[Any, str]] = [*result.errors, *result.failures, *unexpected]
    return [(test.id(), told) for test, told in failed]
