"""The actions of the graph."""

from __future__ import annotations

from ros2action.api import get_action_clients_and_servers, get_action_names
from ros2cli.node.strategy import NodeStrategy

from . import DoctorReport, Report


class ActionReport(DoctorReport):
    """Each with the number of its servers and clients."""

    def category(self) -> str:
        """Return what it is about."""
        return "action"

    def report(self) -> Report:
        """Return what is known."""
        report = Report("ACTION LIST")
        with NodeStrategy(None) as node:
            found = {
                name: get_action_clients_and_servers(node=node, action_name=name)
                for name in get_action_names(node=node)
            }
        rows = [(name, len(servers), len(clients)) for name, (clients, servers) in found.items()]
        for name, servers_count, clients_count in rows or [("none", 0, 0)]:
            report.add_to_report("action", name)
            report.add_to_report("action server count", servers_count)
            report.add_to_report("action client count", clients_count)
        return report
