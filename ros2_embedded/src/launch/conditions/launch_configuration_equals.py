"""Run an action if a launch configuration has a value."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ..condition import Condition
from ..some_substitutions_type import SomeSubstitutionsType
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class LaunchConfigurationEquals(Condition):
    """Holds when the configuration is set to the expected text; with None, when it is not set."""

    def __init__(self, launch_configuration_name: str, expected_value: SomeSubstitutionsType | None) -> None:
        warnings.warn(
            "LaunchConfigurationEquals and LaunchConfigurationNotEquals are deprecated: use IfCondition with "
            "EqualsSubstitution or NotEqualsSubstitution of the LaunchConfiguration",
            stacklevel=2,
        )
        self.__name = launch_configuration_name
        self.__expected = (
            None if expected_value is None else normalize_to_list_of_substitutions(expected_value)
        )
        super().__init__(predicate=self._holds)

    def _holds(self, context: LaunchContext) -> bool:
        if self.__name not in context.launch_configurations:
            return self.__expected is None
        if self.__expected is None:
            return False
        return str(context.launch_configurations[self.__name]) == perform_substitutions(
            context, self.__expected
        )

    def describe(self) -> str:
        """Return the name of the configuration."""
        return f"{type(self).__name__}('{self.__name}')"
