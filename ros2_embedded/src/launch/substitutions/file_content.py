"""The content of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..frontend.expose import expose_substitution
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..substitution_failure import SubstitutionFailure
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


@expose_substitution("file-content")
class FileContent(Substitution):
    """The text of a UTF-8 file, such as a robot description."""

    def __init__(self, path: SomeSubstitutionsType) -> None:
        self.__path = normalize_to_list_of_substitutions(path)

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(file-content path)`."""
        (path,) = data
        return cls, {"path": path}

    @property
    def path(self) -> list[Substitution]:
        """The path of the file."""
        return self.__path

    def describe(self) -> str:
        """Return the path."""
        return f"FileContent({' + '.join(sub.describe() for sub in self.__path)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the text; raise SubstitutionFailure when the file cannot be read."""
        path = perform_substitutions(context, self.__path)
        try:
            return Path(path).read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise SubstitutionFailure(f"File not found: {path}") from error
        except (OSError, UnicodeDecodeError) as error:
            raise SubstitutionFailure(f"cannot read '{path}': {error}") from error
