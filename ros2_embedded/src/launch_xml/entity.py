"""One element of an XML launch file."""

from __future__ import annotations

import typing
from typing import Any
from xml.etree.ElementTree import Element

from launch.frontend.entity import Entity as BaseEntity
from launch.frontend.entity import quoted
from launch.utilities.type_utils import get_typed_value

_SEPARATOR_SUFFIX = "-sep"


class Entity(BaseEntity):
    """An XML element. Attributes are text and are converted to the type asked for.

    A list is one attribute with a separator in another: `value="1, 2" value-sep=", "`.
    """

    def __init__(self, xml_element: Element, *, parent: BaseEntity | None = None) -> None:
        self.__element = xml_element
        self.__parent = parent
        self.__asked: set[str] = set()
        self.__children_asked = False

    @property
    def type_name(self) -> str:
        """The tag."""
        return self.__element.tag

    @property
    def parent(self) -> BaseEntity | None:
        """The element around this one."""
        return self.__parent

    @property
    def children(self) -> list[BaseEntity]:
        """The elements inside."""
        self.__children_asked = True
        return [Entity(child, parent=self) for child in self.__element]

    def assert_entity_completely_parsed(self) -> None:
        """Raise ValueError for attributes or children nobody asked for."""
        unknown = sorted(set(self.__element.attrib) - self.__asked)
        if unknown:
            raise ValueError(f"unexpected attribute(s) of `{self.type_name}`: {quoted(unknown)}")
        if not self.__children_asked:
            tags = sorted({child.tag for child in self.__element} - self.__asked)
            if tags:
                raise ValueError(f"unexpected element(s) in `{self.type_name}`: {quoted(tags)}")

    def get_attr(
        self, name: str, *, data_type: Any = str, optional: bool = False, can_be_str: bool = True
    ) -> Any:
        """Return an attribute or, for `List[Entity]`, the elements of that name."""
        self.__asked.add(name)
        if _is_entity_list(data_type):
            found = [Entity(child, parent=self) for child in self.__element if child.tag == name]
            if found or optional:
                return found or None
            raise AttributeError(f"<{self.type_name}> needs an element <{name}>")
        if name not in self.__element.attrib:
            if optional:
                return None
            raise AttributeError(f"<{self.type_name}> needs the attribute '{name}'")
        value: Any = self.__element.attrib[name]
        self.__asked.add(name + _SEPARATOR_SUFFIX)
        separator = self.__element.attrib.get(name + _SEPARATOR_SUFFIX)
        if separator is not None:
            value = value.split(separator)
        try:
            return get_typed_value(value, data_type, can_be_str=can_be_str)
        except (TypeError, ValueError) as error:
            raise TypeError(f"Attribute '{name}' of <{self.type_name}>: {error}") from None


def _is_entity_list(data_type: Any) -> bool:
    arguments = typing.get_args(data_type)
    return (
        typing.get_origin(data_type) is list
        and isinstance(arguments[0], type)
        and issubclass(arguments[0], BaseEntity)
    )
