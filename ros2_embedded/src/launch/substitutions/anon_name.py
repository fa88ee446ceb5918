"""A unique name."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any

from ..frontend.expose import expose_substitution
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


@expose_substitution("anon")
class AnonName(Substitution):
    """A name made unique with process id and chance; the same base gives the same name within a launch."""

    def __init__(self, name: SomeSubstitutionsType) -> None:
        self.__name = normalize_to_list_of_substitutions(name)

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(anon name)`."""
        (name,) = data
        return cls, {"name": name}

    @property
    def name(self) -> list[Substitution]:
        """The base."""
        return self.__name

    def describe(self) -> str:
        """Return the base."""
        return f"AnonName({' + '.join(sub.describe() for sub in self.__name)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the unique name, with only characters that ROS names allow."""
        base = perform_substitutions(context, self.__name)
        key = f"anon{base}"
        if key not in context.launch_configurations:
            context.launch_configurations[key] = f"{base}_{os.getpid()}_{random.getrandbits(63)}"
        return str(context.launch_configurations[key])
