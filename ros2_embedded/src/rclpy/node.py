"""Nodes."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rcl_interfaces.msg import ParameterEvent

from rclpy.arguments import (
    RemapRule,
    RosArguments,
    matches_node,
    name_remaps,
    parse_arguments,
    refuse_unknown,
)
from rclpy.clock import Clock, ROSClock
from rclpy.context import Context
from rclpy.exceptions import NotInitializedException
from rclpy.expand_topic_name import expand_topic_name
from rclpy.handle import Handle
from rclpy.logging import RcutilsLogger, get_logger
from rclpy.logging_service import LoggingService
from rclpy.node_entities import EntityMixin
from rclpy.node_graph import GraphMixin, NodeNameNonExistentError
from rclpy.node_parameters import ParameterMixin
from rclpy.parameter import Parameter, normalise
from rclpy.parameter_service import ParameterService
from rclpy.passed_on import pass_on
from rclpy.qos import qos_profile_parameter_events
from rclpy.rosout import RosoutPublisher
from rclpy.time_source import TimeSource
from rclpy.type_description_service import TypeDescriptionService
from rclpy.utilities import get_default_context
from rclpy.validate_names import validate_namespace, validate_node_name
from ros2_embedded.wire.tokens import node_token

if TYPE_CHECKING:
    from rclpy.executors import Executor

__all__ = ["Node", "NodeNameNonExistentError"]
HIDDEN_NODE_PREFIX = "_"


class Node(EntityMixin, ParameterMixin, GraphMixin):
    """A node: it owns publishers, subscriptions, services, clients, timers and parameters."""

    def __init__(
        self,
        node_name: str,
        *,
        context: Context | None = None,
        cli_args: list[str] | None = None,
        namespace: str | None = None,
        use_global_arguments: bool = True,
        enable_rosout: bool = True,
        start_parameter_services: bool = True,
        parameter_overrides: list[Parameter] | None = None,
        allow_undeclared_parameters: bool = False,
        automatically_declare_parameters_from_overrides: bool = False,
        enable_logger_service: bool = False,
    ) -> None:
        """Make a node and announce it.

        Args:
            node_name: its name; a remap rule may change it.
            context: None takes the default one.
            cli_args: ROS arguments for this node alone, starting with `--ros-args`.
            namespace: absolute, or relative to the root.
            use_global_arguments: obey the ROS arguments of the context too.
            enable_rosout: publish log messages on `/rosout`.
            start_parameter_services: let other nodes read and set parameters.
            parameter_overrides: values that win over the defaults and over the command line.
            allow_undeclared_parameters: parameters need no declaration.
            automatically_declare_parameters_from_overrides: declare what the command line sets.
            enable_logger_service: let other nodes set logger levels.

        Raises:
            NotInitializedException: the context is not initialised.
            NameValidationException: a name is not valid.
            RCLInvalidROSArgsError, UnknownROSArgsError: `cli_args` cannot be understood.
        """
        self._context = context or get_default_context()
        if not self._context.ok():
            raise NotInitializedException("cannot create node")
        self._rclpy_executor: Callable[[], Executor | None] = lambda: None
        self._rclpy_destroyed = False
        self._rclpy_handle = Handle(lambda: not self._rclpy_destroyed, self)
        self._rclpy_init_entities()
        parsed = [refuse_unknown(parse_arguments(cli_args))] if cli_args else []
        if use_global_arguments:
            parsed.append(self._context.arguments)
        self._rclpy_rules: list[RemapRule] = [rule for arguments in parsed for rule in arguments.remaps]
        self._rclpy_set_names(node_name, namespace or "/")
        session = self._context.session
        self._rclpy_entity_id = session.next_id()
        self._rclpy_withdraw = session.announce(
            node_token(
                session.domain,
                session.id,
                self._rclpy_entity_id,
                self._rclpy_namespace,
                self._rclpy_name,
                self._context.arguments.enclave,
            )
        )
        self._context.track_node(self)
        self._rclpy_rosout: RosoutPublisher | None = None
        try:
            self._rclpy_set_up(
                parsed,
                enable_rosout=enable_rosout,
                start_parameter_services=start_parameter_services,
                parameter_overrides=parameter_overrides or [],
                allow_undeclared_parameters=allow_undeclared_parameters,
                declare_overrides=automatically_declare_parameters_from_overrides,
                enable_logger_service=enable_logger_service,
            )
        except BaseException:
            self.destroy_node()  # half a node would stay in the graph
            raise

    def _rclpy_set_up(
        self,
        parsed: list[RosArguments],
        *,
        enable_rosout: bool,
        start_parameter_services: bool,
        parameter_overrides: list[Parameter],
        allow_undeclared_parameters: bool,
        declare_overrides: bool,
        enable_logger_service: bool,
    ) -> None:
        """Make what each node has: logger, parameters, clock and services."""
        self._logger = get_logger(self.get_fully_qualified_name()[1:].replace("/", "."))
        overrides = self._rclpy_collect_overrides(
            [entry for arguments in reversed(parsed) for entry in arguments.parameters]
        )
        overrides.update({parameter.name: parameter.value for parameter in parameter_overrides})
        self._rclpy_init_parameters(overrides, allow_undeclared_parameters)
        self._clock = ROSClock()
        rosout = enable_rosout and all(arguments.rosout for arguments in parsed)
        self._rclpy_rosout = RosoutPublisher(self) if rosout else None
        self._rclpy_event_publisher = self.create_publisher(
            ParameterEvent, "/parameter_events", qos_profile_parameter_events
        )
        if declare_overrides:
            for name, value in overrides.items():
                self.declare_parameter(name, value)
        self._time_source = TimeSource(node=self)
        self._time_source.attach_clock(self._clock)
        self._parameter_service = ParameterService(self) if start_parameter_services else None
        self._rclpy_logging_service = LoggingService(self) if enable_logger_service else None
        self._type_description_service = TypeDescriptionService(self)

    def _rclpy_set_names(self, name: str, namespace: str) -> None:
        new_name, new_namespace = name_remaps(self._rclpy_rules, name)
        self._rclpy_name = new_name or name
        validate_node_name(self._rclpy_name)
        chosen = new_namespace or namespace
        self._rclpy_namespace = chosen if chosen.startswith("/") else f"/{chosen}"
        validate_namespace(self._rclpy_namespace)

    def _rclpy_collect_overrides(self, entries: list[tuple[str, str, Any]]) -> dict[str, Any]:
        full = self.get_fully_qualified_name()
        return {name: normalise(value) for pattern, name, value in entries if matches_node(pattern, full)}

    def _rclpy_remap(self, full: str, kind: str) -> str:
        """Apply the first rule that fits a fully qualified name."""
        for rule in self._rclpy_rules:
            if (
                rule.source.startswith("__")
                or rule.node not in ("", self._rclpy_name)
                or rule.kind not in ("", kind)
            ):
                continue
            if expand_topic_name(rule.source, self._rclpy_name, self._rclpy_namespace) == full:
                return expand_topic_name(rule.target, self._rclpy_name, self._rclpy_namespace)
        return full

    @property
    def context(self) -> Context:
        """The context."""
        return self._context

    @property
    def handle(self) -> Handle:
        """Return a handle to use in a `with` statement, which fails once this was destroyed."""
        return self._rclpy_handle

    @property
    def executor(self) -> Executor | None:
        """The executor that spins this node."""
        return self._rclpy_executor()

    @executor.setter
    def executor(self, new_executor: Executor | None) -> None:
        current = self.executor
        if current is new_executor:
            return
        if current is not None:
            current.remove_node(self)
        self._rclpy_set_executor(new_executor)
        if new_executor is not None:
            new_executor.add_node(self)

    def _rclpy_set_executor(self, executor: Executor | None) -> None:
        self._rclpy_executor = weakref.ref(executor) if executor is not None else lambda: None

    def get_name(self) -> str:
        """The name."""
        return self._rclpy_name

    def get_namespace(self) -> str:
        """The namespace, with its leading slash."""
        return self._rclpy_namespace

    def get_fully_qualified_name(self) -> str:
        """Namespace and name."""
        return f"{self._rclpy_namespace.rstrip('/')}/{self._rclpy_name}"

    def get_clock(self) -> Clock:
        """The node's ROS clock."""
        return self._clock

    def get_logger(self) -> RcutilsLogger:
        """The node's logger."""
        return self._logger

    def destroy_node(self) -> None:
        """Destroy everything the node owns and take it out of the graph; a second call does nothing."""
        if self._rclpy_destroyed:
            return
        self._rclpy_destroyed = True
        executor = self.executor
        if executor is not None:
            executor._drop_node(self)
        if self._rclpy_rosout is not None:
            self._rclpy_rosout.destroy()
        self._rclpy_event_publisher = None
        self._rclpy_destroy_entities()
        self._rclpy_withdraw()
        self._context.untrack_node(self)

    def __enter__(self) -> Node:
        return self

    def __exit__(self, *_: object) -> None:
        self.destroy_node()


pass_on(__name__)
