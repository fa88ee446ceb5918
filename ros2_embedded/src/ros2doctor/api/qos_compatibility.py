"""Publishers and subscriptions of one topic whose profiles keep them apart."""

from __future__ import annotations

from rclpy.qos import QoSCompatibility, qos_check_compatible
from ros2cli.node.strategy import NodeStrategy

from . import DoctorCheck, DoctorReport, Report, Result, get_topic_names
from .format import doctor_error, doctor_warn

Pair = tuple[str, str, str, str, QoSCompatibility, str]
"""Topic, its type, node of the publisher, node of the subscription, whether they fit, and why not."""


class QoSCompatibilityCheck(DoctorCheck):
    """Every pair fits."""

    def category(self) -> str:
        """Return what it is about."""
        return "middleware"

    def check(self) -> Result:
        """Compare the profiles of each pair, by the rules of the middleware."""
        result = Result()
        for topic, _, _, _, fit, reason in _pairs():
            if fit == QoSCompatibility.WARNING:
                doctor_warn(f"QoS compatibility warning found on topic '{topic}': {reason}")
                result.add_warning()
            elif fit == QoSCompatibility.ERROR:
                doctor_error(f"QoS compatibility error found on topic '{topic}': {reason}")
                result.add_error()
        return result


class QoSCompatibilityReport(DoctorReport):
    """The pairs."""

    def category(self) -> str:
        """Return what it is about."""
        return "middleware"

    def report(self) -> Report:
        """Return what is known."""
        report = Report("QOS COMPATIBILITY LIST")
        for topic, kind, publisher, subscriber, fit, reason in _pairs():
            report.add_to_report("topic [type]", f"{topic} [{kind}]")
            report.add_to_report("publisher node", publisher)
            report.add_to_report("subscriber node", subscriber)
            report.add_to_report("compatibility status", "OK" if fit == QoSCompatibility.OK else reason)
        if not report.items:
            report.add_to_report("compatibility status", "No publisher/subscriber pairs found")
        return report


def _pairs() -> list[Pair]:
    pairs: list[Pair] = []
    topics = get_topic_names()
    with NodeStrategy(None) as node:
        for topic in topics:
            subscriptions = node.get_subscriptions_info_by_topic(topic)
            for publisher in node.get_publishers_info_by_topic(topic):
                for subscription in subscriptions:
                    fit, reason = qos_check_compatible(publisher.qos_profile, subscription.qos_profile)
                    ends = (publisher.node_name, subscription.node_name)
                    pairs.append((topic, publisher.topic_type, *ends, fit, reason.strip()))
    return pairs
