"""One element of a launch file in markup."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def quoted(names: Iterable[str]) -> str:
    """Return names in backticks, with commas between, for an error."""
    return ", ".join(f"`{name}`" for name in names)


class Entity:
    """What actions see of an element, whatever the format: its tag, attributes and children."""

    @property
    def type_name(self) -> str:
        """The tag."""
        raise NotImplementedError(f"{type(self).__name__} does not implement type_name")

    @property
    def parent(self) -> Entity | None:
        """The element around this one; None for the root."""
        raise NotImplementedError(f"{type(self).__name__} does not implement parent")

    @property
    def children(self) -> list[Entity]:
        """The elements inside, in order."""
        raise NotImplementedError(f"{type(self).__name__} does not implement children")

    def assert_entity_completely_parsed(self) -> None:
        """Raise ValueError if an attribute or child was never asked for: it is misspelt or misplaced."""
        raise NotImplementedError(f"{type(self).__name__} lacks assert_entity_completely_parsed()")

    def get_attr(
        self, name: str, *, data_type: Any = str, optional: bool = False, can_be_str: bool = True
    ) -> Any:
        """Return an attribute.

        Args:
            name: its name.
            data_type: `str`, `int`, `float`, `bool`, a `List[...]` of one, `List[Entity]` for elements of
                that name, or None to guess.
            optional: whether to return None when it is not there.
            can_be_str: whether text is returned as it is where another type was asked for, as it may hold
                substitutions.

        Raises:
            AttributeError: it is not there.
            ValueError, TypeError: it does not fit the type.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement get_attr()")
