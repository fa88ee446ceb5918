"""Requests and responses of each service of `test_msgs` for tests."""

from __future__ import annotations

from typing import Any

import test_msgs.srv
from test_msgs.message_fixtures import filled


def get_test_srv(service_name: str) -> list[list[Any]]:
    """Return pairs of a request and its response: with defaults, with low values, and with high values.

    Args:
        service_name: name without package, e.g. `BasicTypes`.

    Raises:
        NotImplementedError: no such service.
    """
    kind = getattr(test_msgs.srv, service_name, None)
    if kind is None:
        raise NotImplementedError(f"{service_name} is no service of test_msgs")
    pairs = [[kind.Request(), kind.Response()]]
    if kind.Request.get_fields_and_field_types():
        pairs += [[filled(kind.Request, low), filled(kind.Response, low)] for low in (True, False)]
    return pairs


def get_msg_empty() -> list[list[Any]]:
    """Return pairs of `Empty`."""
    return get_test_srv("Empty")


def get_msg_basic_types() -> list[list[Any]]:
    """Return pairs of `BasicTypes`."""
    return get_test_srv("BasicTypes")


def get_msg_arrays() -> list[list[Any]]:
    """Return pairs of `Arrays`."""
    return get_test_srv("Arrays")
