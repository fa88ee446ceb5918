"""What a node can ask about the graph."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from rclpy.exceptions import InvalidHandle, NameValidationException
from rclpy.expand_topic_name import expand_topic_name
from rclpy.impl.errors import NodeNameNonExistentError
from rclpy.topic_endpoint_info import TopicEndpointInfo, TopicEndpointTypeEnum
from rclpy.validate_names import validate_full_topic_name, validate_topic_name
from ros2_embedded.wire.tokens import CLIENT, PUBLISHER, SERVICE, SUBSCRIPTION, EndpointRecord

if TYPE_CHECKING:
    from rclpy.context import Context

NamesAndTypes = list[tuple[str, list[str]]]


def names_and_types(records: Iterable[EndpointRecord], *, strange: bool = False) -> NamesAndTypes:
    """Sorted names with their sorted types; `strange`: also names that no topic of ROS can have.

    A peer may announce such a name, and nothing can be asked of it here.
    """
    found: dict[str, set[str]] = {}
    for record in records:
        found.setdefault(record.name, set()).add(record.type_name)
    return [(name, sorted(found[name])) for name in sorted(found) if strange or _is_name(name)]


@lru_cache(maxsize=4096)
def _is_name(text: str) -> bool:
    try:
        return validate_full_topic_name(text)
    except NameValidationException:
        return False


class InvalidQueryError(ValueError):
    """The graph was asked about a name that no topic can have; a plain ValueError in rclpy."""


class GraphMixin:
    """Graph queries of a node; everything named here is public in rclpy."""

    if TYPE_CHECKING:

        @property
        def context(self) -> Context: ...
        def get_name(self) -> str: ...
        def get_namespace(self) -> str: ...

    _rclpy_destroyed = False

    def _rclpy_check_alive(self) -> None:
        """Raise InvalidHandle when the node was destroyed."""
        if self._rclpy_destroyed:
            raise InvalidHandle("cannot use Destroyable because destruction was requested")

    def _rclpy_endpoints(self, kinds: Iterable[str], name: str | None = None) -> list[EndpointRecord]:
        self._rclpy_check_alive()
        return self.context.session.graph.endpoints(kinds, name)

    def _rclpy_of_node(self, kind: str, name: str, namespace: str, strange: bool = False) -> NamesAndTypes:
        namespace = namespace or "/"
        known = self.context.session.graph.nodes()
        if not any(record.name == name and record.namespace == namespace for record in known):
            raise NodeNameNonExistentError(
                f"Cannot get names of {namespace.rstrip('/')}/{name}: node not found"
            )
        own = (
            r for r in self._rclpy_endpoints((kind,)) if r.node.name == name and r.node.namespace == namespace
        )
        return names_and_types(own, strange=strange)

    def get_topic_names_and_types(self, no_demangle: bool = False) -> NamesAndTypes:
        """All topics and their types, sorted; `no_demangle`: also those whose names are none of ROS."""
        return names_and_types(self._rclpy_endpoints((PUBLISHER, SUBSCRIPTION)), strange=no_demangle)

    def get_service_names_and_types(self) -> NamesAndTypes:
        """All services and their types, sorted."""
        return names_and_types(self._rclpy_endpoints((SERVICE,)))

    def get_publisher_names_and_types_by_node(
        self, node_name: str, node_namespace: str, no_demangle: bool = False
    ) -> NamesAndTypes:
        """Topics a node publishes.

        Raises:
            NodeNameNonExistentError: no such node.
        """
        return self._rclpy_of_node(PUBLISHER, node_name, node_namespace, no_demangle)

    def get_subscriber_names_and_types_by_node(
        self, node_name: str, node_namespace: str, no_demangle: bool = False
    ) -> NamesAndTypes:
        """Topics a node subscribes to.

        Raises:
            NodeNameNonExistentError: no such node.
        """
        return self._rclpy_of_node(SUBSCRIPTION, node_name, node_namespace, no_demangle)

    def get_service_names_and_types_by_node(self, node_name: str, node_namespace: str) -> NamesAndTypes:
        """Services of a node.

        Raises:
            NodeNameNonExistentError: no such node.
        """
        return self._rclpy_of_node(SERVICE, node_name, node_namespace)

    def get_client_names_and_types_by_node(self, node_name: str, node_namespace: str) -> NamesAndTypes:
        """Services a node has clients of.

        Raises:
            NodeNameNonExistentError: no such node.
        """
        return self._rclpy_of_node(CLIENT, node_name, node_namespace)

    def get_node_names(self) -> list[str]:
        """Names of all nodes."""
        return [record.name for record in self.context.session.graph.nodes()]

    def get_fully_qualified_node_names(self) -> list[str]:
        """Names of all nodes with their namespaces."""
        return [f"{r.namespace.rstrip('/')}/{r.name}" for r in self.context.session.graph.nodes()]

    def get_node_names_and_namespaces(self) -> list[tuple[str, str]]:
        """Name and namespace of all nodes."""
        return [(record.name, record.namespace) for record in self.context.session.graph.nodes()]

    def get_node_names_and_namespaces_with_enclaves(self) -> list[tuple[str, str, str]]:
        """Name, namespace and enclave of all nodes."""
        return [(r.name, r.namespace, r.enclave) for r in self.context.session.graph.nodes()]

    def _rclpy_count(self, kind: str, name: str) -> int:
        return len(self._rclpy_endpoints((kind,), self._rclpy_queried(name)))

    def _rclpy_queried(self, name: str) -> str:
        """The fully qualified name a question is about.

        Raises:
            TypeError, InvalidQueryError: no text, or no valid name.
        """
        if not isinstance(name, str):
            raise TypeError(f"bad argument type for built-in operation: expected a name, got {name!r}")
        try:
            full = self.resolve_topic_name(name)
            validate_full_topic_name(full)
        except NameValidationException as error:
            raise InvalidQueryError(f"topic name {name!r} is invalid: {error.error_msg}") from error
        return full

    def count_publishers(self, topic_name: str) -> int:
        """Number of publishers of a topic."""
        return self._rclpy_count(PUBLISHER, topic_name)

    def count_subscribers(self, topic_name: str) -> int:
        """Number of subscriptions of a topic."""
        return self._rclpy_count(SUBSCRIPTION, topic_name)

    def count_services(self, service_name: str) -> int:
        """Number of servers of a service."""
        return self._rclpy_count(SERVICE, service_name)

    def count_clients(self, service_name: str) -> int:
        """Number of clients of a service."""
        return self._rclpy_count(CLIENT, service_name)

    def get_publishers_info_by_topic(
        self, topic_name: str, no_mangle: bool = False
    ) -> list[TopicEndpointInfo]:
        """The publishers of a topic, with types and profiles."""
        records = self._rclpy_endpoints((PUBLISHER,), self._rclpy_queried(topic_name))
        return [TopicEndpointInfo.from_record(r, TopicEndpointTypeEnum.PUBLISHER) for r in records]

    def get_subscriptions_info_by_topic(
        self, topic_name: str, no_mangle: bool = False
    ) -> list[TopicEndpointInfo]:
        """The subscriptions of a topic, with types and profiles."""
        records = self._rclpy_endpoints((SUBSCRIPTION,), self._rclpy_queried(topic_name))
        return [TopicEndpointInfo.from_record(r, TopicEndpointTypeEnum.SUBSCRIPTION) for r in records]

    def resolve_topic_name(self, topic: str, *, only_expand: bool = False) -> str:
        """The fully qualified and remapped name of a topic.

        Raises:
            InvalidTopicNameException: the name is not valid.
            ValueError: a substitution is unknown.
        """
        return self._rclpy_resolve(topic, "topic", only_expand)

    def resolve_service_name(self, service: str, *, only_expand: bool = False) -> str:
        """The fully qualified and remapped name of a service.

        Raises:
            InvalidServiceNameException: the name is not valid.
            ValueError: a substitution is unknown.
        """
        return self._rclpy_resolve(service, "service", only_expand)

    def _rclpy_resolve(self, name: str, kind: str, only_expand: bool) -> str:
        self._rclpy_check_alive()
        validate_topic_name(name, is_service=kind == "service")
        full = expand_topic_name(name, self.get_name(), self.get_namespace())
        return full if only_expand else self._rclpy_remap(full, kind)

    def _rclpy_remap(self, full: str, kind: str) -> str:
        raise NotImplementedError

    def wait_for_node(self, fully_qualified_node_name: str, timeout: float) -> bool:
        """Block until a node is in the graph, for at most `timeout` [s]; returns whether it is."""
        wanted = "/" + fully_qualified_node_name.lstrip("/")
        context = self.context

        def found() -> bool:
            return wanted in self.get_fully_qualified_node_names()

        context.session.graph.wait_for(lambda: not context.ok() or found(), timeout)
        return context.ok() and found()
