"""Where a launch description comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from .some_substitutions_type import SomeSubstitutionsType
from .utilities import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from .launch_context import LaunchContext
    from .launch_description import LaunchDescription


class LaunchFileLoader(Protocol):
    """Turns the path of a launch file into its description."""

    def __call__(self, path: str, /) -> LaunchDescription:
        """Load the file at `path`; raise `InvalidLaunchFileError` with the reason if that fails."""


class LaunchDescriptionSource:
    """A launch description, given directly or by a location that a loader can read.

    Args:
        launch_description: the description itself, when it is at hand.
        location: path of the launch file, which may hold substitutions.
        method: how the description is obtained, in words.
        loader: reads the file at the location; needed when no description is given.
    """

    def __init__(
        self,
        launch_description: LaunchDescription | None = None,
        location: SomeSubstitutionsType = "",
        method: str = "unspecified mechanism from a script",
        *,
        loader: LaunchFileLoader | None = None,
    ) -> None:
        self.__launch_description = launch_description
        self.__location = normalize_to_list_of_substitutions(location)
        self.__expanded_location: str | None = None
        self.__method = method
        self.__loader = loader

    def try_get_launch_description_without_context(self) -> LaunchDescription | None:
        """Return the description if its location is plain text and the file is there, else None."""
        if self.__launch_description is None:
            from .substitutions import TextSubstitution

            if self.__loader is None or not all(
                isinstance(part, TextSubstitution) for part in self.__location
            ):
                return None
            path = "".join(part.text for part in self.__location if isinstance(part, TextSubstitution))
            self.__expanded_location = path
            self.__launch_description = self.__loader(path)
        return self.__launch_description

    def get_launch_description(self, context: LaunchContext) -> LaunchDescription:
        """Return the description, loading it on the first call.

        Raises `InvalidLaunchFileError` when the file cannot be loaded.
        """
        if self.__expanded_location is None:
            self.__expanded_location = perform_substitutions(context, self.__location)
        if self.__launch_description is None:
            if self.__loader is None:
                raise RuntimeError(
                    "LaunchDescriptionSource has neither a description nor a loader; pass one of them"
                )
            self.__launch_description = self.__loader(self.__expanded_location)
        return self.__launch_description

    @property
    def location(self) -> str:
        """The path if it is known, else the substitutions in words."""
        if self.__expanded_location is not None:
            return self.__expanded_location
        return " + ".join(part.describe() for part in self.__location)

    @property
    def method(self) -> str:
        """How the description is obtained, in words."""
        return self.__method
