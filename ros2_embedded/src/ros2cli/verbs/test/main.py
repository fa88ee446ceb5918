"""ros2 test."""

from __future__ import annotations

import argparse
import contextlib
import os

from launch_testing.launch_test import add_arguments as add_launch_test_arguments
from launch_testing.launch_test import run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_launch_test_arguments(parser)
    parser.add_argument(
        "--disable-isolation", action="store_true", help="use the domain of other programs, not one's own"
    )


def main(args: argparse.Namespace) -> int:
    """Run a file of launch tests, in a domain of its own unless ROS_DOMAIN_ID names one."""
    from domain_coordinator import domain_id
    from launch_testing_ros import LaunchTestRunner

    with contextlib.ExitStack() as held:
        if not args.disable_isolation and not os.environ.get("ROS_DOMAIN_ID"):
            os.environ["ROS_DOMAIN_ID"] = str(held.enter_context(domain_id()))
        return run(args, LaunchTestRunner)
