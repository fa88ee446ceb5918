"""From elements to actions."""

from __future__ import annotations

import importlib.metadata as importlib_metadata
import os
import re
import warnings
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar

from ..launch_description import LaunchDescription
from ..substitution import Substitution
from ..utilities.typing_file_path import FilePath
from .entity import Entity
from .errors import InvalidFrontendLaunchFileError
from .expose import action_parse_methods
from .parse_substitution import parse_if_substitutions, parse_substitution

if TYPE_CHECKING:
    from ..action import Action

PARSERS_GROUP = "launch.frontend.parser"
EXTENSIONS_GROUP = "launch.frontend.launch_extension"
_BUNDLED_PARSERS = ("launch_xml", "launch_yaml")
_BUNDLED_EXTENSIONS = ("launch_ros",)


class Parser:
    """Turns the elements of a launch file into a description; formats derive from it."""

    extensions_loaded: ClassVar[bool] = False
    frontend_parsers: ClassVar[dict[str, type[Parser]] | None] = None
    """The parsers by the names of their entry points, once they are loaded."""

    @classmethod
    def load_launch_extensions(cls) -> None:
        """Import the modules that expose actions and substitutions; warn of those that cannot be imported."""
        if cls.extensions_loaded:
            return
        import_module("launch.actions")
        import_module("launch.substitutions")
        for module in _BUNDLED_EXTENSIONS:
            import_module(module)
        _load_entry_points(EXTENSIONS_GROUP, "launch extension")
        cls.extensions_loaded = True

    @classmethod
    def load_parser_implementations(cls) -> dict[str, type[Parser]]:
        """Import the parser of each format, the bundled ones first; warn of those that cannot be imported."""
        if cls.frontend_parsers is None:
            bundled = {name.removeprefix("launch_"): import_module(name).Parser for name in _BUNDLED_PARSERS}
            cls.frontend_parsers = {**bundled, **_load_entry_points(PARSERS_GROUP, "parser extension")}
        return cls.frontend_parsers

    @classmethod
    def load(cls, file: FilePath | IO[str]) -> tuple[Entity, Parser]:
        """Return the root element and a parser of its format.

        Args:
            file: path of the file, or an open text file; each format is tried where the name does not tell.

        Raises:
            InvalidFrontendLaunchFileError: no format reads the file.
        """
        path = os.fspath(file) if isinstance(file, (str, os.PathLike)) else None
        name = str(getattr(file, "name", "")) if path is None else path
        fitting = cls.get_parsers_from_filename(name) or cls.load_parser_implementations().values()
        problems = []
        for parser in fitting:
            try:
                if path is not None:
                    with open(path, encoding="utf-8") as opened:
                        return parser.load(opened)
                file.seek(0)  # type: ignore[union-attr]
                return parser.load(file)
            except InvalidFrontendLaunchFileError as error:
                problems.append(str(error))
        raise InvalidFrontendLaunchFileError(f"cannot read launch file '{name}': {'; '.join(problems)}")

    @classmethod
    def get_file_extensions(cls) -> set[str]:
        """Return the file name extensions of the format, without dot."""
        return set()

    @classmethod
    def get_file_extensions_from_parsers(cls) -> set[str]:
        """Return the extensions of all formats."""
        parsers = Parser.load_parser_implementations().values()
        return {suffix for parser in parsers for suffix in parser.get_file_extensions()}

    @classmethod
    def get_available_extensions(cls) -> list[str]:
        """Return the extensions of all formats as a list."""
        return sorted(cls.get_file_extensions_from_parsers())

    @classmethod
    def is_extension_valid(cls, extension: str) -> bool:
        """Return whether a parser reads files with an extension, without dot."""
        return extension in cls.get_file_extensions_from_parsers()

    @classmethod
    def get_parsers_from_filename(cls, filename: str) -> list[type[Parser]]:
        """Return the parsers of the format that a file name tells."""
        suffix = Path(filename).suffix[1:]
        parsers = Parser.load_parser_implementations().values()
        return [parser for parser in parsers if suffix in parser.get_file_extensions()]

    def parse_action(self, entity: Entity) -> Action:
        """Return the action an element stands for; raise RuntimeError for an unknown tag."""
        self.load_launch_extensions()
        name = entity.type_name
        if name not in action_parse_methods:
            raise RuntimeError(f"unknown tag '{name}'; known: {', '.join(sorted(action_parse_methods))}")
        action_type, keywords = action_parse_methods[name](entity, self)
        entity.assert_entity_completely_parsed()
        action: Action = action_type(**keywords)
        return action

    def parse_substitution(self, value: str) -> list[Substitution]:
        """Return text with `$(name ...)` in it as substitutions."""
        self.load_launch_extensions()
        return parse_substitution(value)

    def parse_if_substitutions(self, value: Any) -> Any:
        """Return text as substitutions, or as it is when it holds none; see `parse_substitution`."""
        self.load_launch_extensions()
        return parse_if_substitutions(value)

    def escape_characters(self, value: str) -> str:
        """Return text that holds no substitutions without its backslashes."""
        return re.sub(r"\\(.)", r"\1", value)

    def parse_description(self, entity: Entity) -> LaunchDescription:
        """Return the description of a root element."""
        if entity.type_name != "launch":
            raise RuntimeError(f"the root element must be 'launch', not '{entity.type_name}'")
        entity.get_attr("version", optional=True)  # of the grammar; there is only one
        reason = entity.get_attr("deprecated", optional=True)
        description = LaunchDescription(
            [self.parse_action(child) for child in entity.children], deprecated_reason=reason
        )
        entity.assert_entity_completely_parsed()
        return description


def _load_entry_points(group: str, what: str) -> dict[str, Any]:
    """Return what the entry points of a group stand for, by name; warn of those that cannot be loaded."""
    installed: Any = importlib_metadata.entry_points()
    # Python 3.10 and 3.11 may hand out a mapping of groups.
    points = installed.select(group=group) if hasattr(installed, "select") else installed.get(group, ())
    loaded = {}
    for point in points:
        try:
            loaded[point.name] = point.load()
        # Packages of other people: whatever one of them raises, the others can still be used.
        except Exception as error:  # noqa: BLE001
            warnings.warn(f"Failed to load the {what} '{point.name}': {error}", stacklevel=3)
    return loaded


def description_from_markup(path: str, parser_type: type[Parser] = Parser) -> LaunchDescription:
    """Return the description in a launch file, by default of the format that its name tells.

    Raises:
        InvalidFrontendLaunchFileError: the file holds none; the text names the file.
    """
    root, parser = parser_type.load(path)
    try:
        return parser.parse_description(root)
    except (AttributeError, RuntimeError, TypeError, ValueError) as error:
        raise InvalidFrontendLaunchFileError(f"launch file '{path}': {error}") from error
