"""Where packages lie."""

from __future__ import annotations

from typing import Any

from launch import LaunchContext, SomeSubstitutionsType, Substitution
from launch.frontend.expose import expose_substitution
from launch.substitutions import SubstitutionFailure
from launch.substitutions.path_substitution import PathLikeSubstitution
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions


class FindPackage(PathLikeSubstitution):
    """The base: a directory of the package with this name."""

    def __init__(self, package: SomeSubstitutionsType) -> None:
        self.__package = normalize_to_list_of_substitutions(package)

    @property
    def package(self) -> list[Substitution]:
        """The package's name."""
        return self.__package

    def describe(self) -> str:
        """Return the package's name in words."""
        return f"{type(self).__name__}({' + '.join(sub.describe() for sub in self.__package)})"

    def find(self, package_name: str) -> str:
        """Return the directory."""
        raise NotImplementedError(f"{type(self).__name__} does not implement find()")

    def perform(self, context: LaunchContext) -> str:
        """Return the directory; raise SubstitutionFailure when nothing provides the package."""
        from ament_index_python.packages import PackageNotFoundError

        try:
            return self.find(perform_substitutions(context, self.__package))
        except (PackageNotFoundError, ValueError) as error:
            raise SubstitutionFailure(str(error)) from error


@expose_substitution("find-pkg-prefix")
class FindPackagePrefix(FindPackage):
    """The package's prefix, see `ament_index_python.packages.get_package_prefix`."""

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(find-pkg-prefix package)`."""
        (package,) = data
        return cls, {"package": package}

    def find(self, package_name: str) -> str:
        """Return the prefix."""
        from ament_index_python.packages import get_package_prefix

        return get_package_prefix(package_name)


@expose_substitution("find-pkg-share")
class FindPackageShare(FindPackage):
    """The package's share directory."""

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(find-pkg-share package)`."""
        (package,) = data
        return cls, {"package": package}

    def find(self, package_name: str) -> str:
        """Return the share directory."""
        from ament_index_python.packages import get_package_share_directory

        return get_package_share_directory(package_name)
