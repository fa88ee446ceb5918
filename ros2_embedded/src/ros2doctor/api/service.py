"""The services of the graph."""

from __future__ import annotations

from ros2cli.node.strategy import NodeStrategy
from ros2service.api import get_service_names

from . import DoctorReport, Report


class ServiceReport(DoctorReport):
    """Each with the number of its servers and clients."""

    def category(self) -> str:
        """Return what it is about."""
        return "service"

    def report(self) -> Report:
        """Return what is known."""
        report = Report("SERVICE LIST")
        with NodeStrategy(None) as node:
            rows = [
                (name, node.count_services(name), node.count_clients(name))
                for name in get_service_names(node=node)
            ]
        for name, servers, clients in rows or [("none", 0, 0)]:
            report.add_to_report("service", name)
            report.add_to_report("service count", servers)
            report.add_to_report("client count", clients)
        return report
