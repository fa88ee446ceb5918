"""Checks of a ROS setup and reports about it, each of a category; other packages add some by entry points.

A check says what is wrong on standard error while it runs (`api.format`) and counts it in its `Result`. The
entry points are of the groups `ros2doctor.checks` and `ros2doctor.report`, as in ROS 2.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from importlib import import_module
from importlib.metadata import entry_points
from typing import TypeVar

from .format import doctor_error, doctor_warn

CHECKS = (
    "platform:PlatformCheck",
    "network:NetworkCheck",
    "package:PackageCheck",
    "rmw:MiddlewareCheck",
    "topic:TopicCheck",
    "qos_compatibility:QoSCompatibilityCheck",
)
REPORTS = (
    "platform:PlatformReport",
    "platform:RosdistroReport",
    "rmw:RMWReport",
    "environment:EnvironmentReport",
    "package:PackageReport",
    "network:NetworkReport",
    "topic:TopicReport",
    "service:ServiceReport",
    "action:ActionReport",
    "qos_compatibility:QoSCompatibilityReport",
)
T = TypeVar("T")
UNSEEN = ("/parameter_events", "/rosout")
"""Topics that every node has; nothing is said of them."""


class DoctorCheck:
    """One check."""

    def category(self) -> str:
        """Return what it is about."""
        raise NotImplementedError

    def check(self) -> Result:
        """Say what is wrong, and return how much."""
        raise NotImplementedError


class DoctorReport:
    """One report."""

    def category(self) -> str:
        """Return what it is about."""
        raise NotImplementedError

    def report(self) -> Report:
        """Return what is known."""
        raise NotImplementedError


class Result:
    """How many errors and warnings a check has found."""

    def __init__(self) -> None:
        self.error = 0
        self.warning = 0

    def add_error(self) -> None:
        """Count an error."""
        self.error += 1

    def add_warning(self) -> None:
        """Count a warning."""
        self.warning += 1


class Report:
    """A headline with named values, in order; a name may occur more than once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.items: list[tuple[str, object]] = []

    def add_to_report(self, item_name: str, item_info: object) -> None:
        """Add a value."""
        self.items.append((item_name, item_info))


def run_checks(
    *, include_warnings: bool = False, exclude_packages: bool = False
) -> tuple[set[str], int, int]:
    """Run all checks and return the categories of those that failed, their number, and the number of checks.

    Args:
        include_warnings: a check with a warning fails, too.
        exclude_packages: leave out the versions of packages.
    """
    failed: set[str] = set()
    failures = total = 0
    for kind in _kinds(DoctorCheck, CHECKS, "ros2doctor.checks"):
        check = kind()
        if exclude_packages and check.category() == "package":
            continue
        total += 1
        try:
            result = check.check()
        except Exception as error:  # noqa: BLE001  whatever is broken here, the other checks tell more about it
            doctor_error(f"{kind.__name__} could not be made: {error}")
            result = Result()
            result.add_error()
        if result.error or (include_warnings and result.warning):
            failures += 1
            failed.add(check.category())
    return failed, failures, total


def generate_reports(
    *, categories: Collection[str] | None = None, exclude_packages: bool = False
) -> list[Report]:
    """Return the reports of some categories, or of all."""
    made = [kind() for kind in _kinds(DoctorReport, REPORTS, "ros2doctor.report")]
    chosen = [each for each in made if categories is None or each.category() in categories]
    return [_made(each) for each in chosen if not (exclude_packages and each.category() == "package")]


def get_topic_names(skip_topics: Collection[str] = UNSEEN) -> list[str]:
    """Return the topics of the graph, without hidden ones and those of `skip_topics`."""
    from ros2cli.node.strategy import NodeStrategy
    from ros2topic.api import get_topic_names as topics_of

    with NodeStrategy(None) as node:
        return [name for name in topics_of(node=node) if name not in skip_topics]


def _made(report: DoctorReport) -> Report:
    try:
        return report.report()
    except Exception as error:  # noqa: BLE001  as in run_checks
        empty = Report(type(report).__name__)
        empty.add_to_report("error", error)
        return empty


def _kinds(base: type[T], own: tuple[str, ...], group: str) -> Iterator[type[T]]:
    """Yield the classes of this package, then those of others; one that is not to be had is left out.

    Each is imported when it is its turn: where rclpy cannot be imported, the checks before it have spoken.
    """
    for name in own:
        module, _, kind = name.partition(":")
        yield getattr(import_module(f"{__name__}.{module}"), kind)
    for entry in entry_points(group=group):
        try:
            kind = entry.load()
        except (ImportError, AttributeError) as error:
            doctor_warn(f"{entry.value} of {group} cannot be loaded: {error}")
            continue
        if isinstance(kind, type) and issubclass(kind, base):
            yield kind
        else:
            doctor_warn(f"{entry.value} of {group} is no {base.__name__}")
