"""Topics that lack a publisher or a subscription, and how many of each there are."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

from ros2cli.node.direct import DirectNode
from ros2topic.api import get_topic_names

from . import DoctorCheck, DoctorReport, Report, Result

_OF_EVERY_NODE = ("/parameter_events", "/rosout")


def _counts() -> Iterator[tuple[str, int, int]]:
    """The topics but those that every node has, each with its number of publishers and subscriptions."""
    with DirectNode(SimpleNamespace()) as node:
        for name in get_topic_names(node=node):
            if name not in _OF_EVERY_NODE:
                yield name, node.count_publishers(name), node.count_subscribers(name)


class TopicCheck(DoctorCheck):
    """Find the topics of which there are more publishers than subscriptions, or fewer."""

    def category(self) -> str:
        """Topics."""
        return "topic"

    def check(self) -> Result:
        """Return a warning for each such topic."""
        result = Result()
        for name, publishers, subscriptions in _counts():
            if publishers > subscriptions:
                result.add_warning(f"Publisher without subscriber detected on {name}.")
            elif publishers < subscriptions:
                result.add_warning(f"Subscriber without publisher detected on {name}.")
        return result


class TopicReport(DoctorReport):
    """List the topics with their numbers of publishers and subscriptions."""

    def category(self) -> str:
        """Topics."""
        return "topic"

    def report(self) -> Report:
        """Return three items for each topic; those of a topic `none` when there is no topic."""
        report = Report("TOPIC LIST")
        for name, publishers, subscriptions in list(_counts()) or [("none", 0, 0)]:
            report.add_to_report("topic", name)
            report.add_to_report("publisher count", publishers)
            report.add_to_report("subscriber count", subscriptions)
        return report
