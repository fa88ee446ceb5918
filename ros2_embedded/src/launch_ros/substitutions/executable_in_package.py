"""The path of an executable of a package."""

from __future__ import annotations

from typing import Any

from launch import LaunchContext, SomeSubstitutionsType, Substitution
from launch.frontend.expose import expose_substitution
from launch.substitutions import SubstitutionFailure
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions
from ros2_embedded.packages import executables


def executable_command(package: str, executable: str) -> list[str]:
    """Return the words that start an executable of a package; raise SubstitutionFailure, naming those it
    has."""
    known = executables(package)
    if executable not in known:
        names = ", ".join(sorted(known)) or "none; is the package installed?"
        raise SubstitutionFailure(f"package '{package}' has no executable '{executable}'; it has: {names}")
    return known[executable].command()


@expose_substitution("exec-in-pkg")
class ExecutableInPackage(Substitution):
    """The path of an executable file that a package has in `lib/<package>`."""

    def __init__(self, executable: SomeSubstitutionsType, package: SomeSubstitutionsType) -> None:
        self.__executable = normalize_to_list_of_substitutions(executable)
        self.__package = normalize_to_list_of_substitutions(package)

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(exec-in-pkg executable package)`."""
        executable, package = data
        return cls, {"executable": executable, "package": package}

    @property
    def executable(self) -> list[Substitution]:
        """The executable's name."""
        return self.__executable

    @property
    def package(self) -> list[Substitution]:
        """The package's name."""
        return self.__package

    def describe(self) -> str:
        """Return both names in words."""
        names = (" + ".join(sub.describe() for sub in part) for part in (self.__package, self.__executable))
        return f"ExecInPkg(pkg={', exec='.join(names)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the path; raise SubstitutionFailure if there is no such executable or it is an entry point,
        not a file."""
        package = perform_substitutions(context, self.__package)
        executable = perform_substitutions(context, self.__executable)
        words = executable_command(package, executable)
        if len(words) > 1:
            raise SubstitutionFailure(
                f"executable '{executable}' of package '{package}' "
                f"is an entry point ({' '.join(words)}), not a file; "
                f"start it with launch_ros.actions.Node(package='{package}', executable='{executable}')"
            )
        return words[0]
