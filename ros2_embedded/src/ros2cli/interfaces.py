"""Interface classes and YAML values from the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import CliError


def load(kind: str, type_name: str) -> Any:
    """Return the class of an interface; raise CliError when there is none.

    Args:
        kind: 'msg', 'srv' or 'action'.
        type_name: `package/kind/Name` or `package/Name`.
    """
    from rosidl_runtime_py import utilities

    get = {"msg": utilities.get_message, "srv": utilities.get_service, "action": utilities.get_action}[kind]
    try:
        return get(type_name)
    except ModuleNotFoundError as error:
        raise CliError(f"no package provides '{type_name}': {error}") from error
    except (AttributeError, LookupError, ValueError) as error:
        raise CliError(f"unknown interface '{type_name}': {error}") from error


def fill(message: Any, text: str | None) -> Any:
    """Set the fields of a message from YAML text and return it; raise CliError for text that does not fit."""
    fill_with_stamps(message, text)
    return message


def fill_with_stamps(message: Any, text: str | None) -> list[Callable[[Any], None]]:
    """Set the fields of a message from YAML text, where a header may be `auto` and a time `now`.

    Returns:
        For each such field, what to call with the time when the message is published.

    Raises:
        CliError: the text does not fit.
    """
    import yaml

    from rosidl_runtime_py import set_message_fields

    try:
        values = yaml.safe_load(text) if text else {}
    except yaml.YAMLError as error:
        reason = str(error).replace("\n", " ")
        raise CliError(f"'{text}' is no YAML ({reason}); write \"{{field: value}}\"") from error
    try:
        return set_message_fields(
            message, {} if values is None else values, expand_header_auto=True, expand_time_now=True
        )
    except (AttributeError, TypeError, ValueError) as error:
        raise CliError(str(error)) from error
