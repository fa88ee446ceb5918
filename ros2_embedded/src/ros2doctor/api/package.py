"""Versions: of the distributions that the embedded runtime needs, against its bounds, and of ROS packages."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree as ET

from ament_index_python import get_packages_with_prefixes

from ..runtime import is_embedded
from . import DoctorCheck, DoctorReport, Report, Result
from .format import doctor_error

DISTRIBUTION = "ros2-embedded"
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*([^;]*)")
_BOUND = re.compile(r"(>=|<=|==|!=|<|>)\s*([0-9.]+)")
_COMPARE = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}


def requirements() -> Iterator[tuple[str, str]]:
    """Yield name and bounds of what ros2-embedded asks for, such as `eclipse-zenoh`, `<2,>=1.10`."""
    for line in metadata.requires(DISTRIBUTION) or ():
        found = _REQUIREMENT.match(line)
        if found is not None and "extra ==" not in line:
            yield found[1], found[2].strip()


def ros_packages() -> Iterator[tuple[str, str]]:
    """Yield name and version of each package of the ament index whose manifest can be read."""
    for name, prefix in sorted(get_packages_with_prefixes().items()):
        try:
            version = ET.parse(Path(prefix) / "share" / name / "package.xml").getroot().findtext("version")
        except (OSError, ET.ParseError, LookupError, ValueError):
            continue  # packages of the embedded runtime have the version of its distribution
        yield name, (version or "unknown").strip()


def installed(name: str) -> str:
    """Return the version of a distribution, or nothing."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def fits(version: str, bounds: str) -> bool:
    """Whether a version is within bounds; its numbers count, not what stands behind them."""
    return all(_COMPARE[sign](*_padded(version, bound)) for sign, bound in _BOUND.findall(bounds))


def _padded(one: str, other: str) -> tuple[list[int], list[int]]:
    numbers = [
        [int(part) for part in re.findall(r"\d+", re.split(r"[^0-9.]", text)[0])] for text in (one, other)
    ]
    longest = max(map(len, numbers))
    first, second = ([*each, *[0] * (longest - len(each))] for each in numbers)
    return first, second


class PackageCheck(DoctorCheck):
    """Every distribution is there, in a version that fits; no index in the network is asked."""

    def category(self) -> str:
        """Return what it is about."""
        return "package"

    def check(self) -> Result:
        """Compare; of a ROS 2 installation, whose own package manager sees to that, nothing is."""
        result = Result()
        if not is_embedded():
            return result
        if not installed(DISTRIBUTION):
            doctor_error(f"{DISTRIBUTION} is used, but not installed: pip install {DISTRIBUTION}")
            result.add_error()
            return result
        for name, bounds in requirements():
            version = installed(name)
            if not version or not fits(version, bounds):
                has = f"is {version}" if version else "is not installed"
                doctor_error(f"{name} {has}, and {DISTRIBUTION} needs {bounds}: pip install '{name}{bounds}'")
                result.add_error()
        return result


class PackageReport(DoctorReport):
    """The versions."""

    def category(self) -> str:
        """Return what it is about."""
        return "package"

    def report(self) -> Report:
        """Return what is known."""
        report = Report("PACKAGE VERSIONS")
        report.add_to_report(DISTRIBUTION, f"local={installed(DISTRIBUTION) or 'not installed'}")
        if installed(DISTRIBUTION):
            for name, bounds in requirements():
                report.add_to_report(name, f"required={bounds}, local={installed(name) or 'not installed'}")
        for name, version in ros_packages():
            report.add_to_report(name, f"local={version}")
        return report
