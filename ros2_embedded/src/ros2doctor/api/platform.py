"""The machine, and the distribution of ROS 2 that is named or run."""

from __future__ import annotations

import datetime
import os
import platform
import sys

from ..runtime import is_embedded
from . import DoctorCheck, DoctorReport, Report, Result
from .format import doctor_error, doctor_warn

END_OF_LIFE: dict[str, tuple[int, int] | None] = {
    "humble": (2027, 5),
    "iron": (2024, 11),
    "jazzy": (2029, 5),
    "kilted": (2026, 12),
    "lyrical": (2031, 5),
    "rolling": None,
}
"""Year and month after which a distribution gets no mends, of docs.ros.org/en/rolling/Releases.html;
None: there is no such date."""


def distribution_status(name: str, today: datetime.date | None = None) -> str:
    """Return active, rolling, end-of-life or unknown."""
    if name not in END_OF_LIFE:
        return "unknown"
    end, now = END_OF_LIFE[name], today or datetime.date.today()
    if end is None:
        return "rolling"
    return "end-of-life" if (now.year, now.month) > end else "active"


class PlatformCheck(DoctorCheck):
    """The distribution that ROS_DISTRO names is one that gets mends, and the one whose messages are used."""

    def category(self) -> str:
        """Return what it is about."""
        return "platform"

    def check(self) -> Result:
        """Look at ROS_DISTRO."""
        result = Result()
        name = os.environ.get("ROS_DISTRO", "").lower()
        status = distribution_status(name)
        if not name:
            doctor_error("ROS_DISTRO is not set: source the setup file of a ROS 2 installation.")
            result.add_error()
        elif status == "unknown":
            doctor_warn(f"Distribution name {name} is not found; known are {', '.join(END_OF_LIFE)}.")
            result.add_warning()
        elif status == "end-of-life":
            doctor_warn(f"Distribution {name} is no longer supported or deprecated.")
            result.add_warning()
        if is_embedded() and name:
            from ros2_embedded.rosidl.registry import distribution

            if distribution() != name:
                doctor_warn(
                    f"ROS_DISTRO is {name}, and the embedded runtime uses messages of {distribution()}."
                )
                result.add_warning()
        return result


class PlatformReport(DoctorReport):
    """The machine and the interpreter."""

    def category(self) -> str:
        """Return what it is about."""
        return "platform"

    def report(self) -> Report:
        """Return what is known."""
        report = Report("PLATFORM INFORMATION")
        report.add_to_report("system", platform.system())
        report.add_to_report("platform info", platform.platform())
        report.add_to_report("release", platform.release())
        report.add_to_report("processor", platform.processor() or platform.machine())
        report.add_to_report("python", f"{platform.python_version()} ({sys.executable})")
        return report


class RosdistroReport(DoctorReport):
    """The distribution."""

    def category(self) -> str:
        """Return what it is about."""
        return "platform"

    def report(self) -> Report:
        """Return what is known."""
        report = Report("ROS 2 INFORMATION")
        name = os.environ.get("ROS_DISTRO", "").lower()
        end = END_OF_LIFE.get(name)
        report.add_to_report("distribution name", name or "not set")
        report.add_to_report("distribution type", "ros2")
        report.add_to_report("distribution status", distribution_status(name))
        report.add_to_report("supported until", f"{end[0]}-{end[1]:02}" if end else "no date")
        return report
