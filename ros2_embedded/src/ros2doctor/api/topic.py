"""Topics that somebody publishes and nobody hears, or the other way round."""

from __future__ import annotations

from ros2cli.node.strategy import NodeStrategy

from . import DoctorCheck, DoctorReport, Report, Result, get_topic_names
from .format import doctor_warn


class TopicCheck(DoctorCheck):
    """Every topic has publishers and subscriptions."""

    def category(self) -> str:
        """Return what it is about."""
        return "topic"

    def check(self) -> Result:
        """Count the ends of each topic."""
        result = Result()
        for topic, publishers, subscriptions in _counts():
            if publishers and not subscriptions:
                doctor_warn(f"Publisher without subscriber detected on {topic}.")
                result.add_warning()
            elif subscriptions and not publishers:
                doctor_warn(f"Subscriber without publisher detected on {topic}.")
                result.add_warning()
        return result


class TopicReport(DoctorReport):
    """The topics with their ends."""

    def category(self) -> str:
        """Return what it is about."""
        return "topic"

    def report(self) -> Report:
        """Return what is known."""
        report = Report("TOPIC LIST")
        for topic, publishers, subscriptions in _counts() or [("none", 0, 0)]:
            report.add_to_report("topic", topic)
            report.add_to_report("publisher count", publishers)
            report.add_to_report("subscriber count", subscriptions)
        return report


def _counts() -> list[tuple[str, int, int]]:
    """Return each topic with how many publish and hear it."""
    topics = get_topic_names()
    with NodeStrategy(None) as node:
        return [(topic, node.count_publishers(topic), node.count_subscribers(topic)) for topic in topics]
