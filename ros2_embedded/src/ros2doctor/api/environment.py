"""The variables that change how ROS 2 works."""

from __future__ import annotations

import os
import shutil
import sys

from . import DoctorReport, Report

PREFIXES = ("AMENT_", "COLCON_", "FASTRTPS_", "CYCLONEDDS_", "RCUTILS_", "RMW_", "ROS_", "ZENOH_")


class EnvironmentReport(DoctorReport):
    """All of them that are set, and another `ros2` that the shell could find."""

    def category(self) -> str:
        """Return what it is about."""
        return "environment"

    def report(self) -> Report:
        """Return what is known."""
        report = Report("ROS ENVIRONMENT")
        for name in sorted(os.environ):
            if name.startswith(PREFIXES):
                report.add_to_report(name, _shown(os.environ[name]))
        report.add_to_report("other ros2 on PATH", ", ".join(_other_commands()) or "none")
        return report


def _shown(value: str) -> str:
    """Return a value, or that it holds a secret: reports are shown to others."""
    return "set, and not shown: it holds a password" if "password" in value.lower() else value


def _other_commands() -> list[str]:
    own = os.path.realpath(sys.argv[0])
    folders = os.environ.get("PATH", "").split(os.pathsep)
    found = (shutil.which("ros2", path=folder) for folder in folders if folder)
    return sorted({path for path in found if path is not None and os.path.realpath(path) != own})
