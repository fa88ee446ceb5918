"""Paths joined from parts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..frontend.expose import expose_substitution
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


@expose_substitution("path-join")
class PathJoinSubstitution(Substitution):
    """The parts joined with the path separator; a part may itself be several substitutions, concatenated."""

    def __init__(self, substitutions: Iterable[SomeSubstitutionsType]) -> None:
        self.__parts = [normalize_to_list_of_substitutions(part) for part in substitutions]

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(path-join parts...)`."""
        return cls, {"substitutions": data}

    @property
    def substitutions(self) -> list[list[Substitution]]:
        """The parts."""
        return self.__parts

    def describe(self) -> str:
        """Return the parts in words."""
        return f"PathJoin({', '.join(' + '.join(sub.describe() for sub in part) for part in self.__parts)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the joined path."""
        return os.path.join(*(perform_substitutions(context, part) for part in self.__parts))
