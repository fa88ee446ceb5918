"""What a fixture returned, as something to launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from launch import LaunchDescription
from launch_testing.actions import ReadyToTest
from launch_testing.loader import ready_actions


def described_by(name: str, value: Any) -> list[LaunchDescription]:
    """The descriptions to launch one after the other: the fixture's, and one that lets the tests begin if it
    does not.

    Args:
        name: of the fixture.
        value: what it returned.
    """
    first = value[0] if isinstance(value, Sequence) and value else value
    if not isinstance(first, LaunchDescription):
        told = f"{type(value).__name__}" + (f" of {type(first).__name__}" if first is not value else "")
        pytest.fail(
            f"launch fixture '{name}' must be either a launch description or a sequence that begins with "
            f"one, but it returned: {told}",
            pytrace=False,
        )
    known = len(ready_actions(first))
    if known > 1:
        pytest.fail(
            f"launch fixture '{name}' may have only one ReadyToTest action, but it has {known}", pytrace=False
        )
    return [first] if known else [first, LaunchDescription([ReadyToTest()])]
