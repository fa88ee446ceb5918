"""The middleware: whether nodes can be made, find each other, and reach the router that is asked for."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

from ament_index_python import get_resources

from ..runtime import is_embedded, rclpy_origin
from . import DoctorCheck, DoctorReport, Report, Result
from .format import doctor_error, doctor_warn

CONNECT_S = 0.5
"""[s] wall time that a router has to take a connection."""


class MiddlewareCheck(DoctorCheck):
    """The parts of a node's way to others, one after the other; the first that is broken is named."""

    def category(self) -> str:
        """Return what it is about."""
        return "middleware"

    def check(self) -> Result:
        """Look at messages, sockets, routers and the graph."""
        result = Result()
        faults = [fault for fault in (_messages(), _embedded() if is_embedded() else _installed()) if fault]
        if not faults:
            faults = [fault for fault in (_graph(),) if fault]
        for fault in faults:
            doctor_error(fault)
            result.add_error()
        if not faults and is_embedded():
            for endpoint in routers():
                if not answers(endpoint):
                    doctor_warn(
                        f"No router answers at {endpoint}: whoever is behind it is not seen. "
                        "Start one with `python -m ros2_embedded.router`, or correct the address."
                    )
                    result.add_warning()
        return result


class RMWReport(DoctorReport):
    """Which runtime it is, and how it reaches others."""

    def category(self) -> str:
        """Return what it is about."""
        return "middleware"

    def report(self) -> Report:
        """Return what is known."""
        from rclpy.utilities import get_rmw_implementation_identifier

        report = Report("RMW MIDDLEWARE")
        report.add_to_report("middleware name", get_rmw_implementation_identifier())
        runtime = "embedded (ros2-embedded over Zenoh)" if is_embedded() else "ROS 2"
        report.add_to_report("runtime", runtime)
        report.add_to_report("rclpy", rclpy_origin())
        report.add_to_report("domain", os.environ.get("ROS_DOMAIN_ID") or "0")
        if is_embedded():
            from ros2_embedded.session_config import SessionConfigError, discovery_range

            try:
                report.add_to_report("discovery range", discovery_range(os.environ))
                for endpoint in routers():
                    words = "answers" if answers(endpoint) else "silent"
                    report.add_to_report("router", f"{endpoint}, {words}")
            except SessionConfigError as error:
                report.add_to_report("error", error)
        return report


def routers() -> list[str]:
    """Return the addresses outside of this user's own sockets that a session connects to, such as
    tcp/127.0.0.1:7447."""
    from ros2_embedded.session_config import make_config

    endpoints: Any = json.loads(make_config().get_json("connect/endpoints"))
    lists = endpoints.values() if isinstance(endpoints, dict) else [endpoints]
    found = [str(each).partition("#")[0] for one in lists for each in one]
    return [each for each in found if each.partition("/")[0] in ("tcp", "tls")]


def answers(endpoint: str) -> bool:
    """Whether somebody takes a connection at an address such as tcp/robot:7447."""
    host, _, port = endpoint.partition("/")[2].partition("?")[0].rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_S).close()
    except (OSError, ValueError):
        return False
    return True


def _messages() -> str:
    try:
        from std_msgs.msg import String
    except ImportError as error:
        return f"Messages cannot be imported: {error}; reinstall ros2-embedded, or source the installation."
    return "" if String(data="x").data == "x" else "std_msgs/msg/String does not keep its data."


def _embedded() -> str:
    """Return why the folder of the sockets or the configuration of the session cannot be used, or nothing."""
    from ros2_embedded.local_links import LocalLinkError, private_folder
    from ros2_embedded.session_config import SessionConfigError, domain_id, make_config

    try:
        private_folder(domain_id())
        make_config()
    except (LocalLinkError, SessionConfigError) as error:
        return f"No session can be opened: {error}"
    return ""


def _installed() -> str:
    """Return why the middleware that is asked for cannot be used, or nothing."""
    wanted = os.environ.get("RMW_IMPLEMENTATION", "")
    # Of the index, since an import of rclpy ends the process where what is wanted is missing.
    available = sorted(set(get_resources("rmw_typesupport")) - {"rmw_implementation"})
    if wanted and wanted not in available:
        return f"RMW_IMPLEMENTATION is {wanted}, which is not installed; there is {', '.join(available)}."
    return ""


def _graph() -> str:
    from ros2cli.node import cli_node, wait_for
    from ros2cli.nodes import node_names

    with cli_node() as node:
        own = node.get_fully_qualified_name()
        seen = wait_for(lambda: own in node_names(node))
    return "" if seen else "A new node does not see itself in the graph: check ZENOH_CONFIG_OVERRIDE."
