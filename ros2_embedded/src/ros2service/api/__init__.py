"""Services, as programs ask for them through the command line's functions."""

from __future__ import annotations

from typing import Any

from rclpy.topic_or_service_is_hidden import topic_or_service_is_hidden
from ros2cli.node.strategy import NodeStrategy
from rosidl_runtime_py import get_service_interfaces, message_to_yaml
from rosidl_runtime_py.utilities import get_service


def get_service_names_and_types(
    *, node: Any, include_hidden_services: bool = False
) -> list[tuple[str, list[str]]]:
    """Return the services of the graph and their types."""
    found = node.get_service_names_and_types()
    return [entry for entry in found if include_hidden_services or not topic_or_service_is_hidden(entry[0])]


def get_service_names(*, node: Any, include_hidden_services: bool = False) -> list[str]:
    """Return the services of the graph."""
    found = get_service_names_and_types(node=node, include_hidden_services=include_hidden_services)
    return [name for name, _ in found]


def get_service_class(node: Any, service: str, include_hidden_services: bool = False) -> Any:
    """Return the class of a service, None when nobody has it.

    Raises:
        RuntimeError: it has several types, or its type cannot be found.
    """
    found = get_service_names_and_types(node=node, include_hidden_services=include_hidden_services)
    types = dict(found).get(service if service.startswith("/") else f"/{service}")
    if not types:
        return None
    if len(types) > 1:
        raise RuntimeError(
            f"Cannot echo service '{service}', as it contains more than one type: [{', '.join(types)}]"
        )
    try:
        return get_service(types[0])
    except (AttributeError, ModuleNotFoundError, ValueError) as error:
        raise RuntimeError(f"The service type '{types[0]}' is invalid") from error


def service_type_completer(**_: Any) -> list[str]:
    """Return all service types."""
    found = get_service_interfaces()
    return [f"{package}/{name}" for package, names in sorted(found.items()) for name in names]


class ServiceNameCompleter:
    """Completes service names on a command line."""

    def __init__(self, *, include_hidden_services_key: str | None = None) -> None:
        """Name the argument that asks for hidden services."""
        self.include_hidden_services_key = include_hidden_services_key

    def __call__(self, prefix: str, parsed_args: Any, **_: Any) -> list[str]:
        """Return the services of the graph."""
        hidden = bool(getattr(parsed_args, self.include_hidden_services_key or "", False))
        with NodeStrategy(parsed_args) as node:
            return get_service_names(node=node, include_hidden_services=hidden)


class ServiceTypeCompleter:
    """Completes service types on a command line."""

    def __init__(self, *, service_name_key: str | None = None) -> None:
        """Name the argument that holds the service."""
        self.service_name_key = service_name_key

    def __call__(self, prefix: str, parsed_args: Any, **_: Any) -> list[str]:
        """Return the types of the service if there is one, else all."""
        service = getattr(parsed_args, self.service_name_key, None) if self.service_name_key else None
        if service:
            with NodeStrategy(parsed_args) as node:
                types = dict(get_service_names_and_types(node=node, include_hidden_services=True))
            if types.get(service):
                return types[service]
        return service_type_completer()


class ServicePrototypeCompleter:
    """Completes a request on a command line with its default values."""

    def __init__(self, *, service_type_key: str | None = None) -> None:
        """Name the argument that holds the type."""
        self.service_type_key = service_type_key

    def __call__(self, prefix: str, parsed_args: Any, **_: Any) -> list[str]:
        """Return the request as YAML."""
        service = get_service(getattr(parsed_args, self.service_type_key or ""))
        return [message_to_yaml(service.Request())]
