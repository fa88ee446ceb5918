"""Checks on the arguments of entities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

if TYPE_CHECKING:
    from ..launch_description_entity import LaunchDescriptionEntity
    from ..some_entities_type import SomeEntitiesType

_T = TypeVar("_T")


def is_a(obj: object, entity_type: type[_T]) -> TypeGuard[_T]:
    """Return whether `obj` is an instance of `entity_type`."""
    return isinstance(obj, entity_type)


def is_not_a(obj: object, entity_type: type) -> bool:
    """Return whether `obj` is no instance of `entity_type`."""
    return not isinstance(obj, entity_type)


def is_a_subclass(obj: object, entity_type: type) -> bool:
    """Return whether `obj` is an instance of `entity_type` or a class derived from it."""
    return isinstance(obj, entity_type) or (isinstance(obj, type) and issubclass(obj, entity_type))


def ensure_argument_type(argument: object, types: Any, argument_name: str, caller: str | None = None) -> None:
    """Raise TypeError, naming the argument and its caller, unless `argument` is of one of `types`."""
    allowed = tuple(types) if isinstance(types, Iterable) else (types,)
    if isinstance(argument, allowed):
        return
    names = ", ".join(getattr(t, "__name__", str(t)) for t in allowed)
    where = f" of {caller}" if caller else ""
    raise TypeError(
        f"argument '{argument_name}'{where} must be {names}, not {type(argument).__name__}: {argument!r}"
    )


def normalize_to_list_of_entities(entities: Iterable[SomeEntitiesType]) -> list[LaunchDescriptionEntity]:
    """Flatten one level of nesting into a list of entities."""
    from ..event_handler import as_entity_list

    return [entity for item in entities for entity in as_entity_list(item)]
