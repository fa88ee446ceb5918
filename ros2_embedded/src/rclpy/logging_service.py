"""The services through which other nodes read and set logger levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rcl_interfaces.msg import LoggerLevel, SetLoggerLevelsResult
from rcl_interfaces.srv import GetLoggerLevels, SetLoggerLevels

from rclpy.logging import get_logger_level, set_logger_level
from rclpy.passed_on import pass_on

if TYPE_CHECKING:
    from rclpy.node import Node


class LoggingService:
    """`~/get_logger_levels` and `~/set_logger_levels` of a node."""

    def __init__(self, node: Node) -> None:
        """Create the services."""
        node.create_service(GetLoggerLevels, "~/get_logger_levels", self._get)
        node.create_service(SetLoggerLevels, "~/set_logger_levels", self._set)

    def _get(self, request: Any, response: Any) -> Any:
        response.levels = [
            LoggerLevel(name=name, level=int(get_logger_level(name))) for name in request.names
        ]
        return response

    def _set(self, request: Any, response: Any) -> Any:
        for level in request.levels:
            result = SetLoggerLevelsResult(successful=True)
            try:
                set_logger_level(level.name, level.level)
            except ValueError:
                reason = "Failed reason: Invalid logger level."
                result = SetLoggerLevelsResult(successful=False, reason=reason)
            response.results.append(result)
        return response


pass_on(__name__)
