"""One element of a YAML launch file."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from typing import Any

from launch.frontend.entity import Entity as BaseEntity
from launch.frontend.entity import quoted
from launch.utilities.type_utils import is_instance_of


class Entity(BaseEntity):
    """A mapping with one key, the tag; below it a mapping of attributes, or a list of elements.

    Values have YAML's types, which must be those asked for: `respawn: 'true'` is text.

    Args:
        element: what stands below the tag.
        type_name: the tag.
        parent: the element around this one.
    """

    def __init__(
        self,
        element: Mapping[str, Any] | Sequence[Any] | None,
        type_name: str | None = None,
        *,
        parent: BaseEntity | None = None,
    ) -> None:
        self.__type_name = type_name or ""
        self.__parent = parent
        self.__element = {} if element is None else element
        self.__asked: set[str] = set()
        self.__children_asked = False

    @property
    def type_name(self) -> str:
        """The tag."""
        return self.__type_name

    @property
    def parent(self) -> BaseEntity | None:
        """The element around this one."""
        return self.__parent

    @property
    def children(self) -> list[BaseEntity]:
        """The elements inside: the list below the tag, or its attribute `children`."""
        self.__children_asked = True
        self.__asked.add("children")
        listed = self.__element
        if isinstance(listed, Mapping):
            listed = listed.get("children", [])
        if not isinstance(listed, (list, tuple)):
            raise TypeError(f"'{self.type_name}' must hold a list of elements, not {listed!r}")
        found: list[BaseEntity] = []
        for item in listed:
            if not isinstance(item, Mapping) or len(item) != 1:
                raise ValueError(f"'{self.type_name}' holds {item!r}: an element is a mapping with one key")
            [(name, element)] = item.items()
            found.append(Entity(element, name, parent=self))
        return found

    def assert_entity_completely_parsed(self) -> None:
        """Raise ValueError for attributes or children nobody asked for."""
        if isinstance(self.__element, Mapping):
            unknown = sorted(set(self.__element) - self.__asked)
            if unknown:
                raise ValueError(f"unexpected key(s) of `{self.type_name}`: {quoted(unknown)}")
        elif self.__element and not self.__children_asked:
            raise ValueError(f"'{self.type_name}' must be a mapping, not a list")

    def get_attr(
        self, name: str, *, data_type: Any = str, optional: bool = False, can_be_str: bool = True
    ) -> Any:
        """Return an attribute or, for `List[Entity]`, the list of elements of that name; see
        `launch.frontend.Entity`."""
        self.__asked.add(name)
        if not isinstance(self.__element, Mapping) or name not in self.__element:
            if optional:
                return None
            raise AttributeError(f"'{self.type_name}' needs the key '{name}'")
        value = self.__element[name]
        if _is_entity_list(data_type):
            if not isinstance(value, list):
                raise TypeError(f"'{name}' of '{self.type_name}' must be a list, not {value!r}")
            return [Entity(item, name, parent=self) for item in value]
        if data_type is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not is_instance_of(value, data_type, can_be_str):
            expected = getattr(data_type, "__name__", data_type)
            raise TypeError(f"Attribute '{name}' of '{self.type_name}' is {value!r}; expected {expected}")
        return value


def _is_entity_list(data_type: Any) -> bool:
    arguments = typing.get_args(data_type)
    return (
        typing.get_origin(data_type) is list
        and isinstance(arguments[0], type)
        and issubclass(arguments[0], BaseEntity)
    )
