"""Texts joined with a delimiter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..frontend.expose import expose_substitution
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


@expose_substitution("string-join")
class StringJoinSubstitution(Substitution):
    """The parts joined with a delimiter; a part may itself be several substitutions, concatenated.

    In markup the delimiter comes first: `$(string-join , a b)`.
    """

    def __init__(
        self, substitutions: Iterable[SomeSubstitutionsType], delimiter: SomeSubstitutionsType = ""
    ) -> None:
        self.__parts = [normalize_to_list_of_substitutions(part) for part in substitutions]
        self.__delimiter = normalize_to_list_of_substitutions(delimiter)

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(string-join delimiter parts...)`."""
        delimiter, *parts = data
        return cls, {"delimiter": delimiter, "substitutions": parts}

    @property
    def substitutions(self) -> list[list[Substitution]]:
        """The parts."""
        return self.__parts

    @property
    def delimiter(self) -> list[Substitution]:
        """What stands between them."""
        return self.__delimiter

    def describe(self) -> str:
        """Return the parts in words."""
        parts = ", ".join(" + ".join(sub.describe() for sub in part) for part in self.__parts)
        return f"StringJoin({parts})"

    def perform(self, context: LaunchContext) -> str:
        """Return the joined text."""
        delimiter = perform_substitutions(context, self.__delimiter)
        return delimiter.join(perform_substitutions(context, part) for part in self.__parts)
